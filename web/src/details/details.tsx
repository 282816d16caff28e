import type { FlowEnd, SliceColumn, SliceDetails, SliceRef } from "../api/types";
import { runCommand } from "../commands/commands";
import { critical } from "../state/found";
import { showPanel } from "../state/panels";
import { fromTime } from "../state/session";
import { byId, offsetOf } from "../state/tracks";
import { details, detailsFault, known, queryText, selected } from "../state/view";
import { amount, whole } from "../text/amounts";
import { briefTime, exactTime } from "../text/times";
import { goTo, goToRow, toChild, toParent, step } from "../timeline/choose";
import { fit } from "../timeline/motion";
import { Critical } from "./critical";
import { JsonTree } from "./json";
import { calledOf, Seen, valueFields } from "./value";

/** All that is known of the slice that was clicked. */
export function Details() {
  const chosen = selected.value;
  const found = details.value;
  if (!chosen) return <p class="hint padded">Click a slice or a counter, or press <kbd>/</kbd> to search for one.</p>;
  if (!found || found.track !== chosen.track || found.row !== chosen.row) return <Waiting />;
  return (
    <div class="details">
      <Title found={found} />
      <div class="columns">
        <section aria-label="Columns">
          <table class="plain-table fields"><tbody>{rowsOf(found)}</tbody></table>
          {!found.columns.length && <p class="hint">What the track shows has no such row any more: it was changed since.</p>}
        </section>
        <Seen found={found} />
        {found.arguments !== null && (
          <section aria-label="Arguments"><h3>Arguments</h3><JsonTree value={found.arguments} /></section>
        )}
        <Relatives title="Ancestors" track={found.track} refs={found.ancestors} />
        <Relatives title="Children" track={found.track} refs={found.children} count={found.count_children} />
        <Flows title="Flows in" ends={found.flows.in} />
        <Flows title="Flows out" ends={found.flows.out} />
        {critical.value && <Critical path={critical.value} />}
      </div>
    </div>
  );
}

/** What is known before the server has answered. */
function Waiting() {
  const found = known.value;
  const fault = detailsFault.value;
  if (!found) return fault ? <p class="bad padded" role="alert">{fault}</p> : <p class="hint padded" role="status">Asking for the slice…</p>;
  const rows = [["begins at", exactTime(fromTime(found.from) + offsetOf(found.track))], ["lasts", exactTime(Number(found.duration))]];
  return (
    <div class="details">
      <header class="details-title">
        <h2>{found.name ?? "(no name)"}</h2>
        <span class="where">{byId.value.get(found.track)?.name}</span>
        {fault ? <span class="bad" role="alert">{fault}</span> : <span class="spinner" role="status" aria-label="Asking for more" />}
      </header>
      <div class="columns">
        <table class="plain-table fields"><tbody>{rows.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>)}</tbody></table>
      </div>
    </div>
  );
}

function Title({ found }: { found: SliceDetails }) {
  const track = byId.value.get(found.track);
  const showQuery = () => {
    queryText.value = found.sql;
    showPanel("sql");
  };
  return (
    <header class="details-title">
      <h2 title={calledOf(found)}>{calledOf(found)}</h2>
      <span class="where">{track?.name ?? found.track}</span>
      <span class="tools">
        <button type="button" onClick={() => void step("previous")} title="Previous on the track (,)">←</button>
        <button type="button" onClick={() => void step("next")} title="Next on the track (.)">→</button>
        <button type="button" onClick={toParent} disabled={!found.ancestors.length} title="Parent ([)">Parent</button>
        <button type="button" onClick={toChild} disabled={!found.children.length} title="Child (])">Child</button>
        <button type="button" onClick={fit} title="Zoom to it (F)">Fit</button>
        {!found.value && <button type="button" onClick={() => runCommand("critical")} title="Follow wake-ups back (C)">Critical path</button>}
        <button type="button" onClick={showQuery}>Show me the query</button>
      </span>
    </header>
  );
}

function rowsOf(found: SliceDetails) {
  const from = fromTime(found.from) + offsetOf(found.track);
  const lasts = Number(found.duration);
  const first: [string, string][] = [
    ["begins at", exactTime(from)],
    ...(found.value ? [["ends at", exactTime(from + lasts)] as [string, string]] : []),
    ["lasts", exactTime(lasts)],
  ];
  const told = ["_ts", "_duration", ...(found.value ? ["value"] : [])];
  const columns = found.columns.filter((column) => !told.includes(column.name));
  return [
    ...(found.value ? valueFields(found.value) : []),
    ...first.map(([name, value]) => <tr key={name}><th scope="row">{name}</th><td>{value}</td></tr>),
    ...columns.map((column) => (
      <tr key={`:${column.name}`}>
        <th scope="row" title={[column.type, column.unit].filter(Boolean).join(", ")}>{column.name}</th>
        <td><FieldValue column={column} /></td>
      </tr>
    )),
  ];
}

function FieldValue({ column }: { column: SliceColumn }) {
  const { value, unit } = column;
  if (value === null) return <span class="null">null</span>;
  if (typeof value === "object") return <JsonTree value={value} open={1} />;
  if (unit && (typeof value === "number" || /^-?\d+$/.test(String(value)))) {
    return <span title={`${value} ${unit}`}>{amount(Number(value), unit, 6)}</span>;
  }
  return <>{String(value)}</>;
}

function Relatives(props: { title: string; track: string; refs: readonly SliceRef[]; count?: number }) {
  if (!props.refs.length) return null;
  const left = (props.count ?? 0) - props.refs.length;
  return (
    <section aria-label={props.title}>
      <h3>{props.title}{props.count ? ` (${whole(props.count)})` : ""}</h3>
      <ul class="links">
        {props.refs.map((ref) => (
          <li key={ref.row}>
            <button type="button" class="link" onClick={() => goTo(props.track, ref)}>{ref.name ?? "(no name)"}</button>
            <span class="number">{briefTime(Number(ref.duration))}</span>
          </li>
        ))}
      </ul>
      {left > 0 && <p class="hint">and {whole(left)} more</p>}
    </section>
  );
}

function Flows({ title, ends }: { title: string; ends: readonly FlowEnd[] }) {
  if (!ends.length) return null;
  return (
    <section aria-label={title}>
      <h3>{title} ({ends.length})</h3>
      <ul class="links">
        {ends.map((end, place) => (
          <li key={place}>
            {end.track !== null && end.row !== null
              ? <button type="button" class="link" onClick={() => void goToRow(end.track!, end.row!)}>{end.name ?? "(no name)"}</button>
              : <span>{end.name ?? "(no name)"}</span>}
            <span class="hint">{end.track === null ? "" : byId.value.get(end.track)?.name}</span>
            <span class="number">{exactTime(fromTime(end.from))}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
