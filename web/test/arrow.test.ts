import assert from "node:assert/strict";
import { test } from "node:test";
import { columnFromArray, dictionary, float64, int32, int64, tableFromColumns, tableToIPC, utf8 } from "@uwdata/flechette";
import { decodeCells } from "../src/api/arrow";

const BEGIN = 1_700_000_000_123_456_789n;

function encoded(columns: Record<string, ReturnType<typeof columnFromArray>>): Uint8Array {
  return tableToIPC(tableFromColumns(columns), { format: "stream" })!;
}

test("times come out exact, relative to the origin, also before it", () => {
  const offsets = [0n, 1n, -1n, 4_294_967_296n, -4_294_967_297n, 9_007_199_254_740_000n];
  const cells = decodeCells(encoded({
    track: columnFromArray(offsets.map((_, at) => at), int32()),
    _ts: columnFromArray(offsets.map((offset) => BEGIN + offset), int64()),
    _duration: columnFromArray(offsets.map(() => 4_294_967_295n), int64()),
  }), BEGIN);
  assert.deepEqual([...cells.from], offsets.map(Number));
  assert.deepEqual([...cells.duration], offsets.map(() => 4_294_967_295));
  assert.deepEqual([...cells.track], [0, 1, 2, 3, 4, 5]);
});

test("negative origins and values", () => {
  const cells = decodeCells(encoded({ _ts: columnFromArray([-3n, 5n], int64()) }), -7n);
  assert.deepEqual([...cells.from], [4, 12]);
});

test("nulls and columns that are left out", () => {
  const cells = decodeCells(encoded({
    row: columnFromArray([null, 7], int32()),
    filled: columnFromArray([null, 9n], int64()),
    mean: columnFromArray([1.5, null], float64()),
    name: columnFromArray(["a", null], dictionary(utf8(), int32())),
  }), 0n);
  assert.deepEqual([...cells.row], [-1, 7]);
  assert.deepEqual([...cells.filled], [NaN, 9]);
  assert.deepEqual([...cells.mean], [1.5, NaN]);
  assert.deepEqual([...cells.max], [NaN, NaN]);
  assert.deepEqual([...cells.name], [0, -1]);
  assert.deepEqual(cells.names, ["a"]);
});
