import assert from "node:assert/strict";
import { test } from "node:test";
import { headingOf, titleOf } from "../src/query/titles";

test("results are called after the table that is read last", () => {
  assert.equal(titleOf("SELECT * FROM t.slices WHERE name = 'x'"), "t.slices");
  assert.equal(titleOf("WITH a AS (SELECT 1 FROM t.calls) SELECT * FROM a"), "a");
  assert.equal(titleOf("SELECT * FROM `print|B`.c -- FROM nothing"), "print|B.c");
  assert.equal(titleOf("CREATE VIEW busy AS SELECT SPAN FROM t.slices"), "CREATE VIEW busy");
  assert.equal(titleOf("SELECT 1"), "SELECT 1");
  assert.equal(titleOf("SELECT * FROM a.very.long.name.of.a.table.that.goes.on"), "…ame.of.a.table.that.goes.on");
});

test("statements of a report are called after the comment before them", () => {
  assert.equal(headingOf("\n-- Slow calls\n-- of the day\nSELECT 1 FROM t.calls"), "Slow calls");
  assert.equal(headingOf("SELECT 1 FROM t.calls"), "t.calls");
});
