import assert from "node:assert/strict";
import { test } from "node:test";
import { plotData, usualChoice } from "../src/query/plotdata";
import { tableOfRows } from "../src/query/table";

const column = (name: string, type = "INT64", unit: string | null = null) => ({ name, type, unit });

test("time stands across, values of each partition are series", () => {
  const table = tableOfRows({
    columns: [column("_ts", "INT64", "ns"), column("cpu"), column("value", "DOUBLE", "B")],
    rows: [[30, 1, 3.5], [10, 0, 1], [20, 1, null], [10, 1, 7], [40, 0, 2]],
    complete: true,
  });
  const choice = usualChoice(table, ["cpu"]);
  assert.deepEqual(choice, { x: 0, y: [2], split: 1, style: "line" });
  const data = plotData(table, choice);
  assert.deepEqual(data.x, [10, 20, 30, 40]);
  assert.deepEqual(data.series.map((series) => [series.label, series.values]), [
    ["cpu 1", [7, null, 3.5, null]],
    ["cpu 0", [1, null, null, 2]],
  ]);
});

test("names stand across as bars of one unit", () => {
  const table = tableOfRows({
    columns: [column("name", "STRING"), column("time", "INT64", "ns"), column("size", "INT64", "B"), column("tid")],
    rows: [["x", 5, 1, 9], ["y", 3, 2, 8]],
    complete: true,
  });
  const choice = usualChoice(table, []);
  assert.deepEqual(choice, { x: 0, y: [1], split: -1, style: "bars" });
  const data = plotData(table, choice);
  assert.deepEqual([data.x, data.names, data.series[0]!.values], [[0, 1], ["x", "y"], [5, 3]]);
});

test("the first number stands across where there is neither time nor name", () => {
  const table = tableOfRows({ columns: [column("a"), column("b")], rows: [[2, 10], [1, 20], [null, 5]], complete: true });
  const data = plotData(table, usualChoice(table, []));
  assert.deepEqual([data.x, data.series[0]!.values], [[1, 2], [20, 10]]);
});
