/** What can be asked: tables, views and functions with what they hold, and the columns of one. */

import { signal } from "@preact/signals";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/api";
import { type ColumnsAbout, isAbort, type TableAbout } from "../api/types";
import { generation } from "../state/tracks";
import { queryText } from "../state/view";
import { whole } from "../text/amounts";
import { exactly } from "./exactly";
import { Grid } from "./grid";
import { remember } from "./history";
import { runSql } from "./runs";
import { type Table, tableOfRows } from "./table";

const STRING = { type: "STRING", unit: null } as const;
const all = signal<readonly TableAbout[]>([]);
const filter = signal("");
const chosen = signal<string | null>(null);

export function Tables() {
  const [failed, setFailed] = useState<string | null>(null);
  useEffect(() => {
    const stop = new AbortController();
    api().tables("", stop.signal).then(
      (found) => (all.value = [...found.filter(isOfTrace), ...found.filter((each) => !isOfTrace(each))]),
      (error: unknown) => isAbort(error) || setFailed(error instanceof Error ? error.message : String(error)),
    );
    return () => stop.abort();
  }, [generation.value]);
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  const found = useMemo(
    () => all.value.filter(({ name, doc }) => words.every((word) => `${name} ${doc ?? ""}`.toLowerCase().includes(word))),
    [all.value, filter.value],
  );
  const table = useMemo((): Table => tableOfRows({
    columns: [{ name: "table", ...STRING }, { name: "kind", ...STRING }, { name: "what it holds", ...STRING }],
    rows: found.map(({ name, kind, doc }) => [name, kind, doc]),
    complete: true,
  }), [found]);
  const about = found.find((each) => each.name === chosen.value);
  return (
    <>
      <div class="result-bar">
        <input
          type="search"
          class="tables-filter"
          aria-label="Filter tables"
          placeholder="Filter tables…"
          value={filter.value}
          onInput={(event) => (filter.value = event.currentTarget.value)}
        />
        <span class="faint" role="status">{failed ?? `${whole(found.length)} tables and functions`}</span>
      </div>
      <div class={`tables${about ? " with-one" : ""}`}>
        <Grid table={table} label="Tables" onRow={(row) => (chosen.value = found[row]?.name ?? null)} />
        {about && <One key={about.name} about={about} />}
      </div>
    </>
  );
}

/** What a trace holds stands before what works on any. */
const isOfTrace = ({ kind, name }: TableAbout): boolean => kind !== "function" && !name.startsWith("dctv.");

/** Rows of spans and events stay so, that they can become tracks. */
const SELECTS = { regular: "SELECT *", span: "SELECT SPAN *", event: "SELECT EVENT *" } as const;

function One({ about }: { readonly about: TableAbout }) {
  const [columns, setColumns] = useState<ColumnsAbout | null>(null);
  const isFunction = about.kind === "function";
  useEffect(() => {
    if (isFunction) return;
    const stop = new AbortController();
    api().columns(about.name, stop.signal).then(setColumns, () => undefined);
    return () => stop.abort();
  }, []);
  const table = useMemo((): Table => tableOfRows({
    columns: [{ name: "column", ...STRING }, { name: "type", ...STRING }, { name: "unit", ...STRING }],
    rows: (columns?.columns ?? []).map(({ name, type, unit }) => [name, type, unit ?? ""]),
    complete: true,
  }), [columns]);
  const sql = isFunction ? `SELECT * FROM ${about.name}()` : `${SELECTS[columns?.kind ?? "regular"]} FROM ${about.name}`;

  function write(): void {
    remember(queryText.value);
    queryText.value = sql;
    if (!isFunction) void runSql(sql);
  }

  return (
    <section class="tables-one" aria-label={about.name}>
      <div class="tables-about">
        <strong>{about.name}</strong>
        {columns && <span class="faint">{columns.kind === "regular" ? "table" : `${columns.kind}s`}</span>}
        <span class="grow" />
        <button type="button" class="primary" disabled={!isFunction && !columns} onClick={write}>{isFunction ? "Write a query" : "Query"}</button>
      </div>
      {about.doc && <p>{about.doc}</p>}
      {!isFunction && <Grid table={table} label={`Columns of ${about.name}`} exactly={exactly.value} />}
    </section>
  );
}
