/** Values of results: Arrow as the server sends it, each value exact. */

import { type Column as Vector, type DataType, tableFromIPC, Type } from "@uwdata/flechette";
import type { QueryResult } from "../api/types";
import type { Table } from "./table";
import type { Value } from "./values";

export function tableOfResult({ about, bytes }: QueryResult): Table {
  const table = tableFromIPC(bytes, { useBigInt: true, useDecimalInt: true, useMap: true });
  const readers = table.children.map((column) => reader(column as Vector<unknown>));
  return {
    columns: about.columns,
    rows: table.numRows,
    value: (column, row) => readers[column]?.(row) ?? null,
    complete: about.complete,
  };
}

function reader(column: Vector<unknown>): (row: number) => Value {
  const convert = converter(column.type);
  return (row) => {
    const value = column.at(row);
    return value === null || value === undefined ? null : convert(value);
  };
}

/** How values of a type are shown; whole numbers are numbers where that is exact. */
function converter(type: DataType): (value: unknown) => Value {
  switch (type.typeId) {
    case Type.Decimal: {
      const { scale } = type;
      return (value) => decimal(value as bigint | number, scale);
    }
    case Type.Date:
      return (value) => new Date(Number(value)).toISOString().slice(0, 10);
    case Type.Timestamp: {
      const zone = type.timezone ? "Z" : "";
      return (value) => new Date(Number(value)).toISOString().replace("T", " ").replace("Z", zone);
    }
    case Type.Int:
      return small;
    case Type.Dictionary:
      return converter(type.dictionary);
    default:
      return (value) => value as Value;
  }
}

function small(value: unknown): Value {
  if (typeof value !== "bigint") return value as Value;
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : value;
}

/** A decimal of `scale` digits: a number where that is exact, else its text. */
export function decimal(value: bigint | number, scale: number): Value {
  const whole = BigInt(value);
  if (scale <= 0) return small(whole * 10n ** BigInt(-scale));
  const sign = whole < 0n ? "-" : "";
  const text = String(whole < 0n ? -whole : whole).padStart(scale + 1, "0");
  return `${sign}${text.slice(0, -scale)}.${text.slice(-scale)}`;
}
