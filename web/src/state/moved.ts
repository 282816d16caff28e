/** The order of siblings as the few that were moved: an address need not hold 10,000 names. */

import type { TrackId } from "../api/types";

/** A track that was moved, and the sibling that it stands behind now; null is none. */
export interface Moved {
  readonly id: TrackId;
  readonly after: TrackId | null;
}

/** The least that must be moved to make one order of siblings of another. */
export function movesOf(before: readonly TrackId[], now: readonly TrackId[]): Moved[] {
  const places = new Map(before.map((id, place) => [id, place]));
  const known = now.filter((id) => places.has(id));
  const stay = rising(known.map((id) => places.get(id)!));
  return known.flatMap((id, at) => (stay.has(at) ? [] : [{ id, after: known[at - 1] ?? null }]));
}

/** Siblings after some were moved; what is behind one that is not there any more goes to the end. */
export function afterMoves(before: readonly TrackId[], moves: readonly Moved[]): TrackId[] {
  const there = new Set(before);
  const own = moves.filter((move) => there.has(move.id));
  const moved = new Set(own.map((move) => move.id));
  const found = before.filter((id) => !moved.has(id));
  for (const { id, after } of own) {
    const at = after === null ? 0 : found.indexOf(after) + 1;
    found.splice(at || (after === null ? 0 : found.length), 0, id);
  }
  return found;
}

/** The places of a longest part of different numbers that rises. */
function rising(numbers: readonly number[]): Set<number> {
  const ends: number[] = [];
  const previous: number[] = [];
  numbers.forEach((number, place) => {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (numbers[ends[middle]!]! < number) low = middle + 1;
      else high = middle;
    }
    previous.push(low ? ends[low - 1]! : -1);
    ends[low] = place;
  });
  const found = new Set<number>();
  for (let place = ends.at(-1) ?? -1; place >= 0; place = previous[place]!) found.add(place);
  return found;
}
