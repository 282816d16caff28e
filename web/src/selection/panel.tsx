/** The tab of the selected area: aggregates of what is in it, by kind, each with the SQL that computed it. */

import "./selection.css";
import { useMemo } from "preact/hooks";
import { api } from "../api/api";
import type { AreaTable } from "../api/types";
import { openFlame } from "../flame/state";
import { exactly, toggleExactly } from "../query/exactly";
import { Fault } from "../query/fault";
import { Grid } from "../query/grid";
import { openInSql } from "../query/runs";
import { tableOfRows } from "../query/table";
import { tabKeys } from "../query/tabkeys";
import { area, type Area, show } from "../state/view";
import { whole } from "../text/amounts";
import { briefTime, exactTime } from "../text/times";
import { titleShown, requestOf, selection } from "./state";
import { sumsOf } from "./sums";

export function SelectionPanel() {
  const chosen = area.value;
  if (!chosen) {
    return <p class="empty">Drag over the timeline with Shift, or along the ruler, to select an area: what is in it is added up here.</p>;
  }
  const { tables = null, error = null } = selection.value ?? {};
  const shown = tables?.find((table) => table.title === titleShown.value) ?? tables?.[0];
  return (
    <div class="area">
      <div class="area-bar">
        <strong title={`${exactTime(chosen.from)} to ${exactTime(chosen.to)}`}>{briefTime(chosen.to - chosen.from)}</strong>
        <span class="faint">{`from ${exactTime(Math.round(chosen.from))}`}</span>
        {tables && tables.length > 0 && (
          <span class="segments" role="tablist" aria-label="Kinds of tracks" onKeyDown={tabKeys}>
            {tables.map((table, place) => (
              <button
                key={table.title}
                type="button"
                role="tab"
                id={`area-tab-${place}`}
                aria-selected={table === shown}
                aria-controls="area-table"
                tabIndex={table === shown ? 0 : -1}
                onClick={() => (titleShown.value = table.title)}
              >
                {table.title} <span class="faint">{`${whole(table.rows.length)}${table.complete ? "" : "+"}`}</span>
              </button>
            ))}
          </span>
        )}
        <span class="grow" />
        <button type="button" onClick={() => zoomTo(chosen)}>Zoom to selection</button>
        {shown && <FlameButton chosen={chosen} table={shown} />}
        {shown && <button type="button" onClick={() => openInSql(shown.sql)}>Open in SQL</button>}
        <button type="button" aria-pressed={exactly.value} onClick={toggleExactly}>Exact</button>
        <button type="button" onClick={() => (area.value = null)}>Clear</button>
      </div>
      {error && <Fault error={error} />}
      {!tables && !error && <p class="empty" role="status"><span class="spinner" aria-hidden="true" /> adding up…</p>}
      {tables?.length === 0 && <p class="empty">The selected tracks have nothing in this time.</p>}
      {shown && <Shown key={shown.title} table={shown} place={tables!.indexOf(shown)} />}
    </div>
  );
}

export function zoomTo(chosen: Area): void {
  const room = (chosen.to - chosen.from) * 0.03;
  show({ from: chosen.from - room, to: chosen.to + room });
}

function FlameButton({ chosen, table }: { readonly chosen: Area; readonly table: AreaTable }) {
  const { kind, event } = table;
  const of = kind === "samples" ? "samples" : "slices";
  const can = api().live && (kind === "slices" || kind === "samples");
  return (
    <button type="button" disabled={!can} onClick={() => void openFlame({ ...requestOf(chosen), of, event })}>Flame graph of this</button>
  );
}

function Shown({ table, place }: { readonly table: AreaTable; readonly place: number }) {
  const model = useMemo(() => tableOfRows(table), [table]);
  const foot = useMemo(() => sumsOf(model, exactly.value), [model, exactly.value]);
  return (
    <div class="area-table" id="area-table" role="tabpanel" aria-labelledby={`area-tab-${place}`}>
      {!table.complete && <p class="area-note">{`The first ${whole(table.rows.length)} rows; Open in SQL has all of them.`}</p>}
      <Grid table={model} label={table.title} exactly={exactly.value} foot={foot ?? undefined} />
    </div>
  );
}
