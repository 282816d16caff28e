import assert from "node:assert/strict";
import { test } from "node:test";
import "./browser";
import { decodeView, encodeView, type View } from "../src/state/address";

test("an address gives the view that it was made of", () => {
  const view: View = {
    range: { from: -100, to: 9_007_199_254_740_000 },
    selected: { track: "my trace:12", row: 345 },
    area: { from: 5, to: 10, tracks: ["a,b:1", "+1:0"] },
    pins: ["t:1", "a&b=c:2", "x/y:3"],
    closed: { base: "all", but: ["t:7"] },
    heights: new Map([["t:1", 60], ["x/y,z:3", 200]]),
    moved: [{ id: "t:5", after: "a/b:3" }, { id: "a/b:4", after: null }],
    marks: [{ at: 7, name: "begin: 100 % <b>, ja" }],
    offsets: new Map([["b:c", -1500]]),
    query: "SELECT '&#=,' FROM t.x",
    tab: "sql",
    theme: "dark",
  };
  assert.deepEqual(decodeView(`#${encodeView(view)}`), view);
});

test("an area of all tracks", () => {
  const view: View = { area: { from: 1, to: 2, tracks: null } };
  assert.deepEqual(decodeView(encodeView(view)), view);
});

test("what is none of ours is left out", () => {
  assert.deepEqual(decodeView("heights=x:t:1,-5:t:2,1e9:t:3,99999:t:4,30:t:5").heights, new Map([["t:5", 30]]));
  assert.deepEqual(decodeView(""), {});
  assert.deepEqual(decodeView("#t=9~3&slice=x&area=&closed=what&theme=pink&%=%&offsets="), {});
});
