import { pushView } from "../state/address";
import { pointer } from "../state/found";
import { showPanel } from "../state/panels";
import { area, marks, show, viewport } from "../state/view";
import { canvasWidth } from "../tracks/scroll";
import { timeOf, xOf } from "./hits";
import { jumpTo, panBy, stopGlide, zoomAt } from "./motion";
import { overviewTime, overviewX } from "./overview";

/** Dragging on the ruler selects time; a click on a mark goes to it. */
export function listenToRuler(canvas: HTMLElement): () => void {
  const gone = new AbortController();
  const { signal } = gone;
  let start: number | null = null;
  const at = (event: PointerEvent | WheelEvent) => event.clientX - canvas.getBoundingClientRect().left;
  canvas.addEventListener("pointerdown", (event) => {
    start = at(event);
    canvas.setPointerCapture(event.pointerId);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const x = at(event);
    pointer.value = { x, y: -1 };
    if (start === null || Math.abs(x - start) < 3) return;
    const [from, to] = x < start ? [timeOf(x), timeOf(start)] : [timeOf(start), timeOf(x)];
    area.value = { from, to, tracks: area.peek()?.tracks ?? null };
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    const x = at(event);
    if (start !== null && Math.abs(x - start) >= 3) showPanel("selection");
    else if (marks.value.some((mark) => x >= xOf(mark.at) - 2 && x < xOf(mark.at) + 60)) showPanel("marks");
    else area.value = null;
    start = null;
  }, { signal });
  canvas.addEventListener("pointerleave", () => (pointer.value = null), { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomOrPan(event, timeOf(at(event)));
  }, { signal, passive: false });
  return () => gone.abort();
}

function zoomOrPan(event: WheelEvent, time: number): void {
  const { from, to } = viewport.value;
  if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    panBy(((event.deltaX + event.deltaY) / innerWidth) * (to - from));
  } else zoomAt(time, Math.exp(Math.max(Math.min(event.deltaY, 200), -200) * 0.0022));
}

/** The window in the overview is dragged, its edges are, or a new one is drawn beside it. */
export function listenToOverview(canvas: HTMLElement): () => void {
  const gone = new AbortController();
  const { signal } = gone;
  let drag: { kind: "move" | "left" | "right" | "new"; x: number; from: number; to: number; moved: boolean } | null = null;
  const at = (event: PointerEvent | WheelEvent) => event.clientX - canvas.getBoundingClientRect().left;
  const kindAt = (x: number) => {
    const x0 = overviewX(viewport.value.from);
    const x1 = overviewX(viewport.value.to);
    if (Math.abs(x - x0) < 6) return "left";
    if (Math.abs(x - x1) < 6) return "right";
    return x > x0 && x < x1 && x1 - x0 < canvasWidth.value * 0.98 ? "move" : "new";
  };
  canvas.addEventListener("pointerdown", (event) => {
    stopGlide();
    pushView();
    const x = at(event);
    drag = { kind: kindAt(x), x, ...viewport.value, moved: false };
    canvas.setPointerCapture(event.pointerId);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const x = at(event);
    if (!drag) {
      const kind = kindAt(x);
      canvas.style.cursor = kind === "move" ? "grab" : kind === "new" ? "crosshair" : "ew-resize";
      return;
    }
    if (Math.abs(x - drag.x) > 2) drag.moved = true;
    if (!drag.moved) return;
    const time = overviewTime(x);
    const by = time - overviewTime(drag.x);
    if (drag.kind === "move") show({ from: drag.from + by, to: drag.to + by });
    else if (drag.kind === "left") show({ from: Math.min(time, drag.to - 20), to: drag.to });
    else if (drag.kind === "right") show({ from: drag.from, to: Math.max(time, drag.from + 20) });
    else {
      const start = overviewTime(drag.x);
      show({ from: Math.min(start, time), to: Math.max(start, time) });
    }
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    if (drag && !drag.moved) {
      const time = overviewTime(at(event));
      const half = (drag.to - drag.from) / 2;
      jumpTo({ from: time - half, to: time + half });
    }
    drag = null;
  }, { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    zoomOrPan(event, overviewTime(at(event)));
  }, { signal, passive: false });
  return () => gone.abort();
}
