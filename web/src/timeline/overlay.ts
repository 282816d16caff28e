import { area, known, marks, viewport } from "../state/view";
import { fromTime } from "../state/session";
import { critical, hover, matchAt, matches, matchTimes, rowTime } from "../state/found";
import { byId, offsetOf } from "../state/tracks";
import { palette, type Palette } from "../theme/colours";
import { isDark } from "../state/theme";
import { layout, pinnedLayout } from "../tracks/layout";
import { canvasHeight, canvasWidth } from "../tracks/scroll";
import { drawFlows } from "./flows";
import { nearestPlace, placeOf, xOf } from "./hits";

const MOST_MATCHES = 4000;

/** Whether there is anything to draw: a canvas that is not shown costs nothing. */
function anything(): boolean {
  const drawn = hover.value && hover.value.track.kind !== "counter";
  return !!(drawn || rowTime.value || known.value || area.value || critical.value || marks.value.length || matches.value.length);
}

/** Draws what lies on the tracks: selections, marks, matches and flows. */
export function drawOverlay(canvas: HTMLCanvasElement): void {
  canvas.hidden = !anything();
  if (canvas.hidden) return;
  const ratio = devicePixelRatio || 1;
  const width = Math.max(Math.round(canvasWidth.value * ratio), 1);
  const height = Math.max(Math.round(canvasHeight.value * ratio), 1);
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const context = canvas.getContext("2d");
  if (!context) return;
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, canvasWidth.value, canvasHeight.value);
  const colours = palette(isDark.value);
  drawMatches(context, colours);
  drawArea(context, colours);
  drawRowTime(context, colours);
  drawCritical(context, colours);
  drawHover(context, colours);
  drawSelected(context, colours);
  drawFlows(context, colours);
  drawMarks(context, colours);
}

function drawArea(context: CanvasRenderingContext2D, colours: Palette): void {
  const chosen = area.value;
  if (!chosen) return;
  const x0 = xOf(chosen.from);
  const x1 = Math.max(xOf(chosen.to), x0 + 1);
  const height = canvasHeight.value;
  context.fillStyle = colours.of.accent;
  context.globalAlpha = 0.12;
  if (chosen.tracks) {
    for (const id of chosen.tracks) {
      for (const part of [pinnedLayout.value, layout.value]) {
        const place = part.places.get(id);
        const row = place === undefined ? undefined : part.rows[place];
        const top = row ? placeOf(id, 0) : null;
        if (row && top) context.fillRect(x0, top.top - 3, x1 - x0, row.height);
        if (row) break;
      }
    }
    context.globalAlpha = 0.05;
  }
  context.fillRect(x0, 0, x1 - x0, height);
  context.globalAlpha = 0.9;
  context.fillRect(Math.round(x0) - 1, 0, 1, height);
  context.fillRect(Math.round(x1), 0, 1, height);
  context.globalAlpha = 1;
}

function drawRowTime(context: CanvasRenderingContext2D, colours: Palette): void {
  const range = rowTime.value;
  if (!range) return;
  const x0 = Math.max(xOf(range.from), -2);
  const x1 = Math.min(Math.max(xOf(range.to), x0 + 1), canvasWidth.value + 2);
  const height = canvasHeight.value;
  context.fillStyle = colours.of.found;
  context.globalAlpha = 0.16;
  context.fillRect(x0, 0, x1 - x0, height);
  context.globalAlpha = 1;
  context.strokeStyle = colours.of.found;
  context.lineWidth = 1;
  context.setLineDash([4, 3]);
  context.beginPath();
  for (const x of [Math.round(x0) + 0.5, Math.round(x1) - 0.5]) {
    context.moveTo(x, 0);
    context.lineTo(x, height);
  }
  context.stroke();
  context.setLineDash([]);
}

function drawMatches(context: CanvasRenderingContext2D, colours: Palette): void {
  const found = matches.value;
  if (!found.length) return;
  const times = matchTimes.value;
  const { from, to } = viewport.value;
  context.fillStyle = colours.of.found;
  context.strokeStyle = colours.of.found;
  let drawn = 0;
  found.forEach((match, place) => {
    const time = times[place]! + offsetOf(match.track);
    const end = time + Number(match.duration);
    if (end < from || time > to || drawn++ > MOST_MATCHES) return;
    const at = placeOf(match.track, match.lane);
    if (!at?.shown) return;
    const x = Math.max(xOf(time), -2);
    const wide = Math.max(Math.min(xOf(end), canvasWidth.value + 2) - x, 2);
    const current = place === matchAt.value;
    context.globalAlpha = current ? 0.45 : 0.25;
    context.fillRect(x, at.top, wide, Math.max(at.height - 1, 2));
    context.globalAlpha = 1;
    context.lineWidth = current ? 2 : 1;
    context.strokeRect(x + 0.5, at.top + 0.5, Math.max(wide - 1, 1), Math.max(at.height - 2, 1));
  });
}

function drawHover(context: CanvasRenderingContext2D, colours: Palette): void {
  const hit = hover.value;
  if (!hit || hit.track.kind === "counter") return;
  const at = placeOf(hit.track.id, hit.lane);
  if (!at?.shown) return;
  if (hit.track.kind === "instants") {
    context.strokeStyle = colours.of.ink;
    context.lineWidth = 1.5;
    context.beginPath();
    context.arc(xOf(hit.from), at.top + at.height / 2, 7, 0, Math.PI * 2);
    context.stroke();
    return;
  }
  const x = Math.max(xOf(hit.from), -2);
  const wide = Math.max(Math.min(xOf(hit.from + hit.duration), canvasWidth.value + 2) - x, 1);
  context.fillStyle = colours.dark ? "#ffffff" : "#000000";
  context.globalAlpha = 0.14;
  context.fillRect(x, at.top, wide, Math.max(at.height - 1, 2));
  context.globalAlpha = 1;
}

function outline(context: CanvasRenderingContext2D, x: number, y: number, wide: number, high: number): void {
  context.strokeRect(x, y, Math.max(wide, 3), Math.max(high, 3));
}

function drawSelected(context: CanvasRenderingContext2D, colours: Palette): void {
  const found = known.value;
  if (!found) return;
  const at = placeOf(found.track, found.lane);
  if (!at?.shown) return;
  const time = fromTime(found.from) + offsetOf(found.track);
  const x = Math.max(xOf(time), -4);
  const wide = Math.min(xOf(time + Number(found.duration)), canvasWidth.value + 4) - x;
  context.lineWidth = 2;
  context.strokeStyle = colours.of.ink;
  if (byId.value.get(found.track)?.kind === "instants") outline(context, x - 6, at.top, 12, at.height);
  else outline(context, x, at.top, wide, at.height - 1);
}

function drawCritical(context: CanvasRenderingContext2D, colours: Palette): void {
  const path = critical.value;
  if (!path) return;
  context.strokeStyle = colours.of.critical;
  context.fillStyle = colours.of.critical;
  let before: { x: number; y: number } | null = null;
  for (const step of path.steps) {
    const at = step.track === null ? null : nearestPlace(step.track, 0);
    if (!at || step.track === null) continue;
    const time = fromTime(step.from) + offsetOf(step.track);
    const x0 = xOf(time);
    const x1 = xOf(time + Number(step.duration));
    const y = at.top + at.height - 3;
    context.fillRect(Math.max(x0, -4), y, Math.max(Math.min(x1, canvasWidth.value + 4) - Math.max(x0, -4), 1), 3);
    if (before) {
      context.lineWidth = 1.5;
      context.beginPath();
      context.moveTo(before.x, before.y);
      context.lineTo(x0, y + 1.5);
      context.stroke();
    }
    before = { x: x1, y: y + 1.5 };
  }
}

function drawMarks(context: CanvasRenderingContext2D, colours: Palette): void {
  context.fillStyle = colours.of.found;
  for (const mark of marks.value) context.fillRect(Math.round(xOf(mark.at)), 0, 1.5, canvasHeight.value);
}
