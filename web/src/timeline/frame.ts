import { computed } from "@preact/signals";
import type { TrackId } from "../api/types";
import { begin, length, noteError } from "../state/session";
import { byId, generation, offsetOf } from "../state/tracks";
import { isDark } from "../state/theme";
import { viewport } from "../state/view";
import { ticks } from "../text/times";
import { palette } from "../theme/colours";
import { layout, pinnedLayout, rowsWithin, type LayoutRow } from "../tracks/layout";
import { canvasHeight, canvasWidth, pinnedHeight, scrolledHeight, shownTop } from "../tracks/scroll";
import { TileCache } from "./cache";
import { exponentOf } from "./grid";
import { Loader, type Shifted } from "./loader";
import { piecesOf } from "./pieces";
import type { Band, Frame, FrameRow } from "./renderer";

const CACHE_BYTES = 192 * 2 ** 20;

export const cache = new TileCache(CACHE_BYTES);
const listeners = new Set<() => void>();
export const loader = new Loader(cache, () => listeners.forEach((listen) => listen()), noteError);

/** Calls back whenever cells have come. */
export function onCells(listen: () => void): void {
  listeners.add(listen);
}

/** Room that ruler labels need, in CSS pixels. */
export const TICK_ROOM = 96;
export const rulerTicks = computed(() => {
  const { from, to } = viewport.value;
  return ticks(Math.max(from, -length.value), to, canvasWidth.value * tickShare(from, to), TICK_ROOM);
});

function tickShare(from: number, to: number): number {
  return (to - Math.max(from, -length.value)) / (to - from);
}

/** What was drawn last: hits of the pointer are looked for in it. */
export let lastFrame: Frame | null = null;

/** Puts a frame together from what is held, and asks for what is missing. */
export function makeFrame(): Frame {
  const { from, to } = viewport.value;
  const width = canvasWidth.value;
  const exponent = exponentOf(to - from, width);
  cache.tick();
  const upper = pinnedHeight.value;
  const pinned = rowsWithin(pinnedLayout.value.rows, 0, upper);
  const top = shownTop.value;
  const room = scrolledHeight.value;
  const rows = rowsWithin(layout.value.rows, top, top + room);
  const make = (row: LayoutRow, y: number) => frameRow(row, y, exponent, from, to);
  const bands: Band[] = [{ top: upper, height: room, rows: rows.map((row) => make(row, upper + row.top - top)) }];
  if (upper) bands.push({ top: 0, height: upper, rows: pinned.map((row) => make(row, row.top)) });
  loader.update({
    exponent, from, to, origin: begin.value, length: length.value, generation: generation.value,
    tracks: shifted([...rows, ...pinned]),
    near: shifted([
      ...rowsWithin(layout.value.rows, top + room, top + room * 1.7),
      ...rowsWithin(layout.value.rows, Math.max(top - room * 0.7, 0), Math.max(top, 0)),
    ]),
  });
  lastFrame = {
    width, height: canvasHeight.value, ratio: devicePixelRatio || 1, from, to, bands, labels: true,
    gridTimes: rulerTicks.value.ticks.map((tick) => tick.time), palette: palette(isDark.value),
  };
  return lastFrame;
}

/** The track whose cells a row draws: a closed group shows one that is in it. */
function drawnId(row: LayoutRow): TrackId | null {
  return row.track.kind === "group" ? row.preview : row.track.id;
}

function shifted(rows: readonly LayoutRow[]): Shifted[] {
  const found = new Map<TrackId, Shifted>();
  for (const row of rows) {
    const id = drawnId(row);
    const track = id === null ? undefined : byId.value.get(id);
    if (track) found.set(track.id, { track, offset: offsetOf(track.id) });
  }
  return [...found.values()];
}

function frameRow(row: LayoutRow, top: number, exponent: number, from: number, to: number): FrameRow {
  const id = drawnId(row);
  const drawn = id === null ? null : (byId.value.get(id) ?? null);
  const group = row.track.kind === "group";
  const empty = { track: row.track, top, height: row.height, group, drawn, range: undefined };
  if (!drawn || !drawn.rows) return { ...empty, pieces: [], whole: true };
  const offset = offsetOf(drawn.id);
  const { pieces, whole } = piecesOf(cache, {
    track: drawn.id, exponent, generation: generation.value, origin: begin.value, offset,
    from: Math.max(from - offset, 0), to: Math.min(to - offset, length.value + 1),
  });
  return { ...empty, pieces, whole, range: cache.range(drawn.id) };
}
