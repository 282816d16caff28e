import { signal } from "@preact/signals";
import type { TrackId } from "../api/types";
import { layout, moveBeside, rowAt, setHeight, type LayoutRow } from "./layout";
import { pinnedHeight, shownTop } from "./scroll";

/** Where a row that is dragged would go. */
export const drop = signal<{ readonly id: TrackId; readonly after: boolean } | null>(null);

/** Drags a row among its siblings; less than some pixels is a click. */
export function dragRow(event: PointerEvent, row: LayoutRow): void {
  if (event.button !== 0 || (event.target as HTMLElement).closest("button, .edge")) return;
  const element = event.currentTarget as HTMLElement;
  const tree = element.closest(".tree");
  const start = event.clientY;
  const gone = new AbortController();
  const { signal } = gone;
  let moved = false;
  addEventListener("pointermove", (move) => {
    if (!moved && Math.abs(move.clientY - start) < 6) return;
    moved = true;
    tree?.classList.add("dragging");
    const y = move.clientY - (tree?.getBoundingClientRect().top ?? 0) - pinnedHeight.value + shownTop.value;
    drop.value = siblingAt(row, y);
  }, { signal });
  const end = (commit: boolean) => {
    gone.abort();
    tree?.classList.remove("dragging");
    const goal = drop.value;
    drop.value = null;
    if (!moved) return;
    // What follows is the click of the same press; it is no click on the row.
    const swallow = (click: Event) => click.stopPropagation();
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 0);
    if (commit && goal) moveBeside(row.track.id, goal.id, goal.after);
  };
  addEventListener("pointerup", () => end(true), { signal });
  addEventListener("pointercancel", () => end(false), { signal });
}

/** The sibling beside which a row would be put at a height. */
function siblingAt(row: LayoutRow, y: number): { id: TrackId; after: boolean } | null {
  const { rows } = layout.value;
  for (let at = Math.min(rowAt(rows, y), rows.length - 1); at >= 0; at--) {
    const other = rows[at]!;
    if (other.level < row.level) return null;
    if (other.level > row.level || other.track.parent !== row.track.parent) continue;
    if (other.track.id === row.track.id) return null;
    return { id: other.track.id, after: y > other.top + other.height / 2 };
  }
  return null;
}

/** Makes a track higher or lower by its lower edge. */
export function dragHeight(event: PointerEvent, row: LayoutRow): void {
  event.stopPropagation();
  event.preventDefault();
  const start = event.clientY;
  const gone = new AbortController();
  const { signal } = gone;
  addEventListener("pointermove", (move) => setHeight(row.track.id, row.height + move.clientY - start), { signal });
  addEventListener("pointerup", () => gone.abort(), { signal });
}
