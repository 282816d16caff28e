import assert from "node:assert/strict";
import { test } from "node:test";
import { crc32, FILL_COUNT, hueOf, NO_HUE, palette, stateFill } from "../src/theme/colours";

test("crc32 is that of zlib", () => {
  assert.equal(crc32(""), 0);
  assert.equal(crc32("123456789"), 0xcbf43926);
  assert.equal(crc32("grün"), 0x5d95b1a5);
});

test("a name has one hue and none has its own", () => {
  assert.equal(hueOf("futex"), crc32("futex") % 9);
  assert.equal(hueOf(null), NO_HUE);
  assert.equal(hueOf(""), NO_HUE);
});

test("states that everybody knows have one colour in any spelling", () => {
  assert.equal(stateFill("Running"), stateFill("on-cpu"));
  assert.equal(stateFill("Uninterruptible (IO)"), stateFill("D"));
  assert.notEqual(stateFill("R"), stateFill("S"));
  assert.equal(stateFill("my state"), hueOf("my state"));
});

test("both palettes have a colour, a paler one and an ink for every fill", () => {
  for (const dark of [false, true]) {
    const { fills, pales, inks } = palette(dark);
    for (const all of [fills, pales, inks]) {
      assert.equal(all.length, FILL_COUNT);
      for (const colour of all) assert.match(colour, /^#[0-9a-f]{6}$/);
    }
  }
});

test("what is written on a fill can be read", () => {
  for (const dark of [false, true]) {
    const { fills, inks } = palette(dark);
    fills.forEach((fill, place) => assert.ok(contrast(fill, inks[place]!) >= 4.5, `${fill} ${inks[place]}`));
  }
});

function luminance(colour: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const value = parseInt(colour.slice(at, at + 2), 16) / 255;
    return value <= 0.03928 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red! + 0.7152 * green! + 0.0722 * blue!;
}

function contrast(a: string, b: string): number {
  const [high, low] = [luminance(a), luminance(b)].sort((x, y) => y - x);
  return (high! + 0.05) / (low! + 0.05);
}
