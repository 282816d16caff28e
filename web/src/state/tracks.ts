import { batch, computed, signal } from "@preact/signals";
import { api } from "../api/api";
import type { NewTrack, Track, TrackId } from "../api/types";
import { begin, length, noteError } from "./session";
import { shiftAll } from "./view";

/** The tree, parents before their children. */
export const tracks = signal<readonly Track[]>([]);
export const loaded = signal(false);
export const byId = computed(() => new Map(tracks.value.map((track) => [track.id, track])));
/** Children of each track, and of the root (null), as the server orders them. */
export const childrenOf = computed(() => {
  const found = new Map<TrackId | null, Track[]>();
  for (const track of tracks.value) {
    const siblings = found.get(track.parent);
    if (siblings) siblings.push(track);
    else found.set(track.parent, [track]);
  }
  return found;
});
/** Grows whenever rows of tracks may be others than before: cells that are held are then asked for again. */
export const generation = signal(0);

export const pins = signal<readonly TrackId[]>([]);
export const collapsed = signal<ReadonlySet<TrackId>>(new Set());
/** Heights set by hand, in CSS pixels. */
export const heights = signal<ReadonlyMap<TrackId, number>>(new Map());
/** Siblings that were moved: their order, by parent ("" for the root). */
export const order = signal<ReadonlyMap<TrackId | "", readonly TrackId[]>>(new Map());
export const filter = signal("");
/** ns by which all of a mount is shown later than it was. */
export const offsets = signal<ReadonlyMap<string, number>>(new Map());

/** Fetches the tree again. */
export async function loadTracks(): Promise<void> {
  const tree = await api().tracks();
  batch(() => {
    if (tree.begin !== null && tree.end !== null) {
      const found = BigInt(tree.begin);
      if (loaded.value && length.value) shiftAll(Number(begin.value - found));
      begin.value = found;
      length.value = Number(BigInt(tree.end) - found);
    }
    tracks.value = tree.tracks;
    generation.value++;
    loaded.value = true;
  });
}

/** Makes tracks of a SELECT, pins them and returns them. */
export async function addTracks(request: NewTrack): Promise<readonly Track[]> {
  const made = await api().addTracks(request);
  await loadTracks();
  pins.value = [...pins.value, ...made.filter((track) => track.kind !== "group").map((track) => track.id)];
  return made;
}

export async function removeTrack(id: TrackId): Promise<void> {
  try {
    await api().removeTrack(id);
    pins.value = pins.value.filter((pin) => pin !== id);
    await loadTracks();
  } catch (error) {
    noteError(error);
  }
}

/** How much later than it was a track is shown, in ns. */
export function offsetOf(id: TrackId): number {
  const mount = byId.value.get(id)?.mount;
  return mount ? (offsets.value.get(mount) ?? 0) : 0;
}

export function togglePin(id: TrackId): void {
  pins.value = pins.value.includes(id) ? pins.value.filter((pin) => pin !== id) : [...pins.value, id];
}

export function setCollapsed(id: TrackId, closed: boolean): void {
  if (collapsed.value.has(id) === closed) return;
  const changed = new Set(collapsed.value);
  if (closed) changed.add(id);
  else changed.delete(id);
  collapsed.value = changed;
}

/** Opens all groups around a track. */
export function reveal(id: TrackId): void {
  for (let up = byId.value.get(id)?.parent ?? null; up !== null; up = byId.value.get(up)?.parent ?? null) {
    setCollapsed(up, false);
  }
}

/** How many rows of a large tree are open at first. */
const FIRST_OPEN = 70;

/** Groups to close when a tree is seen for the first time: roots stay open, and the first groups. */
export function closedAtFirst(): ReadonlySet<TrackId> {
  const closed = new Set<TrackId>();
  let open = 0;
  const walk = (parent: TrackId | null): void => {
    for (const track of childrenOf.value.get(parent) ?? []) {
      open++;
      if (!childrenOf.value.has(track.id)) continue;
      if (open > FIRST_OPEN && track.depth > 0) closed.add(track.id);
      else walk(track.id);
    }
  };
  walk(null);
  return closed;
}
