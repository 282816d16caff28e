/** Draws frames onto a canvas. */

import { hueOf, palette } from "../theme/colours";
import { FONT, fitted, LABEL_SIZE } from "../timeline/labels";
import type { Box, Frame } from "./layout";

export const ROW = 19;
const PADDING = 4;
const NARROWEST_LABEL = 24;

export interface Drawing {
  readonly rows: readonly (readonly Box[])[];
  readonly width: number;
  readonly height: number;
  /** Roots stand at the bottom. */
  readonly upward: boolean;
  readonly found: (frame: Frame) => boolean | null;
  readonly focused: number | null;
  readonly pointed: number | null;
  readonly dark: boolean;
}

/** The upper edge of a row. */
export function topOf(depth: number, rows: number, height: number, upward: boolean): number {
  return upward ? Math.max(height, rows * ROW) - (depth + 1) * ROW : depth * ROW;
}

export function depthAt(y: number, rows: number, height: number, upward: boolean): number {
  return Math.floor((upward ? Math.max(height, rows * ROW) - y : y) / ROW);
}

export function drawFlame(context: CanvasRenderingContext2D, drawing: Drawing, from: number, to: number): void {
  const { of, fills, inks, pales } = palette(drawing.dark);
  const { rows, width, height, upward } = drawing;
  context.font = `${LABEL_SIZE}px ${FONT}`;
  context.textBaseline = "middle";
  for (let depth = 0; depth < rows.length; depth++) {
    const top = topOf(depth, rows.length, height, upward);
    if (top + ROW < from || top > to) continue;
    for (const box of rows[depth]!) {
      const left = box.x * width;
      const wide = Math.max(0.5, box.width * width - (box.width * width > 3 ? 1 : 0));
      const hue = hueOf(box.frame.name);
      const found = drawing.found(box.frame);
      const pale = box.above || found === false;
      context.fillStyle = found ? of.found : (pale ? pales : fills)[hue]!;
      context.fillRect(left, top, wide, ROW - 1);
      if (wide >= NARROWEST_LABEL) {
        context.fillStyle = found ? inks[hue]! : pale ? of["on-pale"] : inks[hue]!;
        const text = fitted(box.frame.name, wide - 2 * PADDING);
        if (text) context.fillText(text, left + PADDING, top + ROW / 2);
      }
      if (box.frame.id === drawing.focused || box.frame.id === drawing.pointed) {
        context.strokeStyle = box.frame.id === drawing.focused ? of.ink : of.faint;
        context.lineWidth = 2;
        context.strokeRect(left + 1, top + 1, Math.max(1, wide - 2), ROW - 3);
      }
    }
  }
}
