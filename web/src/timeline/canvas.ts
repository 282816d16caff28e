import { FILL_COUNT } from "../theme/colours";
import { laneHeight, LANE_TOP } from "../tracks/layout";
import { drawCounters } from "./counters";
import { drawInstants } from "./instants";
import { fitted, FONT, LABEL_SIZE } from "./labels";
import type { Piece } from "./pieces";
import { Rectangles } from "./rectangles";
import type { Band, Frame, FrameRow, Renderer } from "./renderer";

interface Label {
  readonly text: string;
  readonly x: number;
  readonly y: number;
  readonly room: number;
  readonly fill: number;
  readonly pale: boolean;
}

const MOST_LABELS = 500;
const LEAST_LABEL_LANE = 11;
const LEAST_LABEL = 26;
const PALE = FILL_COUNT;

/** Draws on a 2D canvas, in device pixels; names are only written where they fit. */
export class CanvasRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  private readonly rectangles = new Rectangles(FILL_COUNT * 2);
  private labels: Label[] = [];

  constructor(private readonly canvas: HTMLCanvasElement) {
    const context = canvas.getContext("2d", { alpha: false });
    if (!context) throw new Error("this browser has no 2D canvas");
    this.context = context;
  }

  draw(frame: Frame): void {
    const width = Math.max(Math.round(frame.width * frame.ratio), 1);
    const height = Math.max(Math.round(frame.height * frame.ratio), 1);
    if (this.canvas.width !== width) this.canvas.width = width;
    if (this.canvas.height !== height) this.canvas.height = height;
    const { context } = this;
    context.fillStyle = frame.palette.of.background;
    context.fillRect(0, 0, width, height);
    for (const band of frame.bands) {
      context.save();
      context.beginPath();
      context.rect(0, Math.round(band.top * frame.ratio), width, Math.round(band.height * frame.ratio));
      context.clip();
      this.drawBand(frame, band);
      context.restore();
    }
  }

  private drawBand(frame: Frame, band: Band): void {
    const { context } = this;
    this.rectangles.clear();
    this.labels = [];
    this.drawGround(frame, band);
    for (const row of band.rows) {
      const kind = row.drawn?.kind;
      if (kind === "slices" || kind === "states") for (const piece of row.pieces) this.addSpans(frame, row, piece);
    }
    const { fills, pales } = frame.palette;
    this.rectangles.draw(context, (place) => (place < PALE ? fills[place]! : pales[place - PALE]!));
    drawCounters(context, frame, band.rows);
    if (frame.labels) this.drawLabels(frame);
    drawInstants(context, frame, band.rows);
  }

  private drawGround(frame: Frame, band: Band): void {
    const { context } = this;
    const { ratio } = frame;
    const width = frame.width * ratio;
    const line = Math.max(Math.round(ratio), 1);
    context.fillStyle = frame.palette.of["band-inner"];
    for (const row of band.rows) {
      if (row.group) context.fillRect(0, Math.round(row.top * ratio), width, Math.round(row.height * ratio));
    }
    context.fillStyle = frame.palette.of.grid;
    const scale = width / (frame.to - frame.from);
    for (const time of frame.gridTimes) {
      context.fillRect(Math.round((time - frame.from) * scale), band.top * ratio, line, band.height * ratio);
    }
    for (const row of band.rows) context.fillRect(0, Math.round((row.top + row.height) * ratio) - line, width, line);
  }

  private addSpans(frame: Frame, row: FrameRow, piece: Piece): void {
    const { ratio, from } = frame;
    const { cells, fills } = piece.block.batch;
    const { shift, skipBefore } = piece;
    const scale = (frame.width * ratio) / (frame.to - from);
    const left = Math.max(Math.round((piece.clipFrom - from) * scale), -2);
    const right = Math.min(Math.round((piece.clipTo - from) * scale), Math.ceil(frame.width * ratio) + 2);
    const lane = row.group ? row.height - 14 : laneHeight(row.drawn!, row.height);
    const top = row.group ? row.top + 7 : row.top + LANE_TOP;
    const gap = Math.max(Math.round(ratio), 1);
    const high = row.group ? Math.round(lane * ratio) : Math.max(Math.round(lane * ratio) - (lane >= 6 ? gap : 0), 1);
    const labelled = frame.labels && !row.group && lane >= LEAST_LABEL_LANE;
    const leastLabel = LEAST_LABEL * ratio;
    let lastLane = -1;
    let lastEnd = -Infinity;
    let lastColour = -1;
    let lastNarrow = false;
    let y = 0;
    for (let at = piece.block.begin; at < piece.block.end; at++) {
      const begin = cells.from[at]! + shift;
      if (begin < skipBefore) continue;
      let x0 = Math.round((begin - from) * scale);
      if (x0 >= right) continue;
      let x1 = Math.round((begin + cells.duration[at]! - from) * scale);
      if (x1 <= x0) x1 = x0 + 1;
      if (x1 <= left) continue;
      if (x0 < left) x0 = left;
      if (x1 > right) x1 = right;
      const inLane = cells.lane[at]!;
      if (inLane !== lastLane) {
        lastLane = inLane;
        lastEnd = -Infinity;
        lastColour = -1;
        y = Math.round((top + (row.group ? 0 : inLane * lane)) * ratio);
        if (row.group && inLane > 0) break;
      } else if (x0 < lastEnd) {
        x0 = lastEnd;
        if (x1 <= x0) continue;
      }
      const several = cells.count[at]! > 1;
      const pale = several && cells.total[at]! * 2 < cells.duration[at]!;
      const fill = fills[at]!;
      const colour = pale || row.group ? fill + PALE : fill;
      const wide = x1 - x0;
      if (lastNarrow && colour === lastColour && x0 === lastEnd && wide < 4) this.rectangles.widen(colour, x1);
      else {
        this.rectangles.add(colour, x0, y, wide >= 4 * gap ? wide - gap : wide, high);
        lastNarrow = wide < 4 * gap;
      }
      lastColour = colour;
      lastEnd = x1;
      if (labelled && wide >= leastLabel && this.labels.length < MOST_LABELS) {
        const name = cells.name[at]!;
        const x = Math.max(x0, 0);
        const room = Math.min(x1, frame.width * ratio) - x;
        if (name >= 0 && room >= leastLabel) {
          this.labels.push({ text: cells.names[name]!, x, y: y + high / 2, room, fill, pale: colour >= PALE });
        }
      }
    }
  }

  private drawLabels(frame: Frame): void {
    const { context } = this;
    const { ratio, palette } = frame;
    context.font = `${LABEL_SIZE * ratio}px ${FONT}`;
    context.textBaseline = "middle";
    const groups = new Map<string, Label[]>();
    for (const label of this.labels) {
      const ink = label.pale ? palette.of["on-pale"] : palette.inks[label.fill]!;
      const same = groups.get(ink);
      if (same) same.push(label);
      else groups.set(ink, [label]);
    }
    for (const [ink, labels] of groups) {
      context.fillStyle = ink;
      for (const { text, x, y, room } of labels) {
        const part = fitted(text, room / ratio - 8);
        if (part) context.fillText(part, x + 4 * ratio, y + 0.5 * ratio);
      }
    }
  }
}
