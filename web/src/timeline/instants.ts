import { fitted, FONT, LABEL_SIZE } from "./labels";
import type { Frame, FrameRow } from "./renderer";

const MOST_NAMES = 150;
const HALF = 4;

/** Draws moments: a line with a head for each cell, and its name or count where there is room to the next. */
export function drawInstants(context: CanvasRenderingContext2D, frame: Frame, rows: readonly FrameRow[]): void {
  let names = 0;
  context.font = `${LABEL_SIZE * frame.ratio}px ${FONT}`;
  context.textBaseline = "middle";
  for (const row of rows) {
    if (row.drawn?.kind !== "instants") continue;
    const found = momentsOf(frame, row);
    drawHeads(context, frame, row, found);
    if (row.group) continue;
    context.fillStyle = frame.palette.of.ink;
    for (let at = 0; at < found.length && names < MOST_NAMES; at++) {
      const { x, name, count } = found[at]!;
      const room = ((found[at + 1]?.x ?? frame.width * frame.ratio) - x) / frame.ratio - HALF * 2 - 6;
      if (room < 24 || x < -20) continue;
      const text = fitted(count > 1 ? `${name ?? ""} ×${count.toLocaleString("en")}` : (name ?? ""), room);
      if (!text) continue;
      names++;
      context.fillText(text, x + (HALF + 3) * frame.ratio, (row.top + row.height / 2) * frame.ratio);
    }
  }
}

interface Moment {
  readonly x: number;
  readonly name: string | null;
  readonly count: number;
  readonly fill: number;
}

function momentsOf(frame: Frame, row: FrameRow): Moment[] {
  const scale = (frame.width * frame.ratio) / (frame.to - frame.from);
  const found: Moment[] = [];
  for (const piece of row.pieces) {
    const { cells, fills } = piece.block.batch;
    let last = -Infinity;
    for (let at = piece.block.begin; at < piece.block.end; at++) {
      const time = cells.from[at]! + piece.shift;
      if (time < piece.clipFrom || time >= piece.clipTo) continue;
      const x = Math.round((time - frame.from) * scale);
      if (x < -200 || x > frame.width * frame.ratio + 10 || x === last) continue;
      last = x;
      const name = cells.name[at]!;
      found.push({ x, name: name < 0 ? null : cells.names[name]!, count: cells.count[at]!, fill: fills[at]! });
    }
  }
  return found.sort((a, b) => a.x - b.x);
}

function drawHeads(context: CanvasRenderingContext2D, frame: Frame, row: FrameRow, found: readonly Moment[]): void {
  const { ratio } = frame;
  const half = HALF * ratio;
  const top = (row.top + 3) * ratio;
  const height = (row.height - 6) * ratio;
  const middle = top + height / 2;
  const crowded = found.length > frame.width / 6;
  const byFill = new Map<number, Moment[]>();
  for (const moment of found) {
    const same = byFill.get(moment.fill);
    if (same) same.push(moment);
    else byFill.set(moment.fill, [moment]);
  }
  for (const [fill, moments] of byFill) {
    context.fillStyle = frame.palette.fills[fill]!;
    if (crowded) {
      for (const { x } of moments) context.fillRect(x, top, Math.max(ratio, 1), height);
      continue;
    }
    context.strokeStyle = frame.palette.of.tick;
    context.lineWidth = ratio;
    context.beginPath();
    for (const { x } of moments) {
      context.moveTo(x, middle - half);
      context.lineTo(x + half, middle);
      context.lineTo(x, middle + half);
      context.lineTo(x - half, middle);
      context.closePath();
    }
    context.fill();
    context.stroke();
  }
}
