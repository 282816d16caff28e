import assert from "node:assert/strict";
import { test } from "node:test";
import { htmlOf } from "../src/save/file";
import { sortOf } from "../src/drop/sorts";
import type { SavedView } from "../src/save/format";

test("reports are told by their names, saved views by how they begin; systrace's pages are traces", async () => {
  const saved = await htmlOf({ title: "t", version: "1.2", script: "", style: "", view: {} as SavedView });
  assert.equal(sortOf("view.html", saved.slice(0, 4096)), "saved");
  assert.equal(sortOf("systrace.html", "<!DOCTYPE html>\n<html><head i18n-values=\"dir:textdirection;\">"), "trace");
  assert.equal(sortOf("Weekly.SQL", "SELECT 1"), "report");
  assert.equal(sortOf("trace.json", "{}"), "trace");
});
