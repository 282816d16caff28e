import type { Palette } from "../theme/colours";
import { drawCounters } from "./counters";
import { drawInstants } from "./instants";
import { fitted, FONT, LABEL_SIZE } from "./labels";
import { pixelOf, Pixels } from "./lane_pixels";
import type { Band, Frame, FrameRow, Renderer } from "./renderer";
import { paintSpans, type Inks, type Label } from "./spans";

interface Grounds {
  /** A line of a track without cells, of a group, and between rows. */
  readonly track: Uint32Array;
  readonly group: Uint32Array;
  readonly edge: Uint32Array;
}

/**
 * Draws on a 2D canvas in device pixels. Spans are written as lines of pixels: a screen has up to 30,000 of them, and a
 * canvas without a graphics processor takes a millisecond for each thousand rectangles.
 */
export class CanvasRenderer implements Renderer {
  private readonly context: CanvasRenderingContext2D;
  private readonly pixels = new Pixels();
  private readonly lines: Uint32Array[] = [];
  private inks: { palette: Palette; inks: Inks } | null = null;

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
    this.pixels.resize(width, height);
    const grounds = groundsOf(frame, width);
    const labels = frame.bands.map((band) => this.paintBand(frame, band, grounds));
    const { context } = this;
    context.putImageData(this.pixels.image, 0, 0);
    frame.bands.forEach((band, place) => {
      context.save();
      context.beginPath();
      context.rect(0, Math.round(band.top * frame.ratio), width, Math.round(band.height * frame.ratio));
      context.clip();
      drawCounters(context, frame, band.rows);
      drawLabels(context, frame, labels[place]!);
      drawInstants(context, frame, band.rows);
      context.restore();
    });
  }

  private paintBand(frame: Frame, band: Band, grounds: Grounds): Label[] {
    const { ratio } = frame;
    const top = Math.round(band.top * ratio);
    const bottom = Math.round((band.top + band.height) * ratio);
    const labels: Label[] = [];
    let y = top;
    for (const row of band.rows) {
      const end = Math.round((row.top + row.height) * ratio);
      const edge = Math.max(Math.round(ratio), 1);
      const ground = row.group ? grounds.group : grounds.track;
      const kind = row.drawn?.kind;
      if (kind === "slices" || kind === "states") y = this.paintRow(frame, row, ground, y, bottom, labels);
      this.pixels.copy(ground, y, Math.min(end - edge, bottom));
      this.pixels.copy(grounds.edge, Math.max(end - edge, top), Math.min(end, bottom));
      y = Math.max(end, top);
    }
    this.pixels.copy(grounds.track, y, bottom);
    return labels;
  }

  /** Paints lanes and the ground between them, from `top` on; returns where it has come to. */
  private paintRow(frame: Frame, row: FrameRow, ground: Uint32Array, top: number, bottom: number, labels: Label[]): number {
    const used: boolean[] = [];
    const lines = (lane: number): Uint32Array => {
      let line = this.lines[lane];
      if (line?.length !== ground.length) this.lines[lane] = line = new Uint32Array(ground.length);
      if (!used[lane]) line.set(ground);
      used[lane] = true;
      return line;
    };
    const lanes = paintSpans(frame, row, this.inksOf(frame.palette), lines, labels);
    let painted = top;
    used.forEach((_, lane) => {
      const y = Math.round((lanes.top + lane * lanes.lane) * frame.ratio);
      const end = Math.min(y + lanes.high, bottom);
      this.pixels.copy(ground, painted, Math.min(y, bottom));
      this.pixels.copy(this.lines[lane]!, Math.max(y, top), end);
      painted = Math.max(painted, end);
    });
    return painted;
  }

  private inksOf(palette: Palette): Inks {
    if (this.inks?.palette !== palette) {
      const inks = { fills: Uint32Array.from(palette.fills, pixelOf), pales: Uint32Array.from(palette.pales, pixelOf) };
      this.inks = { palette, inks };
    }
    return this.inks!.inks;
  }
}

function groundsOf(frame: Frame, width: number): Grounds {
  const { of } = frame.palette;
  const grid = pixelOf(of.grid);
  const line = (colour: string) => new Uint32Array(width).fill(pixelOf(colour));
  const track = line(of.background);
  const group = line(of["band-inner"]);
  const scale = width / (frame.to - frame.from);
  const wide = Math.max(Math.round(frame.ratio), 1);
  for (const time of frame.gridTimes) {
    const x = Math.round((time - frame.from) * scale);
    if (x < 0) continue;
    track.fill(grid, x, x + wide);
    group.fill(grid, x, x + wide);
  }
  return { track, group, edge: line(of.grid) };
}

function drawLabels(context: CanvasRenderingContext2D, frame: Frame, labels: readonly Label[]): void {
  const { ratio, palette } = frame;
  context.font = `${LABEL_SIZE * ratio}px ${FONT}`;
  context.textBaseline = "middle";
  const groups = new Map<string, Label[]>();
  for (const label of labels) {
    const ink = label.pale ? palette.of["on-pale"] : palette.inks[label.fill]!;
    const same = groups.get(ink);
    if (same) same.push(label);
    else groups.set(ink, [label]);
  }
  for (const [ink, same] of groups) {
    context.fillStyle = ink;
    for (const { text, x, y, room } of same) {
      const part = fitted(text, room / ratio - 8);
      if (part) context.fillText(part, x + 4 * ratio, y + 0.5 * ratio);
    }
  }
}
