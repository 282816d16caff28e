import { laneHeight, LANE_TOP } from "../tracks/layout";
import type { Piece } from "./pieces";
import type { Frame, FrameRow } from "./renderer";

export interface Label {
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

/** Colours as pixels, by place: of fills, and of paler ones. */
export interface Inks {
  readonly fills: Uint32Array;
  readonly pales: Uint32Array;
}

/** Where the lanes of a row are, in device pixels. */
interface Lanes {
  readonly top: number;
  readonly lane: number;
  readonly high: number;
  readonly only: boolean;
}

function lanesOf(row: FrameRow, ratio: number): Lanes {
  if (row.group) return { top: row.top + 7, lane: row.height - 14, high: Math.round((row.height - 14) * ratio), only: true };
  const lane = laneHeight(row.drawn!, row.height);
  const gap = lane >= 6 ? Math.max(Math.round(ratio), 1) : 0;
  return { top: row.top + LANE_TOP, lane, high: Math.max(Math.round(lane * ratio) - gap, 1), only: false };
}

/** Writes the spans of a row into lines of pixels, one for each lane; returns where the lanes are. */
export function paintSpans(
  frame: Frame,
  row: FrameRow,
  inks: Inks,
  lines: (lane: number) => Uint32Array,
  labels: Label[],
): Lanes {
  const lanes = lanesOf(row, frame.ratio);
  for (const piece of row.pieces) paintPiece(frame, piece, lanes, inks, lines, labels);
  return lanes;
}

function paintPiece(
  frame: Frame,
  piece: Piece,
  { top, lane, high, only }: Lanes,
  inks: Inks,
  lines: (lane: number) => Uint32Array,
  labels: Label[],
): void {
  const { ratio, from } = frame;
  const { cells, fills } = piece.block.batch;
  const { shift, skipBefore } = piece;
  const width = Math.round(frame.width * ratio);
  const scale = width / (frame.to - from);
  const left = Math.max(Math.round((piece.clipFrom - from) * scale), 0);
  const right = Math.min(Math.round((piece.clipTo - from) * scale), width);
  const gap = Math.max(Math.round(ratio), 1);
  const labelled = frame.labels && !only && lane >= LEAST_LABEL_LANE;
  const leastLabel = LEAST_LABEL * ratio;
  let lastLane = -1;
  let lastEnd = 0;
  let line: Uint32Array = NO_LINE;
  for (let at = piece.block.begin; at < piece.block.end; at++) {
    const begin = cells.from[at]! + shift;
    if (begin < skipBefore) continue;
    let x0 = Math.round((begin - from) * scale);
    if (x0 >= right) continue;
    let x1 = Math.round((begin + cells.duration[at]! - from) * scale);
    if (x1 <= x0) x1 = x0 + 1;
    if (x1 <= left) continue;
    const inLane = cells.lane[at]!;
    if (inLane !== lastLane) {
      if (only && inLane > 0) break;
      lastLane = inLane;
      lastEnd = left;
      line = lines(inLane);
    }
    if (x0 < lastEnd) x0 = lastEnd;
    if (x1 > right) x1 = right;
    if (x1 <= x0) continue;
    lastEnd = x1;
    const fill = fills[at]!;
    const pale = only || (cells.count[at]! > 1 && cells.total[at]! * 2 < cells.duration[at]!);
    const wide = x1 - x0;
    const ink = (pale ? inks.pales : inks.fills)[fill]!;
    if (wide < 8) for (let x = x0, end = wide >= 4 * gap ? x1 - gap : x1; x < end; x++) line[x] = ink;
    else line.fill(ink, x0, x1 - gap);
    if (labelled && wide >= leastLabel && labels.length < MOST_LABELS) {
      const name = cells.name[at]!;
      const y = Math.round((top + inLane * lane) * ratio) + high / 2;
      if (name >= 0) labels.push({ text: cells.names[name]!, x: x0, y, room: wide, fill, pale });
    }
  }
}

const NO_LINE = new Uint32Array(0);
