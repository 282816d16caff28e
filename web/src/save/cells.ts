/** Cells of a saved view: columns one after the other, and answers made of them as the server would give them. */

import type { Cells, TilesRequest, TrackId } from "../api/types";
import type { SavedLevel } from "./format";

const INTEGERS = ["track", "lane", "name"] as const;
const FLOATS = ["from", "duration", "count", "row", "total", "longest", "filled", "min", "max", "last", "mean"] as const;
export const ROW_BYTES = INTEGERS.length * 4 + FLOATS.length * 8;

/** Eight-byte columns stand first, so that all are aligned. */
export function packed(all: readonly Cells[]): Uint8Array {
  const bytes = new Uint8Array(all.reduce((sum, cells) => sum + sizeOf(cells.rows), 0));
  let at = 0;
  for (const cells of all) {
    let place = at;
    for (const name of [...FLOATS, ...INTEGERS]) {
      const column = cells[name];
      bytes.set(new Uint8Array(column.buffer, column.byteOffset, column.byteLength), place);
      place += column.byteLength;
    }
    at += sizeOf(cells.rows);
  }
  return bytes;
}

/** How many bytes a level takes, in whole eights. */
export const sizeOf = (rows: number): number => Math.ceil((rows * ROW_BYTES) / 8) * 8;

export function unpacked(bytes: Uint8Array, level: SavedLevel): Cells {
  let place = bytes.byteOffset + level.begin;
  const floats = Object.fromEntries(FLOATS.map((name) => {
    const column = new Float64Array(bytes.buffer, place, level.rows);
    place += column.byteLength;
    return [name, column];
  }));
  const integers = Object.fromEntries(INTEGERS.map((name) => {
    const column = new Int32Array(bytes.buffer, place, level.rows);
    place += column.byteLength;
    return [name, column];
  }));
  return { ...floats, ...integers, rows: level.rows, names: level.names } as unknown as Cells;
}

interface Held {
  readonly exponent: number;
  /** Relative to the time that cells are told from. */
  readonly from: number;
  readonly to: number;
  readonly cells: Cells;
  readonly rows: ReadonlyMap<TrackId, readonly [begin: number, end: number]>;
}

export class SavedCells {
  private readonly levels: readonly Held[];

  /** Cells are told relative to `origin`, in ns of the clock. */
  constructor(levels: readonly SavedLevel[], bytes: Uint8Array, private readonly origin: bigint) {
    this.levels = levels.map((level) => {
      const cells = unpacked(bytes, level);
      return {
        exponent: level.exponent, from: Number(BigInt(level.from) - origin), to: Number(BigInt(level.to) - origin),
        cells, rows: rowsOf(cells, level.tracks),
      };
    });
  }

  has(track: TrackId): boolean {
    return this.levels.some((level) => level.rows.has(track));
  }

  /** Cells of a step as near to the one that is asked for as there are, coarser ones where only those were saved. */
  answer(request: TilesRequest, origin: bigint): Cells {
    const shift = Number(this.origin - origin);
    const from = Number(BigInt(request.from) - this.origin);
    const to = Number(BigInt(request.to) - this.origin);
    const picked: Picked[] = [];
    request.tracks.forEach((id, track) => {
      let missing: (readonly [number, number])[] = [[from, to]];
      const seen = new Set<string>();
      for (const level of this.byNearness(Math.log2(request.step))) {
        const rows = level.rows.get(id);
        if (!rows || missing.length === 0) continue;
        for (const range of missing) pick(level, rows, track, range, seen, picked);
        missing = missing.flatMap((range) => outside(range, level.from, level.to));
      }
    });
    return gathered(picked, shift);
  }

  private byNearness(exponent: number): Held[] {
    const far = (level: Held): number => level.exponent <= exponent ? exponent - level.exponent : 100 + level.exponent;
    return [...this.levels].sort((a, b) => far(a) - far(b));
  }
}

interface Picked {
  readonly cells: Cells;
  readonly at: number;
  readonly track: number;
}

function rowsOf(cells: Cells, tracks: readonly TrackId[]): Map<TrackId, readonly [number, number]> {
  const found = new Map<TrackId, readonly [number, number]>(tracks.map((id) => [id, [0, 0]]));
  for (let begin = 0, end = 0; begin < cells.rows; begin = end) {
    while (end < cells.rows && cells.track[end] === cells.track[begin]) end++;
    found.set(tracks[cells.track[begin]!]!, [begin, end]);
  }
  return found;
}

function pick(
  level: Held, [begin, end]: readonly [number, number], track: number, range: readonly [number, number],
  seen: Set<string>, picked: Picked[],
): void {
  const from = Math.max(range[0], level.from);
  const to = Math.min(range[1], level.to);
  if (to <= from) return;
  const { cells } = level;
  for (let at = begin; at < end; at++) {
    const starts = cells.from[at]!;
    const lasts = Number.isNaN(cells.duration[at]!) ? 0 : cells.duration[at]!;
    if (starts >= to || (starts + lasts <= from && starts < from)) continue;
    const key = `${cells.lane[at]}:${starts}:${lasts}`;
    if (seen.has(key)) continue;
    seen.add(key);
    picked.push({ cells, at, track });
  }
}

function outside([from, to]: readonly [number, number], begin: number, end: number): (readonly [number, number])[] {
  if (end <= from || begin >= to) return [[from, to]];
  const rest: (readonly [number, number])[] = [];
  if (from < begin) rest.push([from, begin]);
  if (end < to) rest.push([end, to]);
  return rest;
}

function gathered(picked: readonly Picked[], shift: number): Cells {
  const sorted = [...picked].sort((a, b) =>
    a.track - b.track || a.cells.lane[a.at]! - b.cells.lane[b.at]! || a.cells.from[a.at]! - b.cells.from[b.at]!);
  const names: string[] = [];
  const places = new Map<string, number>();
  const nameOf = ({ cells, at }: Picked): number => {
    const text = cells.names[cells.name[at]!];
    if (text === undefined) return -1;
    let place = places.get(text);
    if (place === undefined) {
      places.set(text, (place = names.length));
      names.push(text);
    }
    return place;
  };
  const floats = (name: (typeof FLOATS)[number], add = 0) =>
    Float64Array.from(sorted, ({ cells, at }) => cells[name][at]! + add);
  return {
    rows: sorted.length,
    track: Int32Array.from(sorted, ({ track }) => track),
    lane: Int32Array.from(sorted, ({ cells, at }) => cells.lane[at]!),
    from: floats("from", shift),
    duration: floats("duration"),
    count: floats("count"),
    row: floats("row"),
    total: floats("total"),
    longest: floats("longest"),
    filled: floats("filled"),
    name: Int32Array.from(sorted, nameOf),
    names,
    min: floats("min"),
    max: floats("max"),
    last: floats("last"),
    mean: floats("mean"),
  };
}
