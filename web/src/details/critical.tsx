import type { CriticalPath } from "../api/types";
import { showPanel } from "../state/panels";
import { critical } from "../state/found";
import { fromTime } from "../state/session";
import { byId, offsetOf } from "../state/tracks";
import { queryText } from "../state/view";
import { briefTime, exactTime } from "../text/times";
import { choose } from "../timeline/choose";
import { bringIntoView } from "../timeline/motion";
import { scrollToTrack } from "../tracks/scroll";

/** The steps that led to the selected slice, in order of time. */
export function Critical({ path }: { path: CriticalPath }) {
  return (
    <section class="critical" aria-label="Critical path">
      <h3>
        Critical path ({path.steps.length})
        <button type="button" class="link" onClick={() => { queryText.value = path.sql; showPanel("sql"); }}>query</button>
        <button type="button" class="icon" aria-label="Close" onClick={() => (critical.value = null)}>✕</button>
      </h3>
      {!path.steps.length && <p class="hint">No wake-ups are known that led here.</p>}
      <table class="plain-table">
        <thead><tr><th>from</th><th>for</th><th>thread</th><th>state</th><th>what</th></tr></thead>
        <tbody>
          {path.steps.map((step, place) => (
            <tr key={place}>
              <td><button type="button" class="link" onClick={() => visit(step)}>{exactTime(fromTime(step.from))}</button></td>
              <td class="number">{briefTime(Number(step.duration))}</td>
              <td>{step.tid ?? ""}{step.track !== null && ` ${byId.value.get(byId.value.get(step.track)?.parent ?? "")?.name ?? ""}`}</td>
              <td>{step.state ?? ""}</td>
              <td>{step.name ?? ""}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

function visit(step: CriticalPath["steps"][number]): void {
  if (step.track === null) return;
  scrollToTrack(step.track);
  const from = fromTime(step.from) + offsetOf(step.track);
  bringIntoView({ from, to: from + Number(step.duration) });
  if (step.row !== null) {
    const path = critical.value;
    choose(step.track, step.row);
    critical.value = path;
  }
}
