/** Values of results as text: exact, and as people read them with their unit. */

import type { Column } from "../api/types";
import { amount } from "../text/amounts";
import { grouped } from "../text/times";
import { Dated } from "./dated";

export type Value = null | boolean | number | bigint | string | Uint8Array | readonly unknown[] | object;

const NUMERIC = /^(U?(TINY|SMALL|BIG|HUGE)?INT(EGER)?|U?INT(8|16|32|64|128)|FLOAT(32|64)?|DOUBLE|REAL|DECIMAL.*|NUMERIC.*)$/i;
const WHOLE = /^U?(TINY|SMALL|BIG|HUGE)?INT(EGER|8|16|32|64|128)?$/i;

export const isNumeric = (type: string): boolean => NUMERIC.test(type);
export const isWhole = (type: string): boolean => WHOLE.test(type);

/** A number for sorting, plotting and scaling; NaN where the value is none. */
export function toNumber(value: unknown): number {
  if (typeof value === "number") return value;
  if (typeof value === "bigint" || typeof value === "boolean") return Number(value);
  return typeof value === "string" && value !== "" ? Number(value) : NaN;
}

/** The whole value, as it is copied and exported; NULL is empty. */
export function exact(value: Value): string {
  if (value === null || value === undefined) return "";
  if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value);
  if (typeof value !== "object") return String(value);
  if (value instanceof Uint8Array) return hex(value);
  return value instanceof Dated ? value.text : json(value);
}

function hex(bytes: Uint8Array): string {
  let text = "0x";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** JSON with whole numbers of any size, bytes as hexadecimal text, and times as text. */
export function json(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array || value instanceof Dated) return JSON.stringify(exact(value));
  if (typeof value !== "object") return JSON.stringify(value) ?? "null";
  if (value instanceof Map) {
    return `{${[...value].map(([key, item]) => `${JSON.stringify(exact(key as Value))}: ${json(item)}`).join(", ")}}`;
  }
  if (Array.isArray(value) || ArrayBuffer.isView(value)) {
    return `[${Array.from(value as ArrayLike<unknown>, json).join(", ")}]`;
  }
  const entries = Object.entries(value as Record<string, unknown>);
  return `{${entries.map(([key, item]) => `${JSON.stringify(key)}: ${json(item)}`).join(", ")}}`;
}

/** A number without a unit: whole numbers whole, others to the digits that are worth reading. */
export function bare(value: number): string {
  if (Number.isInteger(value) || !Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-4) return value.toExponential(4).replace(/\.?0+e/, "e");
  const text = size >= 1e5 ? value.toFixed(2) : value.toPrecision(7);
  return text.replace(/\.?0+$/, "");
}

/** A moment in seconds with all its nanoseconds, in groups of three. */
export function moment(nanoseconds: bigint): string {
  const sign = nanoseconds < 0n ? "-" : "";
  const size = nanoseconds < 0n ? -nanoseconds : nanoseconds;
  const fraction = String(size % 1_000_000_000n).padStart(9, "0");
  const [a, b, c] = [fraction.slice(0, 3), fraction.slice(3, 6), fraction.slice(6)];
  return `${sign}${grouped(String(size / 1_000_000_000n))}.${a}\u202f${b}\u202f${c} s`;
}

/** What a cell shows. */
export function shown(value: Value, column: Column, exactly: boolean): string {
  if (value === null || value === undefined) return "NULL";
  if (exactly) return exact(value);
  const unit = column.unit ?? "";
  if (isNumeric(column.type)) {
    if (column.name === "_ts" && unit === "ns" && typeof value !== "object") return momentOf(value);
    if (unit) return amount(toNumber(value), unit);
    if (typeof value === "number") return bare(value);
  }
  return exact(value);
}

function momentOf(value: string | number | bigint | boolean): string {
  try {
    return moment(BigInt(value));
  } catch {
    return String(value);
  }
}
