/** How wide the columns of a table are. */

import type { Table } from "./table";
import { shown } from "./values";

const SAMPLE = 200;
const LONGEST = 200;
export const LEAST = 44;
const MOST = 420;
const PADDING = 18;
/** Room for the arrow that tells the order. */
const HEADER = 36;

export type Measure = (text: string) => number;

/** Measures text as an element would show it. */
export function measureIn(element: Element): Measure {
  const context = document.createElement("canvas").getContext("2d");
  if (!context) return (text) => text.length * 8;
  const { fontWeight, fontSize, fontFamily } = getComputedStyle(element);
  context.font = `${fontWeight} ${fontSize} ${fontFamily}`;
  return (text) => context.measureText(text).width;
}

/** The width at which the header and the first rows of a column are read in full, within bounds. */
export function fitting(table: Table, column: number, exactly: boolean, measure: Measure, most = MOST): number {
  const about = table.columns[column]!;
  let width = measure(about.name + (about.unit ? ` [${about.unit}]` : "")) + HEADER;
  for (let row = 0; row < Math.min(table.rows, SAMPLE); row++) {
    const text = shown(table.value(column, row), about, exactly).slice(0, LONGEST);
    width = Math.max(width, measure(text) + PADDING);
  }
  return Math.round(Math.min(Math.max(width, LEAST), most));
}

/** Left edges of the columns, and after the last its right edge. */
export function edges(widths: readonly number[]): number[] {
  const all = [0];
  for (const width of widths) all.push(all[all.length - 1]! + width);
  return all;
}

/** The first and last (excluded) place whose part of [edges] is seen. */
export function seen(lines: readonly number[], from: number, to: number): [first: number, end: number] {
  let first = 0;
  while (first < lines.length - 2 && lines[first + 1]! <= from) first++;
  let end = first;
  while (end < lines.length - 1 && lines[end]! < to) end++;
  return [first, end];
}
