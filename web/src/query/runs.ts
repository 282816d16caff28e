/** Queries that run and their results, as tabs of the SQL panel. */

import { signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, isAbort, type Fault, type QueryResult } from "../api/types";
import { showPanel } from "../state/panels";
import { running } from "../state/session";
import { queryText } from "../state/view";
import { remember } from "./history";
import { tableOfResult } from "./result";
import type { Table } from "./table";

export interface Outcome {
  readonly result: QueryResult;
  readonly table: Table;
}

export interface Run {
  readonly id: number;
  readonly sql: string;
  readonly title: string;
  readonly state: "running" | "done" | "failed" | "stopped";
  readonly outcome: Outcome | null;
  readonly error: ApiError | null;
  /** Milliseconds from asking until the answer was read. */
  readonly took: number;
  readonly view: "table" | "plot";
}

const MOST = 8;
const LIMIT = 10_000;

export const runs = signal<readonly Run[]>([]);
export const activeRun = signal<number | null>(null);
/** The error of the last run, at its place in the editor's text. */
export const fault = signal<Fault | null>(null);

const stops = new Map<number, AbortController>();
let last = 0;

export function change(id: number, changed: Partial<Run>): void {
  runs.value = runs.value.map((run) => (run.id === id ? { ...run, ...changed } : run));
}

/** Puts SQL into the editor; what stood there stays in the history. */
export function openInSql(sql: string): void {
  remember(queryText.value);
  queryText.value = sql;
  showPanel("sql");
}

/** Runs SQL that stands at `start` of the editor's text. */
export async function runSql(sql: string, start = 0, limit = LIMIT): Promise<void> {
  if (!sql.trim()) return;
  remember(sql);
  fault.value = null;
  const run = begin(sql);
  const stop = new AbortController();
  stops.set(run.id, stop);
  const started = performance.now();
  const took = (): number => performance.now() - started;
  try {
    const result = await running("query", (signal) => api().query({ sql, limit }, AbortSignal.any([signal, stop.signal])));
    change(run.id, { state: "done", outcome: { result, table: tableOfResult(result) }, took: took() });
  } catch (error) {
    if (isAbort(error) || (error instanceof ApiError && error.status === 409)) change(run.id, { state: "stopped", took: took() });
    else {
      const told = error instanceof ApiError ? error : new ApiError(0, String(error));
      change(run.id, { state: "failed", error: told, took: took() });
      if (told.place && run.id === last) fault.value = faultAt(told, start);
    }
  } finally {
    stops.delete(run.id);
  }
}

function begin(sql: string): Run {
  const run: Run = {
    id: ++last, sql, title: titleOf(sql), state: "running", outcome: null, error: null, took: 0, view: "table",
  };
  const rest = runs.value.filter((each) => each.state === "done" || each.state === "running");
  for (const dropped of rest.slice(0, Math.max(0, rest.length - MOST + 1))) stopRun(dropped.id);
  runs.value = [...rest.slice(-(MOST - 1)), run];
  activeRun.value = run.id;
  return run;
}

/** What a tab is called: the table that is read, else how the text begins. */
export function titleOf(sql: string): string {
  const text = sql.replace(/--.*|#.*|\/\*[^]*?\*\//g, " ").trim();
  const froms = /^(SELECT|WITH|FROM|\()/i.test(text) ? [...text.matchAll(/\bFROM\s+([\w.`|:-]+)/gi)] : [];
  const found = froms[froms.length - 1]?.[1]?.replaceAll("`", "") ?? text.split(/\s+/).slice(0, 3).join(" ");
  return found.length > 28 ? `…${found.slice(-27)}` : found || "query";
}

function faultAt(error: ApiError, start: number): Fault {
  const place = error.place!;
  return {
    message: error.message, hint: error.hint, start: place.start + start, stop: place.stop + start,
    rendered: error.rendered ?? error.message,
  };
}

/** Puts results back that were saved. */
export function restoreRuns(saved: readonly Pick<Run, "sql" | "title" | "outcome" | "took" | "view">[]): void {
  runs.value = saved.map((run) => ({ ...run, id: ++last, state: "done", error: null }));
  activeRun.value = runs.value[runs.value.length - 1]?.id ?? null;
}

export function stopRun(id: number): void {
  stops.get(id)?.abort();
}

export function stopAll(): void {
  for (const stop of stops.values()) stop.abort();
}

export function closeRun(id: number): void {
  stopRun(id);
  const place = runs.value.findIndex((run) => run.id === id);
  runs.value = runs.value.filter((run) => run.id !== id);
  if (activeRun.value === id) activeRun.value = (runs.value[place] ?? runs.value[place - 1])?.id ?? null;
}
