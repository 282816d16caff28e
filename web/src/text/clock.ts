/** Counts of days, seconds and their fractions to dates, times and intervals as the engine prints them. */

const DAY = 86_400n;

/** `YYYY-MM-DD` of days since 1970-01-01, with ` (BC)` before the year 1. */
export function date(days: bigint): string {
  const [year, month, day] = civil(days);
  const text = `${padded(year > 0n ? year : 1n - year, 4)}-${padded(month, 2)}-${padded(day, 2)}`;
  return year > 0n ? text : `${text} (BC)`;
}

/** `YYYY-MM-DD HH:MM:SS[.f]` of a count of `1/perSecond` seconds, moved by `offset` seconds. */
export function timestamp(count: bigint, perSecond: bigint, offset = 0n): string {
  const seconds = floor(count, perSecond) + offset;
  return `${date(floor(seconds, DAY))} ${timeOfDay(rest(seconds, DAY), rest(count, perSecond), perSecond)}`;
}

/** `HH:MM:SS[.f]` of a count of `1/perSecond` seconds since midnight. */
export function time(count: bigint, perSecond: bigint): string {
  return timeOfDay(floor(count, perSecond), rest(count, perSecond), perSecond);
}

/** `1 year 2 months 3 days 04:05:06.789`, without the parts that are zero. */
export function interval(months: bigint, days: bigint, micros: bigint): string {
  const counted: readonly (readonly [bigint, string])[] = [[months / 12n, "year"], [months % 12n, "month"], [days, "day"]];
  const parts = counted
    .filter(([count]) => count)
    .map(([count, unit]) => `${count} ${unit}${count === 1n || count === -1n ? "" : "s"}`);
  if (micros || !parts.length) parts.push(`${micros < 0n ? "-" : ""}${time(micros < 0n ? -micros : micros, 1_000_000n)}`);
  return parts.join(" ");
}

/** Seconds by which a zone is ahead of UTC at a time, in ms since 1970, and how that is written: `+05:30`, or `+02`. */
export function offsetOf(zone: string, at: number): readonly [seconds: bigint, text: string] {
  const [, sign = "+", hours = "00", minutes = "00"] = /([+-])(\d\d):?(\d\d)?/.exec(/^[+-]/.test(zone) ? zone : told(zone, at)) ?? [];
  const seconds = BigInt(hours) * 3600n + BigInt(minutes) * 60n;
  return [sign === "-" ? -seconds : seconds, `${sign}${hours}${minutes === "00" ? "" : `:${minutes}`}`];
}

/** What the browser knows of a zone, `GMT+05:30`; nothing of zones and times that are strange to it. */
function told(zone: string, at: number): string {
  try {
    return offsets(zone).formatToParts(at).find((part) => part.type === "timeZoneName")?.value ?? "";
  } catch {
    return "";
  }
}

const known = new Map<string, Intl.DateTimeFormat>();

function offsets(zone: string): Intl.DateTimeFormat {
  let found = known.get(zone);
  if (!found) known.set(zone, (found = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" })));
  return found;
}

function timeOfDay(seconds: bigint, fraction: bigint, perSecond: bigint): string {
  const text = [seconds / 3600n, (seconds / 60n) % 60n, seconds % 60n].map((part) => padded(part, 2)).join(":");
  if (!fraction) return text;
  return `${text}.${padded(fraction, String(perSecond).length - 1).replace(/0+$/, "")}`;
}

/** Year, month and day of the proleptic Gregorian calendar. */
function civil(days: bigint): readonly [year: bigint, month: bigint, day: bigint] {
  // Years are counted from March, so that a leap day is the last of its year; eras of 400 years are all alike.
  const shifted = days + 719_468n;
  const era = floor(shifted, 146_097n);
  const ofEra = rest(shifted, 146_097n);
  const yearOfEra = (ofEra - ofEra / 1_460n + ofEra / 36_524n - ofEra / 146_096n) / 365n;
  const ofYear = ofEra - (365n * yearOfEra + yearOfEra / 4n - yearOfEra / 100n);
  const fromMarch = (5n * ofYear + 2n) / 153n;
  const month = fromMarch < 10n ? fromMarch + 3n : fromMarch - 9n;
  return [yearOfEra + era * 400n + (month <= 2n ? 1n : 0n), month, ofYear - (153n * fromMarch + 2n) / 5n + 1n];
}

const padded = (number: bigint, width: number): string => String(number).padStart(width, "0");

const rest = (number: bigint, by: bigint): bigint => ((number % by) + by) % by;

const floor = (number: bigint, by: bigint): bigint => (number - rest(number, by)) / by;
