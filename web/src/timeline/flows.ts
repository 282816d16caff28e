import type { FlowEnd, SliceDetails } from "../api/types";
import { fromTime } from "../state/session";
import { offsetOf } from "../state/tracks";
import { details, selected } from "../state/view";
import type { Palette } from "../theme/colours";
import { nearestPlace, xOf } from "./hits";

interface Point {
  readonly x: number;
  readonly y: number;
}

/** Draws what flows into and out of the selected slice as curves with heads. */
export function drawFlows(context: CanvasRenderingContext2D, colours: Palette): void {
  const found = details.value;
  if (!found || selected.value?.row !== found.row || selected.value.track !== found.track) return;
  if (!found.flows.in.length && !found.flows.out.length) return;
  context.strokeStyle = colours.of.flow;
  context.fillStyle = colours.of.flow;
  context.lineWidth = 1.5;
  const own = ownPoint(found);
  if (!own) return;
  for (const flow of found.flows.in) curve(context, pointOf(flow, own), { x: own.from, y: own.y });
  for (const flow of found.flows.out) curve(context, { x: own.from, y: own.y }, pointOf(flow, own));
}

function ownPoint(found: SliceDetails): { from: number; y: number } | null {
  const at = nearestPlace(found.track, found.lane);
  if (!at) return null;
  return { from: xOf(fromTime(found.from) + offsetOf(found.track)), y: at.top + at.height / 2 };
}

function pointOf(end: FlowEnd, own: { y: number }): Point | null {
  const offset = end.track === null ? 0 : offsetOf(end.track);
  const at = end.track === null ? null : nearestPlace(end.track, 0);
  return { x: xOf(fromTime(end.from) + offset), y: at ? at.top + at.height / 2 : own.y + 40 };
}

function curve(context: CanvasRenderingContext2D, from: Point | null, to: Point | null): void {
  if (!from || !to) return;
  const bend = Math.max(Math.min(Math.abs(to.x - from.x) / 2, 120), 24);
  context.beginPath();
  context.moveTo(from.x, from.y);
  context.bezierCurveTo(from.x + bend, from.y, to.x - bend, to.y, to.x - 5, to.y);
  context.stroke();
  context.beginPath();
  context.moveTo(to.x, to.y);
  context.lineTo(to.x - 7, to.y - 4);
  context.lineTo(to.x - 7, to.y + 4);
  context.closePath();
  context.fill();
}
