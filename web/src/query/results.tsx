/** Results of queries as tabs; each a table or a plot. */

import { useState } from "preact/hooks";
import { api } from "../api/api";
import { whole } from "../text/amounts";
import { briefTime } from "../text/times";
import { AddTrack } from "./astrack";
import { copyText, download } from "./copy";
import { exactly, toggleExactly } from "./exactly";
import { Fault, Warnings } from "./fault";
import { Grid } from "./grid";
import { jumping } from "./jump";
import { Plot } from "./plot";
import { activeRun, change, closeRun, type Outcome, type Run, runs, stopRun } from "./runs";
import { csv, sorted, type Table, tsv } from "./table";
import { tabKeys } from "./tabkeys";
import { Tables } from "./tables";

export function Results() {
  const all = runs.value;
  const active = all.find((run) => run.id === activeRun.value) ?? null;
  if (!active && !api().live) return <p class="results empty">No result is in this saved view.</p>;
  return (
    <div class="results">
      <div class="result-tabs" role="tablist" aria-label="Results" onKeyDown={tabKeys}>
        {api().live && (
          <button
            type="button"
            role="tab"
            class="result-tab plain"
            id="result-tab-tables"
            aria-selected={active === null}
            aria-controls="result"
            tabIndex={active === null ? 0 : -1}
            onClick={() => (activeRun.value = null)}
          >
            Tables
          </button>
        )}
        {all.map((run) => (
          <button
            key={run.id}
            type="button"
            role="tab"
            class="result-tab"
            id={`result-tab-${run.id}`}
            aria-selected={run === active}
            aria-controls="result"
            aria-keyshortcuts="Delete"
            tabIndex={run === active ? 0 : -1}
            title={run.sql}
            onClick={() => (activeRun.value = run.id)}
            onAuxClick={(event) => event.button === 1 && closeRun(run.id)}
            onKeyDown={(event) => event.key === "Delete" && closeRun(run.id)}
          >
            {run.state === "running" && <span class="spinner" aria-hidden="true" />}
            {run.title}
            <span
              class="close"
              aria-hidden="true"
              title="Close (Delete)"
              onClick={(event) => {
                event.stopPropagation();
                closeRun(run.id);
              }}
            >
              ×
            </span>
          </button>
        ))}
      </div>
      <div class="result" id="result" role="tabpanel" aria-labelledby={`result-tab-${active?.id ?? "tables"}`}>
        {active ? <Shown key={active.id} run={active} /> : <Tables />}
      </div>
    </div>
  );
}

function Shown({ run }: { readonly run: Run }) {
  if (run.state === "running") {
    return (
      <div class="result-waiting" role="status">
        <span class="spinner" aria-hidden="true" /> running…
        <button type="button" onClick={() => stopRun(run.id)}>Stop</button>
      </div>
    );
  }
  if (run.state === "stopped") return <p class="empty" role="status">Stopped before it had a result.</p>;
  if (run.error) return <Fault error={run.error} />;
  return run.outcome && <Done run={run} outcome={run.outcome} />;
}

function Done({ run, outcome }: { readonly run: Run; readonly outcome: Outcome }) {
  const { table, result: { about } } = outcome;
  const [order, setOrder] = useState<Int32Array>(() => sorted(table, null));
  const jump = jumping(table);
  return (
    <>
      <div class="result-bar">
        <span class="result-count" role="status">{countText(table)}</span>
        <span class="faint">{`${kindText(about.kind, about.partitions)}${run.took ? ` · ${briefTime(run.took * 1e6)}` : ""}`}</span>
        <span class="grow" />
        <span class="segments" role="group" aria-label="Show as">
          <button type="button" aria-pressed={run.view === "table"} onClick={() => change(run.id, { view: "table" })}>Table</button>
          <button type="button" aria-pressed={run.view === "plot"} onClick={() => change(run.id, { view: "plot" })}>Plot</button>
        </span>
        <button
          type="button"
          aria-pressed={exactly.value}
          title="Show every digit rather than 1.234 ms or 12.5 KiB"
          onClick={toggleExactly}
        >
          Exact
        </button>
        <button type="button" onClick={() => void copyText(tsv(table, order, everything(table)))} disabled={table.rows === 0}>Copy</button>
        <button type="button" onClick={() => download(`${fileName(run.title)}.csv`, csv(table, order), "text/csv")}>CSV</button>
        {about.kind !== "regular" && api().live && <AddTrack run={run} columns={about.columns} />}
      </div>
      <Warnings warnings={about.warnings} />
      {run.view === "plot"
        ? <Plot table={table} partitions={about.partitions} lasting={about.kind === "span"} />
        : <Grid table={table} label={`Result of ${run.title}`} exactly={exactly.value} onRow={jump ?? undefined} onOrder={setOrder} />}
    </>
  );
}

const everything = (table: Table) => ({ top: 0, bottom: table.rows - 1, left: 0, right: table.columns.length - 1 });

function countText(table: Table): string {
  if (!table.complete) return `first ${whole(table.rows)} rows`;
  return table.rows === 1 ? "1 row" : `${whole(table.rows)} rows`;
}

function kindText(kind: string, partitions: readonly string[]): string {
  const what = kind === "span" ? "spans" : kind === "event" ? "events" : "table";
  return partitions.length > 0 ? `${what} by ${partitions.join(", ")}` : what;
}

const fileName = (title: string): string => title.replace(/[^\w.-]+/g, "_").replace(/^[._]+/, "") || "result";
