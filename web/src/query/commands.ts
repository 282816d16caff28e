/** The SQL panel's tab and commands. */

import { createElement } from "preact";
import { api } from "../api/api";
import { addCommands } from "../commands/commands";
import { addPanel, openPanel, showPanel } from "../state/panels";
import { download } from "./copy";
import { toggleExactly } from "./exactly";
import { followRows } from "./jump";
import { focusEditor, runEditor, SqlPanel } from "./panel";
import { activeRun, change, closeRun, type Run, runs, stopAll } from "./runs";
import { csv, sorted } from "./table";

const active = (): Run | undefined => runs.value.find((run) => run.id === activeRun.value);
const done = (): boolean => active()?.state === "done";

export function addQuery(): void {
  followRows();
  addPanel({ id: "sql", title: "SQL", order: 30, render: () => createElement(SqlPanel, null) });
  addCommands(
    { id: "sql.open", title: "Write SQL", group: "Query", keys: ["E"], run: openSql },
    { id: "sql.run", title: "Run the query", group: "Query", shownKeys: ["Ctrl+Enter"], run: runEditor, enabled: () => openPanel.value === "sql" },
    { id: "sql.tables", title: "Tables of the trace", group: "Query", run: showTables, enabled: () => api().live },
    {
      id: "sql.stop", title: "Stop queries", group: "Query", run: stopAll,
      enabled: () => runs.value.some((run) => run.state === "running"),
    },
    { id: "sql.plot", title: "Result: table or plot", group: "Query", run: togglePlot, enabled: done },
    { id: "sql.csv", title: "Result: export as CSV", group: "Query", run: exportCsv, enabled: done },
    { id: "sql.close", title: "Result: close", group: "Query", run: () => closeRun(activeRun.value!), enabled: () => active() !== undefined },
    { id: "sql.exact", title: "Numbers in tables: exact or short", group: "View", run: toggleExactly },
  );
}

function openSql(): void {
  showPanel("sql");
  focusEditor();
}

function showTables(): void {
  activeRun.value = null;
  showPanel("sql");
}

function togglePlot(): void {
  const run = active();
  if (run) change(run.id, { view: run.view === "plot" ? "table" : "plot" });
}

function exportCsv(): void {
  const table = active()?.outcome?.table;
  if (table) download("result.csv", csv(table, sorted(table, null)), "text/csv");
}
