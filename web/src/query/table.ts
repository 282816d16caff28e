/** The model of a table: columns, values by row, order, copies. */

import type { Column, Table as JsonTable } from "../api/types";
import { Dated } from "./dated";
import { exact, isNumeric, toNumber, type Value } from "./values";

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: number;
  /** The value of a column (by its place) in a row. */
  readonly value: (column: number, row: number) => Value;
  /** False if there are more rows than these. */
  readonly complete: boolean;
}

/** A table of rows as the server's JSON has them. */
export function tableOfRows({ columns, rows, complete }: JsonTable): Table {
  return { columns, rows: rows.length, value: (column, row) => rows[row]?.[column] ?? null, complete };
}

export interface Order {
  readonly column: number;
  readonly descending: boolean;
}

/** The next order when a header is clicked: numbers largest first, text from A; a third click gives back the rows' own. */
export function nextOrder(order: Order | null, column: number, type: string): Order | null {
  const first = isNumeric(type);
  if (order?.column !== column) return { column, descending: first };
  return order.descending === first ? { column, descending: !first } : null;
}

const collator = new Intl.Collator("en", { numeric: true });

/** Compare two values that are not NULL: numbers and times exactly, all else as text in which numbers count as such. */
export function compare(a: Value, b: Value): number {
  if (typeof a === "number" && typeof b === "number") {
    if (Number.isNaN(a) || Number.isNaN(b)) return Number(Number.isNaN(a)) - Number(Number.isNaN(b));
    return a - b;
  }
  if (a instanceof Dated && b instanceof Dated) return compare(a.order, b.order);
  if (isNumber(a) && isNumber(b)) return a < b ? -1 : a > b ? 1 : 0;
  return collator.compare(exact(a), exact(b));
}

const isNumber = (value: Value): value is number | bigint => typeof value === "number" || typeof value === "bigint";

/** Rows in the order that is asked for, NULLs last either way; equals stay as they were. */
export function sorted(table: Table, order: Order | null): Int32Array {
  const rows = Int32Array.from({ length: table.rows }, (_, row) => row);
  if (!order) return rows;
  const values: Value[] = new Array(table.rows);
  const { type } = table.columns[order.column]!;
  for (let row = 0; row < table.rows; row++) values[row] = sortable(table.value(order.column, row), type);
  const sign = order.descending ? -1 : 1;
  return rows.sort((i, j) => {
    const [a, b] = [values[i]!, values[j]!];
    if (a === null || b === null) return Number(a === null) - Number(b === null) || i - j;
    return sign * compare(a, b) || i - j;
  });
}

/** JSON has wide whole numbers as text. */
function sortable(value: Value, type: string): Value {
  if (typeof value !== "string" || !isNumeric(type)) return value;
  return /^-?\d+$/.test(value) ? BigInt(value) : toNumber(value);
}

/** A rectangle of cells, by places in the shown order; both ends are within. */
export interface Area {
  readonly top: number;
  readonly bottom: number;
  readonly left: number;
  readonly right: number;
}

export function areaOf(from: { row: number; column: number }, to: { row: number; column: number }): Area {
  return {
    top: Math.min(from.row, to.row),
    bottom: Math.max(from.row, to.row),
    left: Math.min(from.column, to.column),
    right: Math.max(from.column, to.column),
  };
}

/** Cells as tab-separated text; one cell alone without quotes, many with the names of columns. */
export function tsv(table: Table, order: Int32Array, area: Area): string {
  if (area.top === area.bottom && area.left === area.right) return exact(table.value(area.left, order[area.top]!));
  const lines = [header(table, area.left, area.right).map(tabCell).join("\t")];
  for (let place = area.top; place <= area.bottom; place++) {
    const cells: string[] = [];
    for (let column = area.left; column <= area.right; column++) {
      cells.push(tabCell(exact(table.value(column, order[place]!))));
    }
    lines.push(cells.join("\t"));
  }
  return lines.join("\n");
}

const tabCell = (text: string): string => (/[\t\n\r"]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

function header(table: Table, left: number, right: number): string[] {
  return table.columns.slice(left, right + 1).map((column) => (column.unit ? `${column.name} [${column.unit}]` : column.name));
}

/** The whole table as CSV (RFC 4180), in the shown order. */
export function csv(table: Table, order: Int32Array): string {
  const lines = [header(table, 0, table.columns.length - 1).map(csvCell).join(",")];
  for (const row of order) {
    lines.push(table.columns.map((_, column) => csvCell(exact(table.value(column, row)))).join(","));
  }
  return `${lines.join("\r\n")}\r\n`;
}

const csvCell = (text: string): string => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** The sums of numeric columns, for the foot of a table of totals; null where a sum means nothing. */
export function totals(table: Table, summed: (column: Column) => boolean): (number | null)[] {
  return table.columns.map((column, place) => {
    if (!isNumeric(column.type) || !summed(column)) return null;
    let sum = 0;
    for (let row = 0; row < table.rows; row++) sum += toNumber(table.value(place, row)) || 0;
    return sum;
  });
}
