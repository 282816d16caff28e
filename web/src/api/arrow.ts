import { tableFromIPC, type Column as ArrowColumn, type Table as ArrowTable } from "@uwdata/flechette";
import type { Cells, QueryResult, ResultAbout } from "./types";

interface Chunk {
  readonly length: number;
  readonly nullCount: number;
  readonly validity?: Uint8Array;
  readonly values?: ArrayBufferView;
}

interface NamesChunk extends Chunk {
  readonly dictionary: ArrowColumn<string>;
}

const HIGH = 2 ** 32;

/** Reads cells without making a BigInt of any: times come out exact as numbers, since they are told from `origin`. */
export function decodeCells(bytes: Uint8Array, origin: bigint): Cells {
  const table = tableFromIPC(bytes, { useBigInt: true });
  const rows = table.numRows;
  const integers = (name: string, zero = 0n, missing = NaN) => int64(column(table, name), rows, zero, missing);
  const floats = (name: string) => float64(column(table, name), rows);
  return {
    rows,
    track: int32(column(table, "track"), rows),
    lane: int32(column(table, "lane"), rows),
    from: integers("_ts", origin),
    duration: integers("_duration"),
    count: integers("count"),
    row: integers("row", 0n, -1),
    total: integers("total"),
    longest: integers("longest"),
    filled: integers("filled"),
    ...dictionary(column(table, "name"), rows),
    min: floats("min"),
    max: floats("max"),
    last: floats("last"),
    mean: floats("mean"),
  };
}

/** Takes what a result's schema says out of its stream. */
export function decodeResult(bytes: Uint8Array): QueryResult {
  const about = tableFromIPC(bytes).schema.metadata?.get("dctv");
  return { about: JSON.parse(about ?? "{}") as ResultAbout, bytes };
}

function column(table: ArrowTable, name: string): ArrowColumn<unknown> | undefined {
  return (table.names as string[]).includes(name) ? table.getChild(name) : undefined;
}

function chunksOf(from: ArrowColumn<unknown> | undefined): readonly Chunk[] {
  return (from?.data ?? []) as unknown as readonly Chunk[];
}

function isNull(chunk: Chunk, place: number): boolean {
  return chunk.nullCount > 0 && !!chunk.validity?.length && !((chunk.validity[place >> 3] ?? 0) & (1 << (place & 7)));
}

function int64(from: ArrowColumn<unknown> | undefined, rows: number, zero: bigint, missing: number): Float64Array {
  const low = Number(BigInt.asUintN(32, zero));
  const high = Number(zero >> 32n);
  const result = new Float64Array(rows).fill(missing);
  let at = 0;
  for (const chunk of chunksOf(from)) {
    const { values } = chunk;
    if (values instanceof BigInt64Array) {
      const halves = new Int32Array(values.buffer, values.byteOffset, chunk.length * 2);
      const checked = chunk.nullCount > 0;
      for (let place = 0; place < chunk.length; place++) {
        if (checked && isNull(chunk, place)) continue;
        result[at + place] = (halves[place * 2 + 1]! - high) * HIGH + ((halves[place * 2]! >>> 0) - low);
      }
    } else if (values) {
      const numbers = values as Int32Array;
      for (let place = 0; place < chunk.length; place++) {
        if (!isNull(chunk, place)) result[at + place] = numbers[place]! - Number(zero);
      }
    }
    at += chunk.length;
  }
  return result;
}

function int32(from: ArrowColumn<unknown> | undefined, rows: number): Int32Array {
  return Int32Array.from(int64(from, rows, 0n, 0));
}

function float64(from: ArrowColumn<unknown> | undefined, rows: number): Float64Array {
  const result = new Float64Array(rows).fill(NaN);
  let at = 0;
  for (const chunk of chunksOf(from)) {
    if (chunk.values instanceof Float64Array) result.set(chunk.values.subarray(0, chunk.length), at);
    if (chunk.nullCount > 0) {
      for (let place = 0; place < chunk.length; place++) if (isNull(chunk, place)) result[at + place] = NaN;
    }
    at += chunk.length;
  }
  return result;
}

/** Joins the dictionaries of all batches; a batch of the same dictionary adds nothing. */
function dictionary(from: ArrowColumn<unknown> | undefined, rows: number): { name: Int32Array; names: string[] } {
  const name = new Int32Array(rows).fill(-1);
  const names: string[] = [];
  const begins = new Map<object, number>();
  let at = 0;
  for (const chunk of chunksOf(from) as readonly NamesChunk[]) {
    if (chunk.dictionary) {
      let begin = begins.get(chunk.dictionary);
      if (begin === undefined) {
        begin = names.length;
        begins.set(chunk.dictionary, begin);
        for (const text of chunk.dictionary.toArray() as string[]) names.push(text);
      }
      const places = chunk.values as Int32Array;
      for (let place = 0; place < chunk.length; place++) {
        if (!isNull(chunk, place)) name[at + place] = begin + places[place]!;
      }
    }
    at += chunk.length;
  }
  return { name, names };
}
