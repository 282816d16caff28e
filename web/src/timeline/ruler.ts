import { area, marks, viewport } from "../state/view";
import { pointer } from "../state/found";
import { length } from "../state/session";
import { isDark } from "../state/theme";
import { exactTime } from "../text/times";
import { palette } from "../theme/colours";
import { canvasWidth } from "../tracks/scroll";
import { rulerTicks } from "./frame";
import { xOf, timeOf } from "./hits";
import { fitted, FONT, widthOf } from "./labels";

export const RULER_HEIGHT = 30;

/** Draws times, marks with their names, the selected range with its length, and the time at the cursor. */
export function drawRuler(canvas: HTMLCanvasElement): void {
  const context = fresh(canvas, canvasWidth.value, RULER_HEIGHT);
  if (!context) return;
  const { of } = palette(isDark.value);
  context.font = `11px ${FONT}`;
  context.textBaseline = "middle";
  drawTicks(context, of);
  const chosen = area.value;
  if (chosen) {
    const x0 = xOf(chosen.from);
    const x1 = xOf(chosen.to);
    context.globalAlpha = 0.2;
    context.fillStyle = of.accent;
    context.fillRect(x0, 0, x1 - x0, RULER_HEIGHT);
    context.globalAlpha = 1;
    chip(context, exactTime(Math.round(chosen.to - chosen.from)), (x0 + x1) / 2, of.accent, of.background);
  }
  for (const mark of marks.value) drawMark(context, of, mark.at, mark.name);
  const at = pointer.value;
  if (at) chip(context, exactTime(Math.round(timeOf(at.x))), at.x, of.ink, of.background);
}

/** Makes a canvas as large as it is on the screen, empty, and drawn on in CSS pixels. */
export function fresh(canvas: HTMLCanvasElement, width: number, height: number): CanvasRenderingContext2D | null {
  const ratio = devicePixelRatio || 1;
  const wide = Math.max(Math.round(width * ratio), 1);
  const high = Math.max(Math.round(height * ratio), 1);
  if (canvas.width !== wide) canvas.width = wide;
  if (canvas.height !== high) canvas.height = high;
  const context = canvas.getContext("2d");
  context?.setTransform(ratio, 0, 0, ratio, 0, 0);
  context?.clearRect(0, 0, width, height);
  return context;
}

type Colours = ReturnType<typeof palette>["of"];

function drawTicks(context: CanvasRenderingContext2D, of: Colours): void {
  if (!length.value) return;
  const { step, ticks } = rulerTicks.value;
  const small = step / 5;
  const { from, to } = viewport.value;
  context.fillStyle = of.rule;
  for (let time = Math.ceil(from / small) * small, count = 0; time <= to && count < 2000; time += small, count++) {
    context.fillRect(Math.round(xOf(time)), RULER_HEIGHT - 5, 1, 5);
  }
  for (const { time, label } of ticks) {
    const x = Math.round(xOf(time));
    context.fillStyle = of.tick;
    context.fillRect(x, RULER_HEIGHT - 10, 1, 10);
    context.fillStyle = of.faint;
    context.fillText(label, x + 4, RULER_HEIGHT / 2 - 2);
  }
}

function drawMark(context: CanvasRenderingContext2D, of: Colours, at: number, name: string): void {
  const x = Math.round(xOf(at));
  if (x < -100 || x > canvasWidth.value) return;
  const text = fitted(name, 120);
  const wide = widthOf(text) + 10;
  context.fillStyle = of.found;
  context.fillRect(x, 0, 1.5, RULER_HEIGHT);
  context.beginPath();
  context.roundRect(x, 1, wide, 14, [0, 4, 4, 0]);
  context.fill();
  context.fillStyle = "#14171a";
  context.fillText(text, x + 5, 8.5);
}

function chip(context: CanvasRenderingContext2D, text: string, x: number, fill: string, ink: string): void {
  const wide = widthOf(text) + 12;
  const left = Math.min(Math.max(x - wide / 2, 1), canvasWidth.value - wide - 1);
  context.fillStyle = fill;
  context.beginPath();
  context.roundRect(left, 4, wide, 18, 4);
  context.fill();
  context.fillStyle = ink;
  context.fillText(text, left + 6, 13.5);
}
