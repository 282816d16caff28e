import { amount } from "../text/amounts";
import { FONT } from "./labels";
import type { ValueRange } from "./cache";
import type { Piece } from "./pieces";
import type { Frame, FrameRow } from "./renderer";

const TOP = 5;
const BOTTOM = 4;

/** The values that the lower and the upper edge of a counter stand for. */
export function axisOf(range: ValueRange): ValueRange {
  const { min, max } = range;
  if (min >= 0 && (min < max * 0.6 || min === max)) return { min: 0, max: max || 1 };
  if (max <= 0 && max > min * 0.6) return { min, max: 0 };
  const room = (max - min) * 0.1 || Math.abs(max) * 0.1 || 1;
  return { min: min - room, max: max + room };
}

/** Draws counters: the area below the mean, the band of least and largest values, and the line of the mean. */
export function drawCounters(context: CanvasRenderingContext2D, frame: Frame, rows: readonly FrameRow[]): void {
  const counters = rows.filter((row) => row.drawn?.kind === "counter" && row.range);
  if (!counters.length) return;
  const areas: number[] = [];
  const bands: number[] = [];
  context.beginPath();
  for (const row of counters) for (const piece of row.pieces) addCounter(context, frame, row, piece, areas, bands);
  const { of } = frame.palette;
  fillAll(context, of.area, areas);
  fillAll(context, of.range, bands);
  context.strokeStyle = of.line;
  context.lineWidth = Math.max(1.2 * frame.ratio, 1);
  context.lineJoin = "round";
  context.stroke();
  for (const row of counters) if (!row.group && row.height >= 34) drawAxis(context, frame, row);
}

function fillAll(context: CanvasRenderingContext2D, colour: string, rectangles: readonly number[]): void {
  context.fillStyle = colour;
  for (let at = 0; at < rectangles.length; at += 4) {
    context.fillRect(rectangles[at]!, rectangles[at + 1]!, rectangles[at + 2]!, rectangles[at + 3]!);
  }
}

function addCounter(
  context: CanvasRenderingContext2D,
  frame: Frame,
  row: FrameRow,
  piece: Piece,
  areas: number[],
  bands: number[],
): void {
  const { ratio, from } = frame;
  const { cells } = piece.block.batch;
  const scale = (frame.width * ratio) / (frame.to - from);
  const left = Math.max((piece.clipFrom - from) * scale, -4);
  const right = Math.min((piece.clipTo - from) * scale, frame.width * ratio + 4);
  const axis = axisOf(row.range!);
  const base = (row.top + row.height - BOTTOM) * ratio;
  const grow = ((row.height - TOP - BOTTOM) * ratio) / (axis.max - axis.min);
  const zero = base - (Math.min(Math.max(0, axis.min), axis.max) - axis.min) * grow;
  let last = NaN;
  for (let at = piece.block.begin; at < piece.block.end; at++) {
    const begin = cells.from[at]! + piece.shift;
    if (begin < piece.skipBefore) continue;
    const x0 = Math.round(Math.max((begin - from) * scale, left));
    const x1 = Math.round(Math.min((begin + cells.duration[at]! - from) * scale, right));
    const mean = cells.mean[at]!;
    if (x1 < x0 || Number.isNaN(mean)) continue;
    const y = base - (mean - axis.min) * grow;
    const low = base - (cells.min[at]! - axis.min) * grow;
    const high = base - (cells.max[at]! - axis.min) * grow;
    areas.push(x0, Math.min(y, zero), x1 - x0, Math.abs(zero - y));
    if (low - high > 1) bands.push(x0, high, Math.max(x1 - x0, 1), low - high);
    if (x0 <= last + 1) context.lineTo(x0, y);
    else context.moveTo(x0, y);
    context.lineTo(x1, y);
    last = x1;
  }
}

function drawAxis(context: CanvasRenderingContext2D, frame: Frame, row: FrameRow): void {
  const { ratio, palette } = frame;
  const { min, max } = axisOf(row.range!);
  const unit = row.drawn!.unit;
  context.font = `${9.5 * ratio}px ${FONT}`;
  context.textBaseline = "alphabetic";
  const write = (text: string, y: number) => {
    const width = context.measureText(text).width;
    context.globalAlpha = 0.78;
    context.fillStyle = palette.of.background;
    context.fillRect(2 * ratio, y - 9 * ratio, width + 5 * ratio, 11.5 * ratio);
    context.globalAlpha = 1;
    context.fillStyle = palette.of.faint;
    context.fillText(text, 4 * ratio, y);
  };
  write(amount(max, unit), (row.top + TOP + 8) * ratio);
  if (row.height >= 40) write(amount(min, unit), (row.top + row.height - BOTTOM - 1) * ratio);
}
