/** Values of results: Arrow as the server sends it, each value exact. */

import { Batch, type Column, tableFromIPC, Type } from "@uwdata/flechette";
import type { QueryResult } from "../api/types";
import { datedReader } from "./dated";
import type { Table } from "./table";
import type { Value } from "./values";

export function tableOfResult({ about, bytes }: QueryResult): Table {
  const table = tableFromIPC(bytes, { useBigInt: true, useDecimalInt: true, useMap: true });
  const columns = table.children as Column<unknown>[];
  for (const column of columns) column.data.forEach(mend);
  return {
    columns: about.columns,
    rows: table.numRows,
    value: (column, row) => small(columns[column]?.at(row) ?? null),
    complete: about.complete,
  };
}

/** Lets a batch, and those that are nested in it, give values which are shown as they are. */
function mend(batch: Batch<unknown>): void {
  // Several batches may share a dictionary.
  if (Object.hasOwn(batch, "value")) return;
  batch.children?.forEach(mend);
  const read = reader(batch);
  if (!read) return;
  batch.value = read;
  // Some batches hand out their memory as a list of values.
  batch.slice = Batch.prototype.slice;
}

function reader(batch: Batch<unknown>): ((place: number) => Value) | null {
  const { type } = batch;
  switch (type.typeId) {
    case Type.Decimal: {
      const stored = batch.value.bind(batch) as (place: number) => bigint | number;
      return (place) => decimal(stored(place), type.scale);
    }
    case Type.Dictionary: {
      const { dictionary, values } = batch as Batch<unknown> & { readonly dictionary: Column<unknown> };
      dictionary.data.forEach(mend);
      return (place) => (dictionary.at(Number(values[place])) ?? null) as Value;
    }
    default:
      return datedReader(batch);
  }
}

/** Whole numbers are numbers where that is exact. */
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
