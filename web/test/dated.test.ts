import assert from "node:assert/strict";
import { test } from "node:test";
import {
  type Batch, batchType, Column, type DataType, DateUnit, date, decimal, dictionary, duration, int32, interval,
  IntervalUnit, list, Table, tableToIPC, time, timestamp, TimeUnit,
} from "@uwdata/flechette";
import { tableOfResult } from "../src/query/result";
import { sorted, tsv } from "../src/query/table";
import { exact, type Value } from "../src/query/values";
import { offsetOf } from "../src/text/clock";

type Stored = BigInt64Array | Int32Array | Uint8Array;

function batch(type: DataType, values: Stored, length: number, more: object = {}): Batch<unknown> {
  const Made = batchType(type, { useBigInt: true, useDecimalInt: true }) as unknown as new (options: object) => Batch<unknown>;
  return new Made({ length, nullCount: 0, type, validity: new Uint8Array(0), values, ...more });
}

/** A result of one column, through the bytes that the server would send. */
function result(type: DataType, ...batches: Batch<unknown>[]) {
  const field = { name: "x", type, nullable: true, metadata: null };
  const schema = { version: 4 as const, endianness: 0 as const, fields: [field], metadata: null, dictionaryTypes: new Map() };
  const bytes = tableToIPC(new Table(schema, [new Column(batches, type)]), { format: "stream" })!;
  const about = { kind: "regular", partitions: [], columns: [{ name: "x", type: "T", unit: null }], warnings: [], complete: true };
  return tableOfResult({ about, bytes } as unknown as Parameters<typeof tableOfResult>[0]);
}

function texts(type: DataType, values: Stored, length = values.length): string[] {
  const table = result(type, batch(type, values, length));
  return Array.from({ length }, (_, row) => exact(table.value(0, row)));
}

const wide = (...counts: bigint[]): BigInt64Array => BigInt64Array.from(counts);

// Each text is what `CAST(... AS VARCHAR)` gives.
test("moments have all their digits, and no zeros that say nothing", () => {
  assert.deepEqual(texts(timestamp(TimeUnit.NANOSECOND), wide(1_704_164_645_123_456_789n, 1_704_164_645_120_000_000n)), [
    "2024-01-02 03:04:05.123456789", "2024-01-02 03:04:05.12",
  ]);
  assert.deepEqual(texts(timestamp(TimeUnit.MICROSECOND), wide(1_704_164_645_123_456n, -14_831_672_154_999_999n, 1_704_164_645_000_000n)), [
    "2024-01-02 03:04:05.123456", "1500-01-02 03:04:05.000001", "2024-01-02 03:04:05",
  ]);
  assert.deepEqual(texts(timestamp(TimeUnit.MILLISECOND), wide(1_704_164_645_120n)), ["2024-01-02 03:04:05.12"]);
  assert.deepEqual(texts(timestamp(TimeUnit.SECOND), wide(1_704_164_645n, -1n)), ["2024-01-02 03:04:05", "1969-12-31 23:59:59"]);
});

test("moments without an end, and before the year 1", () => {
  const largest = 2n ** 63n - 1n;
  assert.deepEqual(texts(timestamp(TimeUnit.MICROSECOND), wide(largest, -largest, -63_524_131_200_000_000n)), [
    "infinity", "-infinity", "0044-01-01 (BC) 00:00:00",
  ]);
  assert.deepEqual(texts(date(DateUnit.DAY), Int32Array.of(2 ** 31 - 1, -(2 ** 31) + 1, 3_663_382, 19_724)), [
    "infinity", "-infinity", "12000-01-01", "2024-01-02",
  ]);
});

test("moments of a zone are written in it", () => {
  const count = 1_704_157_445_100_000n;
  assert.deepEqual(texts(timestamp(TimeUnit.MICROSECOND, "Etc/UTC"), wide(count)), ["2024-01-02 01:04:05.1+00"]);
  assert.deepEqual(texts(timestamp(TimeUnit.MICROSECOND, "Asia/Kolkata"), wide(count)), ["2024-01-02 06:34:05.1+05:30"]);
  assert.deepEqual(texts(timestamp(TimeUnit.MICROSECOND, "America/New_York"), wide(count)), ["2024-01-01 20:04:05.1-05"]);
  assert.deepEqual(offsetOf("-03:30", 0), [-12_600n, "-03:30"]);
  assert.deepEqual(offsetOf("No/Where", 0), [0n, "+00"]);
});

test("times of day and lengths of time", () => {
  assert.deepEqual(texts(time(TimeUnit.MICROSECOND, 64), wide(3_723_450_000n, 86_400_000_000n)), ["01:02:03.45", "24:00:00"]);
  assert.deepEqual(texts(duration(TimeUnit.NANOSECOND), wide(1_500_000_000n)), ["00:00:01.5"]);
  const parts = new DataView(new ArrayBuffer(32));
  parts.setInt32(0, -14, true);
  parts.setInt32(20, 5, true);
  parts.setBigInt64(24, -21_600_000_000_000n, true);
  assert.deepEqual(texts(interval(IntervalUnit.MONTH_DAY_NANO), new Uint8Array(parts.buffer), 2), [
    "-1 year -2 months", "5 days -06:00:00",
  ]);
});

test("what is in lists and dictionaries is written alike", () => {
  const of = (type: DataType, values: Stored) => {
    const whole = list(type);
    const offsets = { offsets: Int32Array.of(0, values.length), children: [batch(type, values, values.length)] };
    return exact(result(whole, batch(whole, new Uint8Array(0), 1, offsets)).value(0, 0));
  };
  assert.equal(of(timestamp(TimeUnit.MICROSECOND), wide(1_704_164_645_120_000n)), '["2024-01-02 03:04:05.12"]');
  assert.equal(of(time(TimeUnit.MICROSECOND, 64), wide(3_723_450_000n)), '["01:02:03.45"]');
  assert.equal(of(decimal(9, 2, 32), Int32Array.of(150)), '["1.50"]');
});

test("moments sort by time, however many digits are written", () => {
  const type = timestamp(TimeUnit.MICROSECOND);
  const counts = [200_000n, 123_456n, 3n, -63_524_131_200_000_000n, 2n ** 63n - 1n];
  const table = result(type, batch(type, wide(...counts), 5));
  assert.deepEqual([...sorted(table, { column: 0, descending: false })], [3, 2, 1, 0, 4]);
  assert.equal(tsv(table, Int32Array.of(1), { top: 0, bottom: 0, left: 0, right: 0 }), "1970-01-01 00:00:00.123456");
  assert.notEqual(table.value(0, 0) as Value, null);
});
