import assert from "node:assert/strict";
import { test } from "node:test";
import { around, boxAt, type Frame, functions, inverted, layout, neighbour, pathTo, treeOf } from "../src/flame/layout";

const frame = (id: number, parent: number | null, name: string, value: number, self: number): Frame => ({ id, parent, name, value, self, count: 1 });

/** main calls a and b; a calls itself and b. */
const frames = [
  frame(0, null, "main", 100, 10),
  frame(1, 0, "a", 60, 20),
  frame(2, 0, "b", 30, 30),
  frame(3, 1, "a", 25, 25),
  frame(4, 1, "b", 15, 15),
];
const tree = treeOf(frames);

test("children lie within their parents, widest first", () => {
  const rows = layout(tree, null, 0);
  assert.deepEqual(rows.map((row) => row.map((box) => box.frame.id)), [[0], [1, 2], [3, 4]]);
  for (const row of rows.slice(1)) {
    for (const box of row) {
      const parent = rows[box.depth - 1]!.find((each) => each.frame.id === box.frame.parent)!;
      assert.ok(box.x >= parent.x - 1e-12 && box.x + box.width <= parent.x + parent.width + 1e-12);
    }
  }
});

test("what is zoomed into has the whole width, below all that it is in", () => {
  const rows = layout(tree, 1, 0);
  assert.deepEqual(rows.map((row) => row.map((box) => [box.frame.id, box.above])), [[[0, true]], [[1, false]], [[3, false], [4, false]]]);
  assert.equal(rows[1]![0]!.width, 1);
});

test("what is too narrow is left out with all that is on it", () => {
  assert.deepEqual(layout(tree, null, 0.2).map((row) => row.map((box) => box.frame.id)), [[0], [1, 2], [3]]);
});

test("boxes are found by place", () => {
  const row = layout(tree, null, 0)[1]!;
  assert.equal(boxAt(row, 0.59)?.frame.id, 1);
  assert.equal(boxAt(row, 0.61)?.frame.id, 2);
  assert.equal(boxAt(row, 0.95), null);
  assert.equal(boxAt(undefined, 0.5), null);
});

test("arrow keys go to neighbours and stay at the ends", () => {
  assert.equal(neighbour(tree, frames[1]!, "next").id, 2);
  assert.equal(neighbour(tree, frames[2]!, "next").id, 2);
  assert.equal(neighbour(tree, frames[1]!, "child").id, 3);
  assert.equal(neighbour(tree, frames[0]!, "parent").id, 0);
  assert.deepEqual(pathTo(tree, 4).map((each) => each.id), [0, 1, 4]);
});

test("own times add up to the total, and recursion counts once", () => {
  const sums = new Map(functions(tree).map((sum) => [sum.name, sum]));
  assert.equal([...sums.values()].reduce((sum, each) => sum + each.self, 0), 100);
  assert.deepEqual([sums.get("a")!.total, sums.get("a")!.self], [60, 45]);
  assert.deepEqual([sums.get("b")!.total, sums.get("b")!.count], [45, 2]);
});

test("callers and callees of a function have its whole time", () => {
  for (const name of ["a", "b", "main"]) {
    const total = functions(tree).find((sum) => sum.name === name)!.total;
    assert.equal(treeOf(around(tree, name, "callees")).total, total, `callees of ${name}`);
    assert.equal(treeOf(around(tree, name, "callers")).total, total, `callers of ${name}`);
  }
  const callers = treeOf(around(tree, "b", "callers"));
  const root = callers.children.get(null)![0]!;
  assert.deepEqual(callers.children.get(root.id)!.map((each) => [each.name, each.value]), [["main", 30], ["a", 15]]);
});

test("turned around, each function at work stands first with its own time", () => {
  const turned = treeOf(inverted(tree));
  assert.deepEqual(turned.children.get(null)!.map((each) => [each.name, each.value]), [["a", 45], ["b", 45], ["main", 10]]);
  assert.equal(turned.total, tree.total);
  const b = turned.children.get(null)!.find((each) => each.name === "b")!;
  assert.deepEqual(turned.children.get(b.id)!.map((each) => [each.name, each.value]), [["main", 30], ["a", 15]]);
});
