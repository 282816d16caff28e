import { batch } from "@preact/signals";
import { pushView } from "../state/address";
import { area, bounded, canWiden, everything, known, show, viewport, type Range } from "../state/view";
import { offsetOf } from "../state/tracks";
import { fromTime } from "../state/session";

/** Movement of the visible range: held keys accelerate, jumps glide. */

const still = matchMedia("(prefers-reduced-motion: reduce)");
let gliding = 0;

export function zoomAt(time: number, factor: number): void {
  stopGlide();
  const { from, to } = viewport.value;
  const least = 20 / (to - from);
  const by = Math.max(factor, least);
  show({ from: time - (time - from) * by, to: time + (to - time) * by });
}

export function panBy(time: number): void {
  stopGlide();
  const { from, to } = viewport.value;
  show({ from: from + time, to: to + time });
}

export function stopGlide(): void {
  cancelAnimationFrame(gliding);
  gliding = 0;
}

/** Glides to a range; the one before can be gone back to. */
export function jumpTo(range: Range): void {
  stopGlide();
  pushView();
  const { from: first, to: last } = bounded(range);
  // An address tells whole ns: a jump ends where its address leads.
  const goal = { from: Math.round(first), to: Math.round(last) };
  const start = viewport.value;
  const began = performance.now();
  const wide = Math.log((goal.to - goal.from) / (start.to - start.from));
  if (still.matches || document.hidden) {
    viewport.value = goal;
    return;
  }
  const step = (now: number) => {
    const part = Math.min((now - began) / 220, 1);
    const eased = 1 - (1 - part) ** 3;
    if (part === 1) {
      viewport.value = goal;
      gliding = 0;
      return;
    }
    const width = (start.to - start.from) * Math.exp(wide * eased);
    const share = Math.abs(wide) < 1e-9 ? eased : (width - (start.to - start.from)) / (goal.to - goal.from - (start.to - start.from));
    const from = start.from + (goal.from - start.from) * share;
    viewport.value = { from, to: from + width };
    gliding = requestAnimationFrame(step);
  };
  gliding = requestAnimationFrame(step);
}

/** Fits what is selected; if it fits already, or nothing is, everything. */
export function fit(): void {
  const chosen = area.value ?? selectedRange();
  if (chosen && chosen.to > chosen.from) {
    const room = (chosen.to - chosen.from) * (area.value ? 0.02 : 0.1);
    const goal = bounded({ from: chosen.from - room, to: chosen.to + room });
    const { from, to } = viewport.value;
    const near = (goal.to - goal.from) * 0.01;
    if (Math.abs(goal.from - from) > near || Math.abs(goal.to - to) > near) return jumpTo(goal);
  }
  jumpTo(everything());
}

/** The time of the selected slice as it is shown. */
export function selectedRange(): Range | null {
  const found = known.value;
  if (!found) return null;
  const from = fromTime(found.from) + offsetOf(found.track);
  return { from, to: from + Number(found.duration) };
}

/** Moves so that a range is seen: zooms only if it is far too large or small for the screen. */
export function bringIntoView(range: Range): void {
  const { from, to } = viewport.value;
  const width = to - from;
  const wide = range.to - range.from;
  const seen = range.from >= from && range.to <= to;
  const small = wide < width / 2000;
  if (seen && !small) return;
  if (wide > width * 0.9 || (small && wide > 0 && !seen)) {
    const room = Math.max(wide * 1.5, 1000);
    return jumpTo({ from: range.from - room, to: range.to + room });
  }
  if (seen) return;
  const centre = (range.from + range.to) / 2;
  jumpTo({ from: centre - width / 2, to: centre + width / 2 });
}

const held = new Set<string>();
let turning = 0;
let lastTurn = 0;
let speed = 0;
let grow = 0;
/** Where W and S zoom: the pointer's time, or the middle. */
let zoomTime: () => number = () => (viewport.value.from + viewport.value.to) / 2;

export function setZoomTime(of: () => number): void {
  zoomTime = of;
}

const PAN_KEYS: Readonly<Record<string, number>> = { a: -1, d: 1 };
const ZOOM_KEYS: Readonly<Record<string, number>> = { w: -1, s: 1 };

export function isMotionKey(key: string): boolean {
  return key in PAN_KEYS || key in ZOOM_KEYS;
}

export function holdKey(key: string): void {
  held.add(key);
  stopGlide();
  if (turning) return;
  lastTurn = performance.now();
  turning = requestAnimationFrame(turn);
}

export function releaseKey(key: string): void {
  held.delete(key);
}

export function releaseAll(): void {
  held.clear();
}

function turn(now: number): void {
  const seconds = Math.min((now - lastTurn) / 1000, 0.1);
  lastTurn = now;
  let pan = 0;
  let zoom = 0;
  for (const key of held) {
    pan += PAN_KEYS[key] ?? 0;
    zoom += ZOOM_KEYS[key] ?? 0;
  }
  speed = approach(speed, pan * 1.4, seconds);
  grow = approach(grow, zoom * 2.6, seconds);
  const width = viewport.value.to - viewport.value.from;
  batch(() => {
    if (speed) show({ from: viewport.value.from + speed * width * seconds, to: viewport.value.to + speed * width * seconds });
    if (grow) {
      const time = zoomTime();
      const by = Math.max(Math.exp(grow * seconds), 20 / width);
      const { from, to } = viewport.value;
      if (grow < 0 || canWiden()) show({ from: time - (time - from) * by, to: time + (to - time) * by });
    }
  });
  turning = speed || grow || held.size ? requestAnimationFrame(turn) : 0;
}

/** Speeds up within some tenths of a second, and slows down sooner. */
function approach(value: number, goal: number, seconds: number): number {
  const rate = goal === 0 ? 14 : 5;
  const next = goal + (value - goal) * Math.exp(-rate * seconds);
  return goal === 0 && Math.abs(next) < 0.02 ? 0 : next;
}
