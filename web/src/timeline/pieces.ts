import type { TrackId } from "../api/types";
import type { Block, TileCache } from "./cache";

/** A part of a block that is drawn: cells outside of [from, to) are not. Times are relative to the session's begin. */
export interface Piece {
  readonly block: Block;
  /** What is added to the times of cells. */
  readonly shift: number;
  readonly clipFrom: number;
  readonly clipTo: number;
  /** Cells that begin before are drawn by the piece before this one. */
  readonly skipBefore: number;
}

export interface Wanted {
  readonly track: TrackId;
  readonly exponent: number;
  readonly generation: number;
  readonly origin: bigint;
  /** The visible range, relative to `origin`, and how much later cells are shown than they were. */
  readonly from: number;
  readonly to: number;
  readonly offset: number;
}

interface Gap {
  readonly from: number;
  readonly to: number;
}

/** Covers a range by blocks of the wanted step, and what they leave by those of the nearest others. */
export function piecesOf(cache: TileCache, wanted: Wanted): { pieces: Piece[]; whole: boolean } {
  const pieces: Piece[] = [];
  let gaps: Gap[] = [{ from: wanted.from, to: wanted.to }];
  gaps = cover(cache, wanted, wanted.exponent, gaps, pieces, true);
  const whole = gaps.length === 0;
  if (!whole) {
    for (const exponent of nearest(cache.exponents(wanted.track), wanted.exponent)) {
      gaps = cover(cache, wanted, exponent, gaps, pieces, false);
      if (!gaps.length) break;
    }
  }
  return { pieces, whole };
}

/** Steps from the nearest on; of two that are equally near the coarser, since it has fewer cells. */
function nearest(exponents: Iterable<number>, to: number): number[] {
  return [...exponents].sort((a, b) => Math.abs(a - to) - Math.abs(b - to) || b - a);
}

function cover(
  cache: TileCache,
  wanted: Wanted,
  exponent: number,
  gaps: readonly Gap[],
  pieces: Piece[],
  fresh: boolean,
): Gap[] {
  let left: Gap[] = [...gaps];
  const found: Piece[] = [];
  for (const block of cache.of(wanted.track, exponent)) {
    if (fresh && block.batch.generation !== wanted.generation) continue;
    const shift = Number(block.batch.origin - wanted.origin);
    const from = block.batch.from + shift;
    const to = block.batch.to + shift;
    left = left.flatMap((gap) => {
      if (to <= gap.from || from >= gap.to) return [gap];
      cache.use(block);
      const clipFrom = Math.max(from, gap.from);
      const clipTo = Math.min(to, gap.to);
      found.push({ block, shift: shift + wanted.offset, clipFrom, clipTo, skipBefore: -Infinity });
      const rest: Gap[] = [];
      if (gap.from < clipFrom) rest.push({ from: gap.from, to: clipFrom });
      if (clipTo < gap.to) rest.push({ from: clipTo, to: gap.to });
      return rest;
    });
    if (!left.length) break;
  }
  joinRuns(found, wanted.offset, pieces);
  return left;
}

/** Neighbours of one step draw as one: a span that reaches into the next is drawn once, by the first. */
function joinRuns(found: Piece[], offset: number, pieces: Piece[]): void {
  found.sort((a, b) => a.clipFrom - b.clipFrom);
  let begin = 0;
  for (let place = 1; place <= found.length; place++) {
    if (place < found.length && found[place]!.clipFrom === found[place - 1]!.clipTo) continue;
    const clipFrom = found[begin]!.clipFrom + offset;
    const clipTo = found[place - 1]!.clipTo + offset;
    for (let each = begin; each < place; each++) {
      const piece = found[each]!;
      const skipBefore = each === begin ? -Infinity : piece.clipFrom + offset;
      pieces.push({ ...piece, clipFrom, clipTo, skipBefore });
    }
    begin = place;
  }
}
