import type { Cells, Track, TrackId } from "../api/types";
import { byId } from "../state/tracks";
import { viewport } from "../state/view";
import { laneHeight, LANE_TOP, layout, pinnedLayout } from "../tracks/layout";
import { canvasWidth, pinnedHeight, shownTop } from "../tracks/scroll";
import { lastFrame } from "./frame";
import type { FrameRow } from "./renderer";

/** A cell that was found at a place of the canvas; times are as they are shown. */
export interface Hit {
  readonly track: Track;
  readonly cells: Cells;
  readonly at: number;
  readonly from: number;
  readonly duration: number;
  readonly lane: number;
  readonly row: number;
  readonly name: string | null;
  readonly count: number;
}

export function xOf(time: number): number {
  const { from, to } = viewport.value;
  return ((time - from) / (to - from)) * canvasWidth.value;
}

export function timeOf(x: number): number {
  const { from, to } = viewport.value;
  return from + (x / canvasWidth.value) * (to - from);
}

/** The track that is drawn at a height of the canvas. */
export function rowAtY(y: number): FrameRow | null {
  for (const band of lastFrame?.bands ?? []) {
    if (y < band.top || y >= band.top + band.height) continue;
    return band.rows.find((row) => y >= row.top && y < row.top + row.height) ?? null;
  }
  return null;
}

const NEAR = 4;

/** The cell at a place: the one under the pointer, or the nearest within some pixels. */
export function hitAt(x: number, y: number): Hit | null {
  const row = rowAtY(y);
  const track = row?.drawn;
  if (!row || !track) return null;
  const lane = row.group ? 0 : Math.floor((y - row.top - LANE_TOP) / laneHeight(track, row.height));
  const instants = track.kind === "instants";
  let best: Hit | null = null;
  let bestAway = Infinity;
  for (const piece of row.pieces) {
    const { cells } = piece.block.batch;
    for (let at = piece.block.begin; at < piece.block.end; at++) {
      if (track.kind === "slices" && cells.lane[at] !== lane) continue;
      const from = cells.from[at]! + piece.shift;
      if (from < piece.skipBefore) continue;
      const x0 = xOf(from);
      const x1 = instants ? x0 : Math.max(xOf(from + cells.duration[at]!), x0 + 1);
      const away = x < x0 ? x0 - x : x > x1 ? x - x1 : 0;
      if (away > (instants ? 6 : NEAR) || away > bestAway) continue;
      if (away === bestAway && !instants) continue;
      bestAway = away;
      best = hitOf(track, cells, at, from);
    }
  }
  return best;
}

function hitOf(track: Track, cells: Cells, at: number, from: number): Hit {
  const name = cells.name[at]!;
  return {
    track, cells, at, from, duration: cells.duration[at]!, lane: cells.lane[at]!, row: cells.row[at]!,
    name: name < 0 ? null : cells.names[name]!, count: cells.count[at]!,
  };
}

/** Where a lane of a track is on the canvas; null if its track is not in the tree that is open. */
export function placeOf(id: TrackId, lane: number): { top: number; height: number; shown: boolean } | null {
  const track = byId.value.get(id);
  if (!track) return null;
  const upper = pinnedHeight.value;
  const pin = pinnedLayout.value.places.get(id);
  const pinned = pin === undefined ? undefined : pinnedLayout.value.rows[pin];
  const place = layout.value.places.get(id);
  const row = pinned ?? (place === undefined ? undefined : layout.value.rows[place]);
  if (!row) return null;
  const rowTop = pinned ? row.top : upper + row.top - shownTop.value;
  const high = track.kind === "slices" ? laneHeight(track, row.height) : row.height - 2 * LANE_TOP;
  const top = rowTop + LANE_TOP + (track.kind === "slices" ? lane * high : 0);
  return { top, height: high, shown: pinned ? top < upper : top + high > upper };
}

/** Where to draw the nearest open group of a track that is not shown itself. */
export function nearestPlace(id: TrackId, lane: number): { top: number; height: number; shown: boolean } | null {
  const own = placeOf(id, lane);
  if (own) return own;
  const parent = byId.value.get(id)?.parent;
  return parent ? nearestPlace(parent, 0) : null;
}
