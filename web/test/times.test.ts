import assert from "node:assert/strict";
import { test } from "node:test";
import { amount, axis } from "../src/text/amounts";
import { briefTime, exactTime, parseTime, ticks, tickStep } from "../src/text/times";

test("exact times keep every digit", () => {
  assert.equal(exactTime(1_000_000_001), "1.000000001 s");
  assert.equal(exactTime(1_500), "1.5 µs");
  assert.equal(exactTime(-1_500_000), "−1.5 ms");
  assert.equal(exactTime(0), "0 ns");
  assert.equal(exactTime(8_640_000_000_000_123), "8,640,000.000000123 s");
});

test("brief times have four digits", () => {
  assert.equal(briefTime(1_234_567), "1.235 ms");
  assert.equal(briefTime(9_000e9), "2.5 h");
  assert.equal(briefTime(90e9), "90 s");
  assert.equal(briefTime(12), "12 ns");
});

test("times that are typed are read with their units", () => {
  assert.equal(parseTime("1.5 ms"), 1_500_000);
  assert.equal(parseTime("-20us"), -20_000);
  assert.equal(parseTime("−20 µs"), -20_000);
  assert.equal(parseTime("7"), 7);
  assert.equal(parseTime("2 min"), 120e9);
  assert.equal(parseTime("soon"), null);
  assert.equal(parseTime("1 parsec"), null);
});

test("what exactTime writes, parseTime reads", () => {
  for (const time of [0, 1, 999, 1000, 123_456_789, -5_000_000, 3_600_000_000_001]) {
    assert.equal(parseTime(exactTime(time)), time);
  }
});

test("ticks have room and are multiples of their step", () => {
  for (const [from, to] of [[0, 100], [-50, 1e6], [123, 9.7e9], [0, 8.64e13], [5e12, 5e12 + 40]] as const) {
    const { step, ticks: found } = ticks(from, to, 1000, 90);
    assert.ok((step / (to - from)) * 1000 >= 90 - 1e-9, `${step} of ${to - from}`);
    for (const tick of found) {
      assert.equal(tick.time % step === 0 || Math.abs(tick.time % step) < 1e-6, true);
      assert.ok(tick.time >= from && tick.time <= to);
    }
    assert.equal(new Set(found.map((tick) => tick.label)).size, found.length);
  }
});

test("steps are 1, 2 or 5 and then of minutes and hours", () => {
  assert.equal(tickStep(3), 5);
  assert.equal(tickStep(21e9), 60e9);
  assert.equal(tickStep(21 * 60e9), 3600e9);
  assert.equal(tickStep(11 * 3600e9), 86400e9);
});

test("amounts are scaled by their units", () => {
  assert.equal(amount(1536, "B"), "1.5 KiB");
  assert.equal(amount(3 * 2 ** 30, "B"), "3 GiB");
  assert.equal(amount(1_804_800, "kHz"), "1.805 GHz");
  assert.equal(amount(2048, "KiB"), "2 MiB");
  assert.equal(amount(37, "%"), "37 %");
  assert.equal(amount(12_345, null), "12,345");
  assert.equal(amount(1.5, "ms"), "1.5 ms");
});

test("an axis has round values within its bounds", () => {
  assert.deepEqual(axis(0, 10, 5), [0, 2, 4, 6, 8, 10]);
  assert.deepEqual(axis(5, 5, 3), []);
});
