/** Dates, times and intervals of results, to all digits that they have. */

import { type Batch, type DataType, DateUnit, IntervalUnit, Type } from "@uwdata/flechette";
import { date, interval, offsetOf, time, timestamp } from "../text/clock";

/** A moment or a length of time: the text that the engine prints of it, and the count that it is sorted by. */
export class Dated {
  constructor(readonly order: bigint, private readonly write: () => string) {}

  get text(): string {
    return this.write();
  }
}

const MICROS_OF_DAY = 86_400_000_000n;
const MILLIS_OF_DAY = 86_400_000n;

/** What reads the values of a batch of such a type, as they are stored; null for other types. */
export function datedReader(batch: Batch<unknown>): ((place: number) => Dated) | null {
  const write = writer(batch.type);
  if (!write) return batch.type.typeId === Type.Interval ? intervals(batch) : null;
  const stored = batch.values as ArrayLike<number | bigint>;
  return (place) => {
    const count = BigInt(stored[place]!);
    return new Dated(count, () => write(count));
  };
}

function writer(type: DataType): ((count: bigint) => string) | null {
  switch (type.typeId) {
    case Type.Date:
      return type.unit === DateUnit.DAY
        ? (count) => endless(count, 32) ?? date(count)
        : (count) => date((count - (((count % MILLIS_OF_DAY) + MILLIS_OF_DAY) % MILLIS_OF_DAY)) / MILLIS_OF_DAY);
    case Type.Time: {
      const perSecond = fractions(type.unit);
      return (count) => time(count, perSecond);
    }
    case Type.Timestamp: {
      const { timezone } = type;
      const perSecond = fractions(type.unit);
      return (count) => endless(count, 64) ?? (timezone ? zoned(count, perSecond, timezone) : timestamp(count, perSecond));
    }
    case Type.Duration: {
      const perSecond = fractions(type.unit);
      return (count) => interval(0n, 0n, (count * 1_000_000n) / perSecond);
    }
    default:
      return null;
  }
}

/** Units are numbered from seconds, each a thousandth of the one before. */
const fractions = (unit: number): bigint => 1000n ** BigInt(unit);

/** The largest count and its negative stand for no end of time. */
function endless(count: bigint, bits: number): string | null {
  const largest = 2n ** BigInt(bits - 1) - 1n;
  return count === largest ? "infinity" : count === -largest ? "-infinity" : null;
}

function zoned(count: bigint, perSecond: bigint, zone: string): string {
  const [seconds, shown] = offsetOf(zone, Number((count * 1000n) / perSecond));
  return timestamp(count, perSecond, seconds) + shown;
}

function intervals(batch: Batch<unknown>): (place: number) => Dated {
  const read = parts(batch);
  return (place) => {
    const [months, days, micros] = read(place);
    return new Dated((months * 30n + days) * MICROS_OF_DAY + micros, () => interval(months, days, micros));
  };
}

function parts({ type, values }: Batch<unknown>): (place: number) => readonly [months: bigint, days: bigint, micros: bigint] {
  const view = new DataView(values.buffer, values.byteOffset, values.byteLength);
  const whole = (at: number): bigint => BigInt(view.getInt32(at, true));
  switch ((type as { unit?: number }).unit) {
    case IntervalUnit.YEAR_MONTH:
      return (place) => [whole(4 * place), 0n, 0n];
    case IntervalUnit.DAY_TIME:
      return (place) => [0n, whole(8 * place), whole(8 * place + 4) * 1000n];
    default:
      return (place) => [whole(16 * place), whole(16 * place + 4), view.getBigInt64(16 * place + 8, true) / 1000n];
  }
}
