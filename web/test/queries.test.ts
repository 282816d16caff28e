import assert from "node:assert/strict";
import { test } from "node:test";
import { moved } from "../src/query/gridkeys";
import { decimal } from "../src/query/result";
import { edges, seen } from "../src/query/widths";

test("decimals keep all their digits", () => {
  assert.equal(decimal(-12345n, 3), "-12.345");
  assert.equal(decimal(5n, 3), "0.005");
  assert.equal(decimal(123456789012345678901234567890n, 0), 123456789012345678901234567890n);
  assert.equal(decimal(7n, 0), 7);
  assert.equal(decimal(7n, -2), 700);
});

test("keys move within the table and up to its header", () => {
  const from = { row: 0, column: 0 };
  assert.deepEqual(moved(from, "ArrowUp", false, 5, 3, 10), { row: -1, column: 0 });
  assert.deepEqual(moved(from, "ArrowDown", true, 5, 3, 10), { row: 4, column: 0 });
  assert.deepEqual(moved(from, "End", false, 5, 3, 10), { row: 0, column: 2 });
  assert.deepEqual(moved({ row: 3, column: 1 }, "PageDown", false, 5, 3, 10), { row: 4, column: 1 });
  assert.equal(moved(from, "x", false, 5, 3, 10), null);
});

test("only columns that are seen are drawn", () => {
  const lines = edges([100, 50, 200, 80]);
  assert.deepEqual(lines, [0, 100, 150, 350, 430]);
  assert.deepEqual(seen(lines, 0, 100), [0, 1]);
  assert.deepEqual(seen(lines, 120, 360), [1, 4]);
  assert.deepEqual(seen([0], 0, 100), [0, 0]);
});
