import assert from "node:assert/strict";
import { test } from "node:test";
import type { Cells } from "../src/api/types";
import { fromBase64, toBase64 } from "../src/save/bytes";
import { packed, SavedCells, sizeOf } from "../src/save/cells";
import { htmlOf, safeJson, safeScript } from "../src/save/file";
import type { SavedView } from "../src/save/format";

/** Cells of one lane: [track, from, duration, name]. */
function cellsOf(rows: readonly (readonly [number, number, number, string])[]): Cells {
  const names = [...new Set(rows.map((row) => row[3]))];
  const floats = (value: (row: (typeof rows)[number]) => number) => Float64Array.from(rows, value);
  const nothing = () => floats(() => NaN);
  return {
    rows: rows.length, names,
    track: Int32Array.from(rows, (row) => row[0]), lane: new Int32Array(rows.length),
    name: Int32Array.from(rows, (row) => names.indexOf(row[3])),
    from: floats((row) => row[1]), duration: floats((row) => row[2]), count: floats(() => 1), row: floats((row) => row[1]),
    total: nothing(), longest: nothing(), filled: nothing(), min: nothing(), max: nothing(), last: nothing(), mean: nothing(),
  };
}

const ORIGIN = 1_000n;
const fine = cellsOf([[0, 100, 10, "a"], [0, 120, 20, "b"], [1, 105, 5, "c"]]);
const coarse = cellsOf([[0, 0, 90, "far"], [0, 120, 20, "b"], [0, 500, 90, "late"]]);
const bytes = packed([fine, coarse]);
const saved = new SavedCells(
  [
    { exponent: 0, from: "1100", to: "1200", tracks: ["t:0", "t:1"], rows: fine.rows, names: fine.names, begin: 0 },
    { exponent: 4, from: "1000", to: "2000", tracks: ["t:0", "t:1"], rows: coarse.rows, names: coarse.names, begin: sizeOf(fine.rows) },
  ],
  fromBase64(toBase64(bytes)),
  ORIGIN,
);

const found = (tracks: string[], from: string, to: string, step: number, origin = ORIGIN) => {
  const cells = saved.answer({ tracks, from, to, step }, origin);
  return Array.from(cells.from, (at, place) => [cells.track[place], at, cells.names[cells.name[place]!]]);
};

test("a saved step is answered as it was", () => {
  assert.deepEqual(found(["t:1", "t:0"], "1100", "1200", 1), [[0, 105, "c"], [1, 100, "a"], [1, 120, "b"]]);
});

test("where only coarser cells were saved they stand in, each once", () => {
  assert.deepEqual(found(["t:0"], "1000", "2000", 1), [[0, 0, "far"], [0, 100, "a"], [0, 120, "b"], [0, 500, "late"]]);
});

test("cells are told relative to the time that is asked for", () => {
  assert.deepEqual(found(["t:0"], "1100", "1115", 1, 1_050n), [[0, 50, "a"]]);
});

test("a track that was not saved is empty", () => {
  assert.deepEqual(found(["t:9"], "1000", "2000", 1), []);
  assert.ok(!saved.has("t:9") && saved.has("t:1"));
});

test("neither script nor data can end the element that they are in", async () => {
  assert.ok(!/<\/script|<!--/i.test(safeScript('x="</script><!-- </SCRIPT>"')));
  assert.equal(new Function(safeScript('return "</script><!--"'))(), "</script><!--");
  const hostile = { name: "</script><img src=x onerror=alert(1)>\u2028" };
  assert.ok(!safeJson(hostile).includes("<"));
  assert.deepEqual(JSON.parse(safeJson(hostile)), hostile);
  const view = { names: hostile } as unknown as SavedView;
  const html = await htmlOf({ title: "<b>", version: "1", script: "a()", style: "b{}", view });
  assert.equal(html.split("</script>").length, 3);
  assert.ok(html.includes("script-src 'sha256-") && html.includes("<title>&lt;b&gt;</title>"));
});
