/** The report that runs on the page: its statements as they end, and the tracks made of their results. */

import { computed, effect, signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, isAbort, type ReportLine, type TrackId } from "../api/types";
import { removeMade } from "../query/made";
import { headingOf } from "../query/titles";
import { isNumeric } from "../query/values";
import { panelHeight, showPanel } from "../state/panels";
import { running, session } from "../state/session";
import { addTracks, loaded, pins, tracks } from "../state/tracks";

export interface Statement {
  readonly line: ReportLine;
  /** The tracks of its result, as far as they are made. */
  readonly tracks: readonly TrackId[];
  readonly refused: string | null;
}

export interface Report {
  readonly name: string;
  readonly text: string;
  readonly state: "running" | "done" | "stopped" | "failed";
  readonly statements: readonly Statement[];
  readonly error: ApiError | null;
}

export const report = signal<Report | null>(null);

export const counts = computed(() => {
  const lines = report.value?.statements.map((statement) => statement.line) ?? [];
  const asserts = lines.filter((line) => line.kind === "assert");
  return {
    passed: asserts.filter((line) => line.passed).length,
    failed: asserts.filter((line) => !line.passed).length,
    errors: lines.filter((line) => line.kind === "error").length,
    results: lines.filter((line) => line.kind === "result").length,
  };
});

let stop = new AbortController();
/** Tracks are made one after the other, so that they stand in the report's order. */
let making: Promise<void> = Promise.resolve();

/** Runs a report and opens its tab: at once, or if it was not asked for here, as soon as there is something to see. */
export async function runReport(name: string, text: string, asked = true): Promise<void> {
  stop.abort();
  stop = new AbortController();
  const { signal: stopped } = stop;
  const old = report.value?.statements.flatMap((statement) => statement.tracks) ?? [];
  report.value = { name, text, state: "running", statements: [], error: null };
  let open = asked;
  if (asked) openTab();
  making = making.then(() => removeMade(old));
  const set = (changed: Partial<Report>): void => {
    if (!stopped.aborted || changed.state === "stopped") report.value = { ...report.value!, ...changed };
  };
  try {
    await running(`report ${name}`, (all) =>
      api().report({ text, name }, (line) => {
        if (stopped.aborted) return;
        if (!open && line.kind !== "done") openTab();
        open ||= line.kind !== "done";
        take(line, stopped);
      }, AbortSignal.any([all, stopped])));
    set({ state: "done" });
  } catch (error) {
    if (isAbort(error)) {
      if (stop.signal === stopped) set({ state: "stopped" });
    } else set({ state: "failed", error: error instanceof ApiError ? error : new ApiError(0, String(error)) });
  }
}

function openTab(): void {
  panelHeight.value = Math.max(panelHeight.value, Math.round(innerHeight * 0.5));
  showPanel("report");
}

export function stopReport(): void {
  stop.abort();
}

function take(line: ReportLine, stopped: AbortSignal): void {
  const now = report.value!;
  const place = now.statements.length;
  report.value = { ...now, statements: [...now.statements, { line, tracks: [], refused: null }] };
  if (line.kind === "result" && (line.tablekind === "span" || line.tablekind === "event")) {
    making = making.then(() => (stopped.aborted ? undefined : makeTrack(place, line)));
  }
}

async function makeTrack(place: number, line: ReportLine): Promise<void> {
  const texts = line.table?.columns.filter((column) => !isNumeric(column.type)) ?? [];
  const name = (texts.find((column) => column.name === "name") ?? texts[0])?.name;
  let made: Partial<Statement>;
  try {
    const there = madeBefore(line.statement);
    const added = there ?? (await addTracks({ sql: line.statement, title: headingOf(line.statement), ...(name !== undefined && { name }) })).map((track) => track.id);
    made = { tracks: added };
  } catch (error) {
    made = { refused: error instanceof Error ? error.message : String(error) };
  }
  const now = report.value!;
  report.value = { ...now, statements: now.statements.map((each, i) => (i === place ? { ...each, ...made } : each)) };
}

/** A page that is loaded again finds the tracks that its report made the first time. */
function madeBefore(sql: string): TrackId[] | null {
  const found = tracks.value.filter((track) => track.mount === null && track.source?.trim() === sql.trim());
  if (found.length === 0) return null;
  const ids = found.map((track) => track.id);
  const shown = found.filter((track) => track.kind !== "group").map((track) => track.id);
  pins.value = [...pins.value, ...shown.filter((id) => !pins.value.includes(id))];
  return ids;
}

/** Runs the report that the session was started with, once its traces are there. */
export function runGivenReport(): void {
  let ran = false;
  effect(() => {
    const found = session.value;
    if (ran || !loaded.value || !found?.report || !api().live || found.mounts.some((mount) => mount.state === "mounting")) return;
    ran = true;
    const { name, text } = found.report;
    queueMicrotask(() => void runReport(name, text, false));
  });
}
