/** Steps and tiles: a tile is 512 steps wide, both are powers of two of ns, counted from time 0 of the clock. */

export const TILE_STEPS = 512;
const MOST_EXPONENT = 62;

/** Returns k of the longest step 2^k ns that is at most a pixel wide. */
export function exponentOf(span: number, pixels: number): number {
  const most = Math.max(span / Math.max(pixels, 1), 1);
  return Math.min(Math.max(Math.floor(Math.log2(most)), 0), MOST_EXPONENT);
}

export interface Grid {
  readonly exponent: number;
  /** Width of a tile, in ns. */
  readonly width: number;
  /** When tile 0 begins, in ns relative to `origin`. */
  readonly zero: number;
  /** The same in ns of the clock. */
  readonly base: bigint;
}

/** Tile 0 is the one in which `origin` lies. */
export function gridOf(exponent: number, origin: bigint): Grid {
  const width = BigInt(TILE_STEPS) << BigInt(exponent);
  const remainder = ((origin % width) + width) % width;
  return { exponent, width: Number(width), zero: -Number(remainder), base: origin - remainder };
}

/** Returns the first tile that a range touches and the one after the last. */
export function tilesOf(grid: Grid, from: number, to: number): readonly [first: number, end: number] {
  const first = Math.floor((from - grid.zero) / grid.width);
  return [first, Math.max(Math.ceil((to - grid.zero) / grid.width), first + 1)];
}

export function tileBegin(grid: Grid, tile: number): number {
  return grid.zero + tile * grid.width;
}

/** When a tile begins as the server writes it. */
export function tileTime(grid: Grid, tile: number): bigint {
  return grid.base + BigInt(tile) * (BigInt(TILE_STEPS) << BigInt(grid.exponent));
}

/** Takes ranges of tiles out of one; both are [first, end). */
export function without(
  range: readonly [number, number],
  taken: readonly (readonly [number, number])[],
): (readonly [number, number])[] {
  let left: (readonly [number, number])[] = [range];
  for (const [first, end] of taken) {
    left = left.flatMap(([from, to]) => {
      if (end <= from || first >= to) return [[from, to] as const];
      const rest: (readonly [number, number])[] = [];
      if (from < first) rest.push([from, first]);
      if (end < to) rest.push([end, to]);
      return rest;
    });
  }
  return left;
}
