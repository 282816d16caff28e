import { area, selected, viewport } from "../state/view";
import { scrollBy } from "../tracks/scroll";
import { lastFrame } from "./frame";
import { hitAt, timeOf } from "./hits";
import { chooseHit, step, toChild, toParent, unchoose } from "./choose";
import { panBy, zoomAt } from "./motion";
import type { FrameRow } from "./renderer";

const PAN = 0.12;

/** Keys of the canvas when it has the focus: what the pointer does can be done without it. */
export function canvasKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const action = actions[event.shiftKey ? `Shift+${event.key}` : event.key];
  if (!action) return;
  event.preventDefault();
  event.stopPropagation();
  action();
}

function width(): number {
  return viewport.value.to - viewport.value.from;
}

function middle(): number {
  return (viewport.value.from + viewport.value.to) / 2;
}

/** Moves or makes a selected range of time. */
function stretch(by: number): void {
  unchoose();
  const chosen = area.value ?? { from: middle(), to: middle(), tracks: null };
  const to = chosen.to + by * width();
  area.value = to > chosen.from ? { ...chosen, to } : { ...chosen, from: to, to: chosen.from };
}

/** Selects the first slice that is found from the middle of the screen, row by row; without any, a counter's value. */
function chooseFirst(): void {
  if (selected.value) return toChild();
  const rows = (lastFrame?.bands ?? []).flatMap((band) => band.rows).filter((row) => !row.group);
  const isCounter = (row: FrameRow) => row.drawn?.kind === "counter";
  for (const row of [...rows.filter((each) => !isCounter(each)), ...rows.filter(isCounter)]) {
    for (const share of [0.5, 0.35, 0.65, 0.2, 0.8, 0.05, 0.95]) {
      const x = (lastFrame?.width ?? 0) * share;
      const hit = hitAt(x, row.top + 6);
      if (hit) return chooseHit(hit, timeOf(x));
    }
  }
}

const actions: Readonly<Record<string, () => void>> = {
  ArrowLeft: () => (selected.value ? void step("previous") : panBy(-PAN * width())),
  ArrowRight: () => (selected.value ? void step("next") : panBy(PAN * width())),
  ArrowUp: () => (selected.value ? toParent() : scrollBy(-40)),
  ArrowDown: () => (selected.value ? toChild() : scrollBy(40)),
  PageUp: () => scrollBy(-(lastFrame?.height ?? 400) * 0.8),
  PageDown: () => scrollBy((lastFrame?.height ?? 400) * 0.8),
  Home: () => scrollBy(-Infinity),
  End: () => scrollBy(1e9),
  "+": () => zoomAt(middle(), 0.7),
  "=": () => zoomAt(middle(), 0.7),
  "-": () => zoomAt(middle(), 1 / 0.7),
  Enter: chooseFirst,
  " ": chooseFirst,
  "Shift+ArrowRight": () => stretch(0.05),
  "Shift+ArrowLeft": () => stretch(-0.05),
};
