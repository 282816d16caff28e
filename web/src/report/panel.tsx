/** A report as a page: what each of its statements gave, as they end. */

import "./report.css";
import { useMemo, useRef } from "preact/hooks";
import { api } from "../api/api";
import { ApiError, type Refusal, type Table as JsonTable } from "../api/types";
import { exactly, toggleExactly } from "../query/exactly";
import { Fault, Warnings } from "../query/fault";
import { Grid } from "../query/grid";
import { jumping } from "../query/jump";
import { openInSql } from "../query/runs";
import { tableOfRows } from "../query/table";
import { headingOf } from "../query/titles";
import { byId } from "../state/tracks";
import { scrollToTrack } from "../tracks/scroll";
import { counts, report, runReport, type Statement, stopReport } from "./state";

export function ReportPanel() {
  const file = useRef<HTMLInputElement>(null);
  const now = report.value;
  return (
    <div class="report">
      <div class="report-bar">
        {now && <Verdict />}
        <span class="grow" />
        {now?.state === "running" && <button type="button" onClick={stopReport}>Stop</button>}
        {now && api().live && now.state !== "running" && (
          <button type="button" onClick={() => void runReport(now.name, now.text)}>Run again</button>
        )}
        {now && <button type="button" aria-pressed={exactly.value} onClick={toggleExactly}>Exact</button>}
        <button type="button" disabled={!api().live} onClick={() => file.current?.click()}>Open a report…</button>
        <input
          ref={file}
          type="file"
          accept=".sql"
          hidden
          aria-label="Report"
          onChange={(event) => {
            const chosen = event.currentTarget.files?.[0];
            if (chosen) void chosen.text().then((text) => runReport(chosen.name, text));
            event.currentTarget.value = "";
          }}
        />
      </div>
      {now
        ? (
          <ol class="report-statements" tabIndex={0} aria-label={`Statements of ${now.name}`}>
            {now.statements.map((statement) => <Shown key={statement.line.start} statement={statement} />)}
            {now.error && <li><Fault error={now.error} /></li>}
          </ol>
        )
        : <p class="empty">A report is a file of SQL: its results stand here, its ASSERTs are green or red, and results of spans and events become tracks.</p>}
    </div>
  );
}

function Verdict() {
  const { name, state, statements } = report.value!;
  const ran = statements.length === 1 ? "1 statement ran" : `${statements.length} statements ran`;
  const { passed, failed, errors, results } = counts.value;
  const bad = failed + errors > 0 || state === "failed";
  const words = [
    passed + failed > 0 && `${passed} of ${passed + failed} ${passed + failed === 1 ? "assertion" : "assertions"} passed`,
    errors > 0 && (errors === 1 ? "1 error" : `${errors} errors`),
    results > 0 && (results === 1 ? "1 result" : `${results} results`),
    state === "stopped" && "stopped",
  ].filter(Boolean);
  const mark = state === "running" ? null : bad ? "✗" : state === "stopped" ? "–" : "✓";
  return (
    <span class={`verdict${state === "running" ? "" : bad ? " failed" : " held"}`} role="status">
      {mark === null ? <span class="spinner" aria-hidden="true" /> : <span class="mark" aria-hidden="true">{mark}</span>}
      <strong title={name}>{name.split(/[\\/]/).pop()}</strong> <span>{words.join(", ") || (state === "running" ? "running…" : ran)}</span>
    </span>
  );
}

function Shown({ statement }: { readonly statement: Statement }) {
  const { line, tracks, refused } = statement;
  const there = tracks.filter((id) => byId.value.has(id) && byId.value.get(id)!.kind !== "group");
  const tone = line.kind === "error" || line.passed === false ? " failed" : line.kind === "assert" ? " held" : "";
  return (
    <li class={`statement${tone}`}>
      <details open={line.kind === "error"}>
        <summary>
          {tone && <span class="mark" aria-hidden="true">{tone === " held" ? "✓" : "✗"}</span>}
          <span class="statement-title">{line.kind === "assert" ? (line.message ?? headingOf(line.statement)) : headingOf(line.statement)}</span>
          {line.kind === "assert" && <span class="verdict-word">{line.passed ? "passed" : "failed"}</span>}
          {line.kind === "done" && <span class="faint">{line.message ?? "done"}</span>}
        </summary>
        <pre>{line.statement}</pre>
      </details>
      <div class="statement-tools">
        {there.map((id) => (
          <button key={id} type="button" class="link" onClick={() => scrollToTrack(id)}>
            {`Track: ${byId.value.get(id)!.name}`}
          </button>
        ))}
        {api().live && <button type="button" class="link" onClick={() => openInSql(line.statement)}>Open in SQL</button>}
      </div>
      {line.error && <Fault error={asError(line.error)} />}
      {line.failure && <pre class="failure">{line.failure}</pre>}
      {refused !== null && <p class="error-text">{`No track was made of it: ${refused}`}</p>}
      <Warnings warnings={line.warnings ?? []} />
      {line.table && line.table.columns.length > 0 && <Result table={line.table} title={headingOf(line.statement)} />}
    </li>
  );
}

function asError({ message, hint, rendered, place }: Refusal): ApiError {
  return new ApiError(400, message, hint, rendered, place);
}

const SHOWN_ROWS = 12;

function Result({ table, title }: { readonly table: JsonTable; readonly title: string }) {
  const model = useMemo(() => tableOfRows(table), [table]);
  const jump = useMemo(() => jumping(model), [model]);
  const lines = Math.min(model.rows, SHOWN_ROWS) + 1;
  return (
    <>
      <div class="statement-table" style={{ height: `calc(${lines} * (1.2 * var(--small) + 8px) + 14px)` }}>
        <Grid table={model} label={title} exactly={exactly.value} onRow={jump ?? undefined} />
      </div>
      {!table.complete && <p class="faint">{`The first ${model.rows} rows.`}</p>}
    </>
  );
}
