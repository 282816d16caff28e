/** Values of results as text: exact, and as people read them with their unit. */

import type { Column } from "../api/types";

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
  return json(value);
}

function hex(bytes: Uint8Array): string {
  let text = "0x";
  for (const byte of bytes) text += byte.toString(16).padStart(2, "0");
  return text;
}

/** JSON with whole numbers of any size, and bytes as hexadecimal text. */
export function json(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "bigint") return String(value);
  if (value instanceof Uint8Array) return JSON.stringify(hex(value));
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

interface Scale {
  readonly steps: readonly (readonly [factor: number, symbol: string])[];
}

const SECONDS: Scale = { steps: [[1e-9, "ns"], [1e-6, "µs"], [1e-3, "ms"], [1, "s"]] };
const BYTES: Scale = { steps: [[1, "B"], [1024, "KiB"], [2 ** 20, "MiB"], [2 ** 30, "GiB"], [2 ** 40, "TiB"], [2 ** 50, "PiB"]] };
const HERTZ: Scale = { steps: [[1, "Hz"], [1e3, "kHz"], [1e6, "MHz"], [1e9, "GHz"], [1e12, "THz"]] };
const BITS: Scale = { steps: [[1, "b"], [1e3, "kb"], [1e6, "Mb"], [1e9, "Gb"], [1e12, "Tb"]] };
const WATTS: Scale = { steps: [[1e-6, "µW"], [1e-3, "mW"], [1, "W"], [1e3, "kW"]] };
const VOLTS: Scale = { steps: [[1e-6, "µV"], [1e-3, "mV"], [1, "V"], [1e3, "kV"]] };
const AMPERES: Scale = { steps: [[1e-6, "µA"], [1e-3, "mA"], [1, "A"], [1e3, "kA"]] };
const JOULES: Scale = { steps: [[1e-6, "µJ"], [1e-3, "mJ"], [1, "J"], [1e3, "kJ"], [1e6, "MJ"]] };

const BASES: readonly (readonly [symbol: string, scale: Scale])[] = [
  ["Hz", HERTZ], ["s", SECONDS], ["B", BYTES], ["b", BITS], ["W", WATTS], ["V", VOLTS], ["A", AMPERES], ["J", JOULES],
];

const PREFIXES: Readonly<Record<string, number>> = {
  "": 1, n: 1e-9, u: 1e-6, "µ": 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15,
  Ki: 1024, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50,
};

/** How values of a unit are scaled: `factor` brings them to the scale's base, `rest` follows the scaled symbol (`/s`). */
interface Scaled {
  readonly factor: number;
  readonly scale: Scale;
  readonly rest: string;
}

const scales = new Map<string, Scaled | null>();

function scaled(unit: string): Scaled | null {
  const known = scales.get(unit);
  if (known !== undefined) return known;
  const found = findScale(unit);
  scales.set(unit, found);
  return found;
}

function findScale(unit: string): Scaled | null {
  const [, head = "", rest = ""] = /^([^/*·^ ]+)(\/.*)?$/.exec(unit) ?? [];
  for (const [symbol, scale] of BASES) {
    if (!head.endsWith(symbol)) continue;
    const factor = PREFIXES[head.slice(0, head.length - symbol.length)];
    if (factor !== undefined) return { factor, scale, rest };
  }
  return null;
}

/** At most four significant digits after scaling, without zeros that say nothing. */
export function digits(value: number): string {
  if (!Number.isFinite(value)) return String(value);
  const size = Math.abs(value);
  if (size >= 1000) return group(value.toFixed(size >= 10000 ? 0 : 1).replace(/\.0$/, ""));
  const text = value.toPrecision(4);
  return text.includes("e") ? text.replace(/\.?0+e/, "e") : text.replace(/\.?0+$/, (zeros) => (text.includes(".") ? "" : zeros));
}

/** Thousands set apart by narrow spaces. */
export function group(text: string): string {
  const [whole = "", fraction] = text.split(".");
  const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, "\u202f");
  return fraction === undefined ? grouped : `${grouped}.${fraction}`;
}

/** A value of a unit with the prefix that suits its size: `1.234 ms`, `12.5 KiB`. */
export function withUnit(value: number, unit: string): string {
  const found = scaled(unit);
  if (!found) return unit ? `${plain(value)} ${unit}` : plain(value);
  if (value === 0) return `0 ${unit}`;
  const base = value * found.factor;
  const size = Math.abs(base);
  let [factor, symbol] = found.scale.steps[0]!;
  for (const step of found.scale.steps) if (size >= step[0] * 0.9999995) [factor, symbol] = step;
  return `${digits(base / factor)} ${symbol}${found.rest}`;
}

/** A number without a unit that can be scaled: whole numbers whole, others to the digits that are worth reading. */
export function plain(value: number): string {
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
  return `${sign}${group(String(size / 1_000_000_000n))}.${a}\u202f${b}\u202f${c} s`;
}

/** What a cell shows. */
export function shown(value: Value, column: Column, exactly: boolean): string {
  if (value === null || value === undefined) return "NULL";
  if (exactly) return exact(value);
  const unit = column.unit ?? "";
  if (isNumeric(column.type)) {
    if (column.name === "_ts" && unit === "ns" && typeof value !== "object") return momentOf(value);
    if (scaled(unit)) return withUnit(toNumber(value), unit);
    if (typeof value === "number") return plain(value);
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
