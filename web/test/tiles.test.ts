import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cells } from "../src/api/types";
import { TileCache } from "../src/timeline/cache";
import { exponentOf, gridOf, tileBegin, tilesOf, tileTime, TILE_STEPS, without } from "../src/timeline/grid";
import { piecesOf } from "../src/timeline/pieces";

function cells(rows: readonly { track?: number; from: number; duration: number; lane?: number }[]): Cells {
  const count = rows.length;
  const floats = (of: (at: number) => number) => Float64Array.from({ length: count }, (_, at) => of(at));
  const nothing = floats(() => NaN);
  return {
    rows: count, track: Int32Array.from(rows, (row) => row.track ?? 0), lane: Int32Array.from(rows, (row) => row.lane ?? 0),
    from: floats((at) => rows[at]!.from), duration: floats((at) => rows[at]!.duration), count: floats(() => 1), row: floats((at) => at),
    total: nothing, longest: nothing, filled: nothing, name: new Int32Array(count).fill(-1), names: [],
    min: nothing, max: nothing, last: nothing, mean: nothing,
  };
}

function about(exponent: number, first: number, end: number, generation = 1) {
  const grid = gridOf(exponent, 0n);
  const tracks = [{ id: "t:0", kind: "slices" as const }, { id: "t:1", kind: "slices" as const }];
  return { exponent, first, end, from: tileBegin(grid, first), to: tileBegin(grid, end), origin: 0n, generation, tracks };
}

const wanted = { track: "t:0", generation: 1, origin: 0n, offset: 0 };

test("a step is a power of two that is at most a pixel wide", () => {
  for (const span of [20, 999, 1e6, 3.3e9, 8e13]) {
    const exponent = exponentOf(span, 1000);
    assert.ok(2 ** exponent <= Math.max(span / 1000, 1));
    assert.ok(exponent === 0 || 2 ** (exponent + 1) > span / 1000);
  }
});

test("tiles are multiples of their width on the clock, whatever the origin", () => {
  for (const origin of [0n, 1_453_460_500n, 1_700_000_000_123_456_789n, -5n]) {
    for (const exponent of [0, 7, 20, 40]) {
      const grid = gridOf(exponent, origin);
      const width = BigInt(TILE_STEPS) << BigInt(exponent);
      const [first, end] = tilesOf(grid, -1e6, 5e9);
      assert.equal(tileTime(grid, first) % width, 0n);
      assert.equal(tileTime(grid, first) - origin, BigInt(tileBegin(grid, first)));
      assert.ok(tileBegin(grid, first) <= -1e6 && tileBegin(grid, end) >= 5e9);
      assert.ok(tileBegin(grid, first + 1) > -1e6);
    }
  }
});

test("without leaves what is not taken", () => {
  assert.deepEqual(without([0, 10], []), [[0, 10]]);
  assert.deepEqual(without([0, 10], [[2, 4], [6, 20]]), [[0, 2], [4, 6]]);
  assert.deepEqual(without([0, 10], [[-5, 50]]), []);
  assert.deepEqual(without([0, 10], [[10, 12]]), [[0, 10]]);
});

test("a range that is held is covered once and whole", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([{ from: 0, duration: 5000 }]), about(3, 0, 1));
  cache.add(cells([{ from: 0, duration: 5000 }]), about(3, 1, 3));
  const { pieces, whole } = piecesOf(cache, { ...wanted, exponent: 3, from: 100, to: 3 * 4096 - 1 });
  assert.equal(whole, true);
  assert.equal(pieces.length, 2);
  assert.deepEqual(pieces.map((piece) => piece.skipBefore), [-Infinity, 4096]);
  assert.ok(pieces.every((piece) => piece.clipFrom === 100 && piece.clipTo === 3 * 4096 - 1));
});

test("what is missing is drawn from the nearest other step", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([]), about(3, 0, 1));
  cache.add(cells([]), about(9, 0, 1));
  cache.add(cells([]), about(5, 0, 1));
  const { pieces, whole } = piecesOf(cache, { ...wanted, exponent: 3, from: 0, to: 40_000 });
  assert.equal(whole, false);
  assert.deepEqual(pieces.map((piece) => [piece.block.batch.exponent, piece.clipFrom, piece.clipTo]), [
    [3, 0, 4096], [5, 4096, 16_384], [9, 16_384, 40_000],
  ]);
});

test("cells of a tree that has changed are drawn until new ones are there, but do not count as whole", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([{ from: 0, duration: 10 }]), about(3, 0, 1));
  const { pieces, whole } = piecesOf(cache, { ...wanted, generation: 2, exponent: 3, from: 0, to: 4096 });
  assert.equal(whole, false);
  assert.equal(pieces.length, 1);
});

test("an offset moves cells, not what is asked for", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([{ from: 10, duration: 10 }]), about(3, 0, 1));
  const { pieces } = piecesOf(cache, { ...wanted, offset: 1000, exponent: 3, from: 0, to: 4096 });
  assert.deepEqual([pieces[0]!.shift, pieces[0]!.clipFrom, pieces[0]!.clipTo], [1000, 1000, 5096]);
});

test("each track gets its cells, in whatever order they come", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([{ track: 1, from: 1, duration: 1 }, { track: 0, from: 2, duration: 1 }, { track: 0, from: 3, duration: 1 }]), about(3, 0, 1));
  assert.deepEqual(cache.of("t:1", 3).map(({ begin, end }) => [begin, end]), [[0, 1]]);
  assert.deepEqual(cache.of("t:0", 3).map(({ begin, end }) => [begin, end]), [[1, 3]]);
});

test("a track without cells is held as well", () => {
  const cache = new TileCache(1e9);
  cache.add(cells([{ track: 1, from: 1, duration: 1 }]), about(3, 0, 1));
  assert.equal(piecesOf(cache, { ...wanted, exponent: 3, from: 0, to: 4096 }).whole, true);
});

test("the cache is bounded and lets go of what was not drawn for longest", () => {
  const rows = Array.from({ length: 1000 }, (_, at) => ({ from: at, duration: 1 }));
  const cache = new TileCache(500_000);
  for (let tile = 0; tile < 40; tile++) {
    cache.tick();
    cache.add(cells(rows), about(3, tile, tile + 1));
  }
  assert.ok(cache.bytes <= 500_000);
  const held = cache.of("t:0", 3).map((block) => block.batch.first);
  assert.ok(held.includes(39) && !held.includes(0));
});
