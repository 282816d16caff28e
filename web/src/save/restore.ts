/** Puts results and graphs of a saved view back where they were; the rest follows from its address. */

import { graph } from "../flame/state";
import { named, treeOf } from "../flame/layout";
import { restoreRuns } from "../query/runs";
import { tableOfResult } from "../query/result";
import { report } from "../report/state";
import { fromBase64 } from "./bytes";
import type { SavedView } from "./format";

export function restore(view: SavedView): void {
  restoreRuns(view.runs.map(({ sql, title, about, bytes, took, view: shown }) => {
    const result = { about, bytes: fromBase64(bytes) };
    return { sql, title, took, view: shown, outcome: { result, table: tableOfResult(result) } };
  }));
  if (view.flame) {
    const { request, answer } = view.flame;
    graph.value = { request, answer, tree: treeOf(named(answer.frames)), error: null };
  }
  if (view.report) report.value = { ...view.report, error: null };
  if (!location.hash && view.hash) history.replaceState(null, "", view.hash);
}
