import { signal } from "@preact/signals";
import type { TrackId } from "../api/types";
import { closedByHand } from "../state/address";
import { setCollapsed, togglePin } from "../state/tracks";
import { layout, moveBy, setHeight, type LayoutRow } from "./layout";
import { scrolledHeight, scrollToTrack } from "./scroll";

/** The track that keys of the tree are about. */
export const active = signal<TrackId | null>(null);

export function activate(row: LayoutRow | undefined): void {
  if (!row) return;
  active.value = row.track.id;
  scrollToTrack(row.track.id);
}

/** Keys of a tree, as everywhere; P pins, Alt with arrows moves, + and - change the height. */
export function treeKey(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey) return;
  const { rows, places } = layout.value;
  const at = active.value === null ? -1 : (places.get(active.value) ?? -1);
  const row = rows[at];
  const done = event.altKey ? altKey(event.key, row) : plainKey(event.key, row, at);
  if (!done) return;
  event.preventDefault();
  event.stopPropagation();
}

function altKey(key: string, row: LayoutRow | undefined): boolean {
  if (!row || (key !== "ArrowUp" && key !== "ArrowDown")) return false;
  moveBy(row.track.id, key === "ArrowUp" ? -1 : 1);
  scrollToTrack(row.track.id);
  return true;
}

function plainKey(key: string, row: LayoutRow | undefined, at: number): boolean {
  const { rows } = layout.value;
  const page = Math.max(Math.floor(scrolledHeight.value / 26), 1);
  const moves: Readonly<Record<string, number>> = {
    ArrowDown: at + 1, ArrowUp: Math.max(at - 1, 0), Home: 0, End: rows.length - 1,
    PageDown: Math.min(at + page, rows.length - 1), PageUp: Math.max(at - page, 0),
  };
  const goal = moves[key];
  if (goal !== undefined) {
    activate(rows[Math.min(goal, rows.length - 1)]);
    return true;
  }
  return row ? rowKey(key, row, at) : false;
}

function rowKey(key: string, row: LayoutRow, at: number): boolean {
  const { rows, places } = layout.value;
  if (key === "ArrowRight" && row.open === false) setOpen(row, true);
  else if (key === "ArrowRight" && row.open) activate(rows[at + 1]);
  else if (key === "ArrowLeft" && row.open) setOpen(row, false);
  else if (key === "ArrowLeft") activate(rows[places.get(row.track.parent ?? "") ?? -1]);
  else if ((key === "Enter" || key === " ") && row.open !== null) setOpen(row, !row.open);
  else if (key.toLowerCase() === "p") togglePin(row.track.id);
  else if (key === "+" || key === "=") setHeight(row.track.id, row.height + 12);
  else if (key === "-") setHeight(row.track.id, row.height - 12);
  else if (key === "0") setHeight(row.track.id, null);
  else return false;
  return true;
}

function setOpen(row: LayoutRow, open: boolean): void {
  closedByHand.value = true;
  setCollapsed(row.track.id, !open);
}
