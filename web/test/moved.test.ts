import assert from "node:assert/strict";
import { test } from "node:test";
import { afterMoves, movesOf } from "../src/state/moved";

/** All orders of some things. */
function orders(things: readonly string[]): string[][] {
  if (!things.length) return [[]];
  return things.flatMap((thing) => orders(things.filter((other) => other !== thing)).map((rest) => [thing, ...rest]));
}

const SIBLINGS = ["a", "b", "c", "d", "e"];

test("any order is made again of what was moved", () => {
  for (const order of orders(SIBLINGS)) assert.deepEqual(afterMoves(SIBLINGS, movesOf(SIBLINGS, order)), order, order.join(""));
});

test("no more is told than was moved", () => {
  const many = Array.from({ length: 10_000 }, (_, place) => `t:${place}`);
  assert.deepEqual(movesOf(many, many), []);
  const moved = [...many.slice(1, 5000), many[0]!, ...many.slice(5000)];
  assert.deepEqual(movesOf(many, moved), [{ id: "t:0", after: "t:4999" }]);
});

test("tracks that are not there any more are passed over", () => {
  assert.deepEqual(movesOf(["a", "b"], ["gone", "b", "a"]), [{ id: "b", after: null }]);
  assert.deepEqual(afterMoves(["a", "b", "c"], [{ id: "gone", after: "a" }, { id: "a", after: "gone" }]), ["b", "c", "a"]);
});

test("new siblings stay behind", () => {
  assert.deepEqual(afterMoves(["a", "b", "new"], movesOf(["a", "b"], ["b", "a"])), ["b", "a", "new"]);
});
