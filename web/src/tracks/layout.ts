import { computed } from "@preact/signals";
import type { Track, TrackId } from "../api/types";
import { byId, childrenOf, collapsed, filter, heights, order, pins, tracks } from "../state/tracks";

/** Where a track stands in the tree and on the canvas. */
export interface LayoutRow {
  readonly track: Track;
  /** From the top of its part: of what is pinned, or of what scrolls. */
  readonly top: number;
  readonly height: number;
  readonly level: number;
  /** Whether its children are shown; null if it has none. */
  readonly open: boolean | null;
  /** Its place among its siblings, from 1, and how many they are. */
  readonly place: number;
  readonly size: number;
  readonly pinned: boolean;
  /** What a closed group shows of what is in it. */
  readonly preview: TrackId | null;
}

export interface Layout {
  readonly rows: readonly LayoutRow[];
  readonly height: number;
  readonly places: ReadonlyMap<TrackId, number>;
}

const LANE = 18;
const PADDING = 6;
const GROUP = 24;
const MOST_LANES = 24;
const LEAST = 20;

/** How high a track is unless someone made it higher or lower. */
export function usualHeight(track: Track): number {
  if (track.kind === "slices") return Math.max(Math.min(track.lanes, MOST_LANES) * LANE + PADDING, GROUP);
  if (track.kind === "counter") return 44;
  return GROUP;
}

export function heightOf(track: Track): number {
  return Math.max(heights.value.get(track.id) ?? usualHeight(track), LEAST);
}

/** How high each lane of a track is. */
export function laneHeight(track: Track, height: number): number {
  return (height - PADDING) / Math.max(track.lanes, 1);
}

export const LANE_TOP = PADDING / 2;

export function setHeight(id: TrackId, height: number | null): void {
  const changed = new Map(heights.value);
  if (height === null) changed.delete(id);
  else changed.set(id, Math.min(Math.max(Math.round(height), LEAST), 2000));
  heights.value = changed;
}

/** Siblings in the order that someone gave them, new ones after them. */
export function siblingsOf(parent: TrackId | null): readonly Track[] {
  const all = childrenOf.value.get(parent) ?? [];
  const wanted = order.value.get(parent ?? "");
  if (!wanted) return all;
  const places = new Map(wanted.map((id, place) => [id, place]));
  return [...all].sort((a, b) => (places.get(a.id) ?? Infinity) - (places.get(b.id) ?? Infinity) || 0);
}

/** Puts a track before or after one of its siblings. */
export function moveBeside(id: TrackId, other: TrackId, after: boolean): void {
  const track = byId.value.get(id);
  if (!track || id === other || byId.value.get(other)?.parent !== track.parent) return;
  const ids = siblingsOf(track.parent).map((each) => each.id).filter((each) => each !== id);
  ids.splice(ids.indexOf(other) + (after ? 1 : 0), 0, id);
  order.value = new Map(order.value).set(track.parent ?? "", ids);
}

export function moveBy(id: TrackId, by: -1 | 1): void {
  const siblings = siblingsOf(byId.value.get(id)?.parent ?? null);
  const other = siblings[siblings.findIndex((each) => each.id === id) + by];
  if (other) moveBeside(id, other.id, by > 0);
}

/** Tracks that the filter leaves: those whose names fit, what is in them and what they are in; null for all. */
const kept = computed<ReadonlySet<TrackId> | null>(() => {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return null;
  const paths = new Map<TrackId, string>();
  const found = new Set<TrackId>();
  for (const track of tracks.value) {
    const path = `${track.parent === null ? "" : (paths.get(track.parent) ?? "")}\n${track.name.toLowerCase()}`;
    paths.set(track.id, path);
    if (!words.every((word) => path.includes(word))) continue;
    for (let at: Track | undefined = track; at && !found.has(at.id); at = byId.value.get(at.parent ?? "")) found.add(at.id);
  }
  return found;
});

function firstIn(group: Track): TrackId | null {
  for (const child of childrenOf.value.get(group.id) ?? []) {
    if (child.kind !== "group") return child.id;
    const found = firstIn(child);
    if (found !== null) return found;
  }
  return null;
}

/** Whether all of a track that was made of a query is pinned: it is no part of the tree, where it would stand again. */
function onlyPinned(track: Track, pinned: ReadonlySet<TrackId>): boolean {
  if (track.mount !== null) return false;
  const inner = childrenOf.value.get(track.id);
  return pinned.has(track.id) || (!!inner?.length && inner.every((child) => onlyPinned(child, pinned)));
}

export const layout = computed<Layout>(() => {
  const rows: LayoutRow[] = [];
  const places = new Map<TrackId, number>();
  const keep = kept.value;
  const closed = collapsed.value;
  const pinned = new Set(pins.value);
  let top = 0;
  const add = (parent: TrackId | null, level: number): void => {
    const siblings = siblingsOf(parent).filter((track) => (!keep || keep.has(track.id)) && !onlyPinned(track, pinned));
    siblings.forEach((track, place) => {
      const inner = childrenOf.value.has(track.id);
      const open = inner ? keep !== null || !closed.has(track.id) : null;
      const height = heightOf(track);
      const preview = track.kind === "group" && open === false ? firstIn(track) : null;
      places.set(track.id, rows.length);
      rows.push({ track, top, height, level, open, place: place + 1, size: siblings.length, pinned: false, preview });
      top += height;
      if (open) add(track.id, level + 1);
    });
  };
  add(null, 0);
  return { rows, height: top, places };
});

export const pinnedLayout = computed<Layout>(() => {
  const rows: LayoutRow[] = [];
  const places = new Map<TrackId, number>();
  let top = 0;
  const found = pins.value.map((id) => byId.value.get(id)).filter((track) => track !== undefined);
  found.forEach((track, place) => {
    const height = heightOf(track);
    const preview = track.kind === "group" ? firstIn(track) : null;
    places.set(track.id, place);
    rows.push({ track, top, height, level: 0, open: null, place: place + 1, size: found.length, pinned: true, preview });
    top += height;
  });
  return { rows, height: top, places };
});

/** The first row that reaches below `y`. */
export function rowAt(rows: readonly LayoutRow[], y: number): number {
  let low = 0;
  let high = rows.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    const row = rows[middle]!;
    if (row.top + row.height <= y) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Rows that stand between two heights. */
export function rowsWithin(rows: readonly LayoutRow[], from: number, to: number): readonly LayoutRow[] {
  const first = rowAt(rows, from);
  let last = first;
  while (last < rows.length && rows[last]!.top < to) last++;
  return rows.slice(first, last);
}
