/** What of a table is plotted: columns chosen, rows brought into order, one series for each value that they are split by. */

import type { Table } from "./table";
import { exact, isNumeric, toNumber } from "./values";

export type Style = "line" | "steps" | "points" | "bars";

export interface Choice {
  /** The place of the column across; -1 is the number of the row. */
  readonly x: number;
  readonly y: readonly number[];
  /** A column whose values are series of their own; -1 is none. */
  readonly split: number;
  readonly style: Style;
}

export interface Series {
  readonly label: string;
  readonly unit: string | null;
  readonly values: (number | null)[];
}

export interface PlotData {
  readonly x: number[];
  /** The texts across, where these are no numbers: `x` are their places. */
  readonly names: readonly string[] | null;
  readonly unit: string | null;
  readonly series: readonly Series[];
  /** How many series there would be. */
  readonly all: number;
}

export const MOST_SERIES = 12;
const MOST_DEFAULT = 4;
const MOST_NAMES = 500;

/** Whether a column can be plotted upwards. */
export function plottable(table: Table, column: number): boolean {
  return isNumeric(table.columns[column]!.type);
}

/** Time across if there is one (values of spans last), else names as bars, else the first number against the others. */
export function usualChoice(table: Table, partitions: readonly string[], lasting = false): Choice {
  const { columns } = table;
  const place = (name: string): number => columns.findIndex((column) => column.name === name);
  const ts = place("_ts");
  const split = partitions.length === 1 ? place(partitions[0]!) : -1;
  const numbers = columns.map((_, column) => column).filter((column) => plottable(table, column) && column !== split);
  const free = numbers.filter((column) => column !== ts && columns[column]!.name !== "_duration" && !isKey(columns[column]!.name));
  const duration = place("_duration");
  const upward = free.length > 0 ? free : duration >= 0 ? [duration] : numbers.filter((column) => column !== ts);
  if (ts >= 0) return { x: ts, y: upward.slice(0, split >= 0 ? 1 : MOST_DEFAULT), split, style: free.length === 0 ? "points" : lasting ? "steps" : "line" };
  const name = columns.findIndex((column) => !isNumeric(column.type));
  if (name >= 0) return { x: name, y: measured(table, upward), split: -1, style: "bars" };
  const [first = -1, ...rest] = numbers;
  if (rest.length === 0) return { x: -1, y: numbers.slice(0, 1), split: -1, style: "line" };
  return { x: first, y: rest.slice(0, MOST_DEFAULT), split: -1, style: "line" };
}

const isKey = (name: string): boolean => /^(.*_)?(id|pid|tid|tgid|upid|utid|row|lane|track)$/i.test(name);

/** One column to begin with: one that measures something, rather than a count. */
function measured(table: Table, columns: readonly number[]): number[] {
  const first = columns.find((column) => table.columns[column]!.unit) ?? columns[0];
  return first === undefined ? [] : [first];
}

export function plotData(table: Table, choice: Choice): PlotData {
  const column = choice.x >= 0 ? table.columns[choice.x]! : null;
  const named = column !== null && !isNumeric(column.type);
  const [xs, names] = across(table, choice.x, named);
  const order = xs.map((_, row) => row).filter((row) => Number.isFinite(xs[row]));
  order.sort((a, b) => xs[a]! - xs[b]! || a - b);
  const x: number[] = [];
  const slot = new Int32Array(xs.length).fill(-1);
  for (const row of order) {
    // Rows of one moment share a place unless they would hide each other there.
    if (choice.split < 0 || x[x.length - 1] !== xs[row]) x.push(xs[row]!);
    slot[row] = x.length - 1;
  }
  const groups = grouping(table, choice.split, order);
  const all: Series[] = [];
  for (const y of choice.y) {
    const about = table.columns[y]!;
    for (const [label, rows] of groups) {
      const values: (number | null)[] = new Array<number | null>(x.length).fill(null);
      for (const row of rows) {
        const value = toNumber(table.value(y, row));
        values[slot[row]!] = Number.isFinite(value) ? value : null;
      }
      all.push({ label: seriesLabel(about.name, label, choice.y.length), unit: about.unit, values });
    }
  }
  return { x, names, unit: column?.unit ?? null, series: all.slice(0, MOST_SERIES), all: all.length };
}

function seriesLabel(name: string, group: string | null, many: number): string {
  if (group === null) return name;
  return many > 1 ? `${name}, ${group}` : group;
}

function across(table: Table, x: number, named: boolean): [xs: number[], names: string[] | null] {
  const rows = named ? Math.min(table.rows, MOST_NAMES) : table.rows;
  const places = Array.from({ length: rows }, (_, row) => row);
  if (x < 0) return [places, null];
  if (named) return [places, places.map((row) => exact(table.value(x, row)))];
  return [places.map((row) => toNumber(table.value(x, row) ?? NaN)), null];
}

/** Rows by the text of the column that splits them, the commonest first. */
function grouping(table: Table, split: number, order: readonly number[]): [label: string | null, rows: readonly number[]][] {
  if (split < 0) return [[null, order]];
  const found = new Map<string, number[]>();
  for (const row of order) {
    const label = `${table.columns[split]!.name} ${exact(table.value(split, row)) || "NULL"}`;
    const rows = found.get(label);
    if (rows) rows.push(row);
    else found.set(label, [row]);
  }
  return [...found].sort((a, b) => b[1].length - a[1].length);
}
