import { hover, pointer } from "../state/found";
import { amount, whole } from "../text/amounts";
import { exactTime } from "../text/times";
import { canvasHeight, canvasWidth } from "../tracks/scroll";
import type { Hit } from "./hits";

/** Tells what is under the pointer. */
export function Tooltip() {
  const hit = hover.value;
  const at = pointer.value;
  if (!hit || !at) return null;
  const right = at.x > canvasWidth.value - 340;
  const low = at.y > canvasHeight.value - 130;
  const style = {
    left: right ? "auto" : `${at.x + 14}px`,
    right: right ? `${canvasWidth.value - at.x + 12}px` : "auto",
    top: low ? "auto" : `${at.y + 16}px`,
    bottom: low ? `${canvasHeight.value - at.y + 10}px` : "auto",
  };
  return (
    <div class="tooltip" style={style} aria-hidden="true">
      <strong>{hit.track.kind === "counter" ? hit.track.name : (hit.name ?? "(no name)")}</strong>
      <dl>{linesOf(hit).map(([name, value]) => [<dt key={name}>{name}</dt>, <dd key={`${name}:`}>{value}</dd>])}</dl>
    </div>
  );
}

function linesOf(hit: Hit): [string, string][] {
  const { cells, at, track } = hit;
  const unit = track.unit;
  if (track.kind === "counter") {
    const constant = cells.min[at] === cells.max[at];
    return [
      ...(constant
        ? [["value", amount(cells.last[at]!, unit, 6)] as [string, string]]
        : ([["mean", amount(cells.mean[at]!, unit)], ["least", amount(cells.min[at]!, unit)], ["most", amount(cells.max[at]!, unit)]] as [string, string][])),
      ["from", exactTime(hit.from)],
      ["for", exactTime(hit.duration)],
    ];
  }
  if (track.kind === "instants") {
    return [...(hit.count > 1 ? [["moments", whole(hit.count)] as [string, string]] : []), ["at", exactTime(hit.from)]];
  }
  if (hit.count > 1) {
    return [
      [track.kind === "states" ? "states" : "slices", whole(hit.count)],
      ["together", exactTime(cells.total[at]!)],
      ["longest", exactTime(cells.longest[at]!)],
      ...(Number.isNaN(cells.filled[at]!) ? [] : [["in this state", exactTime(cells.filled[at]!)] as [string, string]]),
      ["from", exactTime(hit.from)],
    ];
  }
  return [["duration", exactTime(hit.duration)], ["from", exactTime(hit.from)]];
}
