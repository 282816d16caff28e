/** Times in ns to texts of a person, and the ticks of a ruler; the same texts as `dctv draw` writes. */

const SECOND = 1e9;
const DECIMAL = [["s", SECOND], ["ms", 1e6], ["us", 1e3], ["ns", 1]] as const;
const LONG = [["d", 86400 * SECOND], ["h", 3600 * SECOND], ["min", 60 * SECOND]] as const;

type Unit = readonly [name: string, size: number];

/** Writes a time with all its digits: `1.000000001 s`. */
export function exactTime(ns: number): string {
  const [name, size] = unitOf(Math.abs(ns));
  return `${decimal(Math.round(ns), size, 9, true)} ${shown(name)}`;
}

/** Writes a time with four digits: `1.235 ms`, `2.5 h`. */
export function briefTime(ns: number): string {
  for (const [name, size] of LONG) if (Math.abs(ns) >= 2 * size) return quotient(ns / size, name);
  for (const [name, size] of DECIMAL) if (Math.abs(ns) >= size) return quotient(ns / size, name);
  return `${Math.round(ns)} ns`;
}

function quotient(value: number, name: string): string {
  const text = Math.abs(value) >= 1000 ? grouped(Math.round(value).toString()) : String(Number(value.toPrecision(4)));
  return `${text} ${shown(name)}`;
}

function shown(name: string): string {
  return name === "us" ? "µs" : name;
}

export interface Tick {
  readonly time: number;
  readonly label: string;
}

/** Returns steps of a ruler and ticks so far apart that labels have at least `room` pixels each. */
export function ticks(from: number, to: number, width: number, room: number): { step: number; ticks: Tick[] } {
  const least = ((to - from) * room) / Math.max(width, 1);
  const step = tickStep(least);
  const label = labelsOf(step, Math.max(Math.abs(from), Math.abs(to)));
  const found: Tick[] = [];
  for (let time = Math.ceil(from / step) * step; time <= to && found.length < 512; time += step) {
    found.push({ time, label: label(time) });
  }
  return { step, ticks: found };
}

/** Returns the least of 1, 2, 5, 10, ... of ns to 20 s, then of minutes, hours and days, that is not below `least`. */
export function tickStep(least: number): number {
  for (let power = 1; power <= 1e10; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power <= 20 * SECOND && digit * power >= least) return digit * power;
  }
  for (const digit of [1, 2, 5, 10, 20]) if (digit * LONG[2][1] >= least) return digit * LONG[2][1];
  for (const digit of [1, 2, 5, 10]) if (digit * LONG[1][1] >= least) return digit * LONG[1][1];
  for (let power = 1; ; power *= 10) {
    for (const digit of [1, 2, 5]) if (digit * power * LONG[0][1] >= least) return digit * power * LONG[0][1];
  }
}

function labelsOf(step: number, largest: number): (time: number) => string {
  const [name, size] = LONG.find(([, each]) => step % each === 0) ?? unitOf(largest);
  let digits = 0;
  while (digits < 9 && (step * 10 ** digits) % size !== 0) digits++;
  return (time) => (time ? `${decimal(time, size, digits, false)} ${shown(name)}` : "0");
}

function unitOf(largest: number): Unit {
  return DECIMAL.find(([, size]) => largest >= size) ?? DECIMAL[3];
}

/** Writes a quotient without rounding by floats; what is finer than the digits is cut off. */
function decimal(value: number, size: number, digits: number, trimmed: boolean): string {
  const whole = Math.floor(Math.abs(value) / size);
  const rest = BigInt(Math.round(Math.abs(value) - whole * size));
  let decimals = digits ? String((rest * 10n ** BigInt(digits)) / BigInt(size)).padStart(digits, "0") : "";
  if (trimmed) decimals = decimals.replace(/0+$/, "");
  return `${value < 0 ? "−" : ""}${grouped(String(whole))}${decimals ? "." : ""}${decimals}`;
}

export function grouped(digits: string): string {
  return digits.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

const SIZES: ReadonlyMap<string, number> = new Map([
  ...[...LONG, ...DECIMAL].map(([name, size]) => [name, size] as const),
  ["µs", 1e3],
  ["m", 60 * SECOND],
]);

/** Reads a time as a person types it, `1.5 ms`; a number alone is ns. Returns null for what is none. */
export function parseTime(text: string): number | null {
  const found = /^\s*([+\-−]?)\s*(\d[\d,]*\.?\d*|\.\d+)\s*([a-zµ]*)\s*$/i.exec(text);
  if (!found) return null;
  const size = SIZES.get(found[3]?.toLowerCase() || "ns");
  if (size === undefined) return null;
  const value = Number(found[2]?.replaceAll(",", "")) * size;
  return Math.round(found[1] === "" || found[1] === "+" ? value : -value);
}
