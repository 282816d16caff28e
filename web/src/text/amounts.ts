/** Values with their units to texts: bytes as KiB, MiB, GiB, frequencies as kHz, MHz, GHz, as `dctv draw` does. */

import { briefTime, grouped } from "./times";

const BINARY = ["", "Ki", "Mi", "Gi", "Ti", "Pi", "Ei"];
const DECIMAL = ["", "k", "M", "G", "T", "P", "E"];
const BASES: ReadonlyMap<string, readonly [base: "B" | "Hz" | "ns", factor: number]> = new Map([
  ["b", ["B", 1]], ["byte", ["B", 1]], ["bytes", ["B", 1]],
  ["kib", ["B", 2 ** 10]], ["mib", ["B", 2 ** 20]], ["gib", ["B", 2 ** 30]],
  ["kb", ["B", 1e3]], ["mb", ["B", 1e6]], ["gb", ["B", 1e9]],
  ["hz", ["Hz", 1]], ["khz", ["Hz", 1e3]], ["mhz", ["Hz", 1e6]], ["ghz", ["Hz", 1e9]],
  ["ns", ["ns", 1]], ["us", ["ns", 1e3]], ["µs", ["ns", 1e3]], ["ms", ["ns", 1e6]], ["s", ["ns", 1e9]],
]);

/** Writes a value for a person: `1.5 GiB`, `2.4 GHz`, `37 %`, `12,345`. */
export function amount(value: number, unit: string | null | undefined, digits = 4): string {
  if (!Number.isFinite(value)) return String(value);
  const [, head = "", rate = ""] = /^([^/]+)(\/.+)?$/.exec(unit ?? "") ?? [];
  // A small b at the end is bits, as in SQL.
  const known = head.endsWith("b") ? undefined : BASES.get(head.toLowerCase());
  if (known) {
    const [base, factor] = known;
    const size = value * factor;
    if (base === "ns") return briefTime(size) + rate;
    const [times, prefixes] = base === "B" ? [1024, BINARY] : [1000, DECIMAL];
    return prefixed(size, times, prefixes, base, digits) + rate;
  }
  return unit ? `${plain(value, digits)} ${unit}` : plain(value, digits);
}

function prefixed(value: number, times: number, prefixes: readonly string[], unit: string, digits: number): string {
  let place = 0;
  while (Math.abs(value) >= times && place < prefixes.length - 1) {
    value /= times;
    place++;
  }
  return `${plain(value, digits)} ${prefixes[place]}${unit}`;
}

/** Writes a number with a few digits. */
export function plain(value: number, digits = 4): string {
  const size = Math.abs(value);
  if (size >= 1e9 || (size > 0 && size < 1e-4)) return value.toPrecision(digits).replace(/\.?0+(?=e|$)/, "");
  if (size >= 1000) return (value < 0 ? "-" : "") + grouped(Math.round(size).toString());
  return String(Number(value.toPrecision(digits)));
}

/** Writes a whole number with all its digits: `12,345`. */
export function whole(value: number): string {
  return (value < 0 ? "-" : "") + grouped(Math.abs(Math.round(value)).toString());
}

/** Returns bounds and grid values for an axis: 1, 2 or 5 of the unit's own steps. */
export function axis(low: number, high: number, lines: number): number[] {
  const least = (high - low) / Math.max(lines, 1);
  if (!(least > 0)) return [];
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((digit) => digit * power).find((each) => each >= least) ?? 10 * power;
  const found: number[] = [];
  for (let value = Math.ceil(low / step) * step; value <= high; value += step) found.push(value);
  return found;
}
