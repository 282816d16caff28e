import { computed, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Track } from "../api/types";
import { byId, tracks } from "../state/tracks";
import { active } from "../tracks/keys";
import { scrollToTrack } from "../tracks/scroll";
import { commands } from "./commands";
import { Dialog } from "./dialog";
import { shownKeys } from "./help";

type Mode = "commands" | "tracks";
const mode = signal<Mode | null>(null);
const text = signal("");
const at = signal(0);
const MOST = 200;

export function openPalette(wanted: Mode): void {
  text.value = "";
  at.value = 0;
  mode.value = wanted;
}

interface Entry {
  readonly id: string;
  readonly title: string;
  readonly about: string;
  readonly keys: readonly string[];
  readonly run: () => void;
}

function pathOf(track: Track): string {
  const names: string[] = [];
  for (let up = byId.value.get(track.parent ?? ""); up; up = byId.value.get(up.parent ?? "")) names.unshift(up.name);
  return names.join(" › ");
}

/** Lower is better; null: does not fit. All words must be in it; a begin of a word counts more. */
function rank(title: string, about: string, words: readonly string[]): number | null {
  const low = title.toLowerCase();
  const whole = `${about.toLowerCase()} ${low}`;
  let sum = 0;
  for (const word of words) {
    if (!whole.includes(word)) return null;
    const place = low.indexOf(word);
    sum += place < 0 ? 60 : place === 0 ? 0 : /\W/.test(low[place - 1] ?? " ") ? 5 : 20;
  }
  return sum + title.length / 100;
}

const entries = computed<readonly Entry[]>(() => {
  const words = text.value.toLowerCase().split(/\s+/).filter(Boolean);
  const all: Iterable<Entry> = mode.value === "tracks" ? trackEntries() : commandEntries();
  const found: { entry: Entry; rank: number }[] = [];
  for (const entry of all) {
    const value = rank(entry.title, entry.about, words);
    if (value !== null) found.push({ entry, rank: value });
  }
  if (words.length) found.sort((a, b) => a.rank - b.rank);
  return found.slice(0, MOST).map(({ entry }) => entry);
});

function* commandEntries(): Iterable<Entry> {
  for (const command of commands.value) {
    if (!(command.enabled?.() ?? true)) continue;
    yield { id: command.id, title: command.title, about: command.group, keys: shownKeys(command), run: command.run };
  }
}

function* trackEntries(): Iterable<Entry> {
  for (const track of tracks.value) {
    const run = () => {
      scrollToTrack(track.id);
      active.value = track.id;
    };
    yield { id: track.id, title: track.name, about: pathOf(track), keys: [], run };
  }
}

/** Every command by name, or every track. */
export function CommandPalette() {
  return mode.value ? <Palette key={mode.value} /> : null;
}

function close(): void {
  mode.value = null;
}

function take(entry: Entry | undefined): void {
  close();
  // The dialog gives the focus back first, so that the command may move it.
  if (entry) setTimeout(entry.run, 0);
}

function Palette() {
  const list = useRef<HTMLUListElement>(null);
  const shown = entries.value;
  const chosen = Math.min(at.value, shown.length - 1);
  useEffect(() => list.current?.children[chosen]?.scrollIntoView({ block: "nearest" }));
  const title = mode.value === "tracks" ? "Go to track" : "Commands";
  const key = (event: KeyboardEvent) => {
    const moves: Readonly<Record<string, number>> = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 };
    const by = moves[event.key];
    if (by !== undefined) at.value = Math.min(Math.max(chosen + by, 0), shown.length - 1);
    else if (event.key === "Enter") take(shown[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={title} close={close} plain>
      <input
        type="text"
        class="palette-field"
        role="combobox"
        aria-label={title}
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={shown.length ? `entry-${chosen}` : undefined}
        placeholder={mode.value === "tracks" ? "Go to track…" : "Type a command…"}
        spellcheck={false}
        autofocus
        onInput={(event) => {
          text.value = event.currentTarget.value;
          at.value = 0;
        }}
        onKeyDown={key}
      />
      <ul class="palette-list" id="palette-list" role="listbox" aria-label={title} ref={list}>
        {shown.map((entry, place) => (
          <li
            key={entry.id}
            id={`entry-${place}`}
            role="option"
            aria-selected={place === chosen}
            onPointerMove={() => (at.value = place)}
            onClick={() => take(entry)}
          >
            <span class="title">{entry.title}</span>
            <span class="about">{entry.about}</span>
            {entry.keys.map((each) => <kbd key={each}>{each}</kbd>)}
          </li>
        ))}
      </ul>
      {!shown.length && <p class="none">Nothing fits “{text}”</p>}
    </Dialog>
  );
}
