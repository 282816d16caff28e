import { area, known, marks, selected, viewport } from "../state/view";
import { matches, pointer } from "../state/found";
import { openPanel, showPanel } from "../state/panels";
import { busy, interrupt } from "../state/session";
import { toggleTheme } from "../state/theme";
import { offsets, pins, togglePin } from "../state/tracks";
import { pushView } from "../state/address";
import { followBack, step, toChild, toParent, unchoose } from "../timeline/choose";
import { timeOf } from "../timeline/hits";
import { fit, jumpTo, panBy, selectedRange, zoomAt } from "../timeline/motion";
import { focusSearch } from "../search/bar";
import { toMatch } from "../search/search";
import { active } from "../tracks/keys";
import { moveBy, setHeight, heightOf } from "../tracks/layout";
import { openOffsets, resetOffsets } from "../tracks/offsets";
import { collapseAll } from "../tracks/tree";
import { byId } from "../state/tracks";
import { everything } from "../state/view";
import { addCommands, type Command } from "./commands";
import { openHelp } from "./help";
import { openPalette } from "./palette";

const width = () => viewport.value.to - viewport.value.from;
const middle = () => (viewport.value.from + viewport.value.to) / 2;
const chosenSlice = () => known.value !== null;
const chosenTrack = () => active.value ?? selected.value?.track ?? null;

function mark(): void {
  const at = pointer.value ? timeOf(pointer.value.x) : (selectedRange()?.from ?? middle());
  pushView();
  marks.value = [...marks.value, { at: Math.round(at), name: `mark ${marks.value.length + 1}` }].sort((a, b) => a.at - b.at);
}

/** Esc closes what was opened last: the selection, then the lower part. */
function leave(): void {
  if (selected.value || area.value) {
    unchoose();
    area.value = null;
  } else openPanel.value = null;
}

function toMark(by: 1 | -1): void {
  const sorted = by > 0 ? marks.value : [...marks.value].reverse();
  const next = sorted.find(({ at }) => (by > 0 ? at > middle() + width() * 1e-6 : at < middle() - width() * 1e-6));
  if (next) jumpTo({ from: next.at - width() / 2, to: next.at + width() / 2 });
}

function onTrack(work: (id: string) => void): () => void {
  return () => {
    const id = chosenTrack();
    if (id !== null) work(id);
  };
}

const hasTrack = () => chosenTrack() !== null;

const OWN: readonly Command[] = [
  { id: "zoom-in", title: "Zoom in", group: "Move", shownKeys: ["W"], run: () => zoomAt(middle(), 0.5) },
  { id: "zoom-out", title: "Zoom out", group: "Move", shownKeys: ["S"], run: () => zoomAt(middle(), 2) },
  { id: "left", title: "Move left", group: "Move", shownKeys: ["A"], run: () => panBy(-width() * 0.3) },
  { id: "right", title: "Move right", group: "Move", shownKeys: ["D"], run: () => panBy(width() * 0.3) },
  { id: "fit", title: "Fit the selection, or everything", group: "Move", keys: ["F"], run: fit },
  { id: "everything", title: "Show the whole session", group: "Move", keys: ["Shift+F"], run: () => jumpTo(everything()) },
  { id: "next-mark", title: "Go to the next mark", group: "Move", keys: ["Shift+M"], run: () => toMark(1), enabled: () => marks.value.length > 0 },
  { id: "previous-mark", title: "Go to the previous mark", group: "Move", run: () => toMark(-1), enabled: () => marks.value.length > 0 },
  { id: "back", title: "Back to where it was before the jump", group: "Move", shownKeys: ["Alt+ArrowLeft"], run: () => history.back() },
  { id: "search", title: "Search slices", group: "Select", keys: ["/"], run: focusSearch },
  { id: "next-match", title: "Next match", group: "Select", keys: ["N"], run: () => toMatch(1), enabled: () => matches.value.length > 0 },
  { id: "previous-match", title: "Previous match", group: "Select", keys: ["Shift+N"], run: () => toMatch(-1), enabled: () => matches.value.length > 0 },
  { id: "next-slice", title: "Next slice on the track", group: "Select", keys: ["."], run: () => void step("next"), enabled: chosenSlice },
  { id: "previous-slice", title: "Previous slice on the track", group: "Select", keys: [","], run: () => void step("previous"), enabled: chosenSlice },
  { id: "parent", title: "Parent slice", group: "Select", keys: ["["], run: toParent, enabled: chosenSlice },
  { id: "child", title: "Child slice", group: "Select", keys: ["]"], run: toChild, enabled: chosenSlice },
  { id: "critical", title: "Critical path of the selected slice", group: "Select", keys: ["C"], run: () => void followBack(), enabled: chosenSlice },
  { id: "area-of-slice", title: "Select the time of the slice", group: "Select", keys: ["R"], run: areaOfSlice, enabled: chosenSlice },
  { id: "area-of-view", title: "Select all the time that is seen", group: "Select", keys: ["Shift+R"], run: areaOfView },
  { id: "mark", title: "Set a mark at the pointer", group: "Select", keys: ["M"], run: mark },
  { id: "marks", title: "List of marks", group: "Select", run: () => showPanel("marks") },
  { id: "leave", title: "Select nothing", group: "Select", keys: ["Escape"], run: leave },
  { id: "go-to-track", title: "Go to track…", group: "Tracks", keys: ["Ctrl+P"], run: () => openPalette("tracks") },
  { id: "pin", title: "Pin or unpin the track", group: "Tracks", keys: ["P"], run: onTrack(togglePin), enabled: hasTrack },
  { id: "unpin-all", title: "Unpin all tracks", group: "Tracks", run: () => (pins.value = []), enabled: () => pins.value.length > 0 },
  { id: "close-groups", title: "Close all groups", group: "Tracks", run: () => collapseAll(true) },
  { id: "open-groups", title: "Open all groups", group: "Tracks", run: () => collapseAll(false) },
  { id: "higher", title: "Make the track higher", group: "Tracks", shownKeys: ["+"], run: onTrack((id) => grow(id, 16)), enabled: hasTrack },
  { id: "lower", title: "Make the track lower", group: "Tracks", shownKeys: ["-"], run: onTrack((id) => grow(id, -16)), enabled: hasTrack },
  { id: "usual-height", title: "Give the track its usual height", group: "Tracks", shownKeys: ["0"], run: onTrack((id) => setHeight(id, null)), enabled: hasTrack },
  { id: "move-up", title: "Move the track up", group: "Tracks", shownKeys: ["Alt+ArrowUp"], run: onTrack((id) => moveBy(id, -1)), enabled: hasTrack },
  { id: "move-down", title: "Move the track down", group: "Tracks", shownKeys: ["Alt+ArrowDown"], run: onTrack((id) => moveBy(id, 1)), enabled: hasTrack },
  { id: "align", title: "Align traces in time…", group: "Tracks", run: openOffsets },
  { id: "reset-offsets", title: "Reset the alignment of traces", group: "Tracks", run: resetOffsets, enabled: () => offsets.value.size > 0 },
  { id: "palette", title: "All commands", group: "View", keys: ["Ctrl+K", "Ctrl+Shift+P"], run: () => openPalette("commands") },
  { id: "help", title: "Keys", group: "View", keys: ["?"], run: openHelp },
  { id: "theme", title: "Light or dark page", group: "View", run: toggleTheme },
  { id: "panel", title: "Open or close the lower part", group: "View", keys: ["Q"], run: () => (openPanel.value = openPanel.value ? null : "details") },
  { id: "stop", title: "Stop what runs", group: "View", run: interrupt, enabled: () => busy.value !== null },
];

function grow(id: string, by: number): void {
  const track = byId.value.get(id);
  if (track) setHeight(id, heightOf(track) + by);
}

function areaOfSlice(): void {
  const range = selectedRange();
  const chosen = selected.value;
  if (!range || !chosen) return;
  area.value = { ...range, tracks: [chosen.track] };
  showPanel("selection");
}

function areaOfView(): void {
  area.value = { ...viewport.value, tracks: null };
  showPanel("selection");
}

export function addOwnCommands(): void {
  addCommands(...OWN);
}
