import assert from "node:assert/strict";
import { test } from "node:test";
import { areaOf, compare, csv, nextOrder, sorted, tableOfRows, totals, tsv } from "../src/query/table";
import { sumsOf } from "../src/selection/sums";
import { bare, exact, isNumeric, json, moment, shown } from "../src/query/values";

const column = (name: string, type = "INT64", unit: string | null = null) => ({ name, type, unit });

const table = tableOfRows({
  columns: [column("name", "STRING"), column("bytes", "INT64", "B")],
  rows: [["b10", 5], ["b9", null], ["a,\"x\"", 300], ["b9", 2048]],
  complete: true,
});

test("names sort as people count, numbers by size, NULLs last both ways", () => {
  assert.deepEqual([...sorted(table, { column: 0, descending: false })], [2, 1, 3, 0]);
  assert.deepEqual([...sorted(table, { column: 1, descending: true })], [3, 2, 0, 1]);
  assert.deepEqual([...sorted(table, { column: 1, descending: false })], [0, 2, 3, 1]);
  assert.deepEqual([...sorted(table, null)], [0, 1, 2, 3]);
});

test("wide numbers compare exactly, also those that JSON has as text", () => {
  const wide = tableOfRows({ columns: [column("_ts")], rows: [["9007199254740993"], ["9007199254740992"], [1]], complete: true });
  assert.deepEqual([...sorted(wide, { column: 0, descending: false })], [2, 1, 0]);
  assert.equal(compare(9007199254740993n, 9007199254740992), 1);
});

test("clicks on a header turn the order around and then give it back", () => {
  const first = nextOrder(null, 1, "INT64");
  assert.deepEqual(first, { column: 1, descending: true });
  const second = nextOrder(first, 1, "INT64");
  assert.deepEqual(second, { column: 1, descending: false });
  assert.equal(nextOrder(second, 1, "INT64"), null);
  assert.deepEqual(nextOrder(first, 0, "STRING"), { column: 0, descending: false });
});

test("one cell is copied bare, several with names and units", () => {
  const order = sorted(table, null);
  assert.equal(tsv(table, order, areaOf({ row: 0, column: 0 }, { row: 0, column: 0 })), "b10");
  assert.equal(tsv(table, order, areaOf({ row: 2, column: 1 }, { row: 1, column: 0 })), 'name\tbytes [B]\nb9\t\n"a,""x"""\t300');
});

test("CSV quotes what must be quoted", () => {
  assert.equal(csv(table, sorted(table, null)), 'name,bytes [B]\r\nb10,5\r\nb9,\r\n"a,""x""",300\r\nb9,2048\r\n');
});

test("sums are of the columns that are to be summed", () => {
  assert.deepEqual(totals(table, (each) => each.name === "bytes"), [null, 2353]);
  assert.deepEqual(totals(table, () => false), [null, null]);
});

test("values are exact where they are copied", () => {
  assert.equal(exact(null), "");
  assert.equal(exact(12345678901234567890n), "12345678901234567890");
  assert.equal(exact(-0), "-0");
  assert.equal(exact(new Uint8Array([0, 255])), "0x00ff");
  assert.equal(json({ a: [1n, null, "x\"", new Map([["k", 2]])] }), '{"a": [1, null, "x\\"", {"k": 2}]}');
});

test("values are short where they are read", () => {
  assert.equal(shown(1_234_567, column("d", "INT64", "ns"), false), "1.235 ms");
  assert.equal(shown(1_234_567, column("d", "INT64", "ns"), true), "1234567");
  assert.equal(shown(1536, column("d", "BIGINT", "B"), false), "1.5 KiB");
  assert.equal(shown(1536, column("d", "DOUBLE", "B/s"), false), "1.5 KiB/s");
  assert.equal(shown(null, column("d"), false), "NULL");
  assert.equal(shown(1474370982, column("_ts", "INT64", "ns"), false), "1.474\u202f370\u202f982 s");
  assert.equal(moment(-1n), "-0.000\u202f000\u202f001 s");
  assert.equal(bare(0.1 + 0.2), "0.3");
  assert.equal(bare(1234567.891), "1234567.89");
});

test("types of the engine and of the language are numbers alike", () => {
  for (const type of ["INT64", "BIGINT", "UINT8", "UTINYINT", "DOUBLE", "FLOAT32", "DECIMAL(18,3)", "HUGEINT"]) assert.ok(isNumeric(type), type);
  for (const type of ["STRING", "VARCHAR", "BOOLEAN", "INTERVAL", "STRUCT(a INTEGER)", "BIGINT[]"]) assert.ok(!isNumeric(type), type);
});

test("totals beside their own parts are not added up", () => {
  const columns = ["name", "count", "total", "self"].map((name, place) => column(name, place ? "INT64" : "STRING"));
  const calls = tableOfRows({ columns, rows: [["a", 1, 9, 4], ["b", 2, 5, 5]], complete: true });
  assert.deepEqual(sumsOf(calls, true), ["all", "3", null, "9"]);
  const states = tableOfRows({ columns: columns.slice(0, 3), rows: [["a", 1, 9], ["b", 2, 5]], complete: true });
  assert.deepEqual(sumsOf(states, true), ["all", "3", "14"]);
});
