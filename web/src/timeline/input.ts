import { hover, pointer } from "../state/found";
import { byId, offsets } from "../state/tracks";
import { area, canWiden, viewport } from "../state/view";
import { isTextField } from "../commands/commands";
import { layout, pinnedLayout } from "../tracks/layout";
import { pinnedHeight, scrollBy, shownTop } from "../tracks/scroll";
import { chooseHit, unchoose, zoomToHit } from "./choose";
import { hitAt, rowAtY, timeOf } from "./hits";
import { holdKey, isMotionKey, panBy, releaseAll, releaseKey, setZoomTime, stopGlide, zoomAt } from "./motion";
import { showPanel } from "../state/panels";
import { pushView } from "../state/address";

const CLICK = 4;

interface Drag {
  readonly kind: "pan" | "area" | "offset";
  readonly x: number;
  readonly y: number;
  readonly from: number;
  readonly to: number;
  readonly time: number;
  readonly top: number;
  readonly mount: string | null;
  readonly offset: number;
  moved: boolean;
}

/** Listens to the pointer and the wheel on the canvas of tracks; returns what stops it. */
export function listenToCanvas(canvas: HTMLElement): () => void {
  const gone = new AbortController();
  const { signal } = gone;
  let drag: Drag | null = null;
  const placeOf = (event: PointerEvent | WheelEvent | MouseEvent) => {
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top };
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    stopGlide();
    const place = placeOf(event);
    drag = begun(event, place);
    canvas.setPointerCapture(event.pointerId);
  }, { signal });
  canvas.addEventListener("pointermove", (event) => {
    const place = placeOf(event);
    pointer.value = place;
    if (drag) dragTo(drag, place, canvas);
    else hover.value = hitAt(place.x, place.y);
  }, { signal });
  canvas.addEventListener("pointerup", (event) => {
    const place = placeOf(event);
    const was = drag;
    drag = null;
    canvas.classList.remove("dragging");
    if (was && !was.moved) click(place);
    else if (was?.kind === "area") showPanel("selection");
  }, { signal });
  canvas.addEventListener("pointercancel", () => (drag = null), { signal });
  canvas.addEventListener("pointerleave", () => {
    pointer.value = null;
    hover.value = null;
  }, { signal });
  canvas.addEventListener("dblclick", (event) => {
    const { x, y } = placeOf(event);
    const hit = hitAt(x, y);
    if (hit) zoomToHit(hit);
  }, { signal });
  canvas.addEventListener("wheel", (event) => {
    event.preventDefault();
    wheel(event, timeOf(placeOf(event).x));
  }, { signal, passive: false });
  listenToMotionKeys(signal);
  return () => gone.abort();
}

function begun(event: PointerEvent, { x, y }: { x: number; y: number }): Drag {
  const { from, to } = viewport.value;
  const mount = rowAtY(y)?.track.mount ?? null;
  const kind = event.shiftKey ? "area" : event.altKey && mount ? "offset" : "pan";
  const offset = mount ? (offsets.value.get(mount) ?? 0) : 0;
  return { kind, x, y, from, to, time: timeOf(x), top: shownTop.value, mount, offset, moved: false };
}

function dragTo(drag: Drag, { x, y }: { x: number; y: number }, canvas: HTMLElement): void {
  if (!drag.moved) {
    if (Math.hypot(x - drag.x, y - drag.y) < CLICK) return;
    drag.moved = true;
    if (drag.kind !== "pan") pushView();
    if (drag.kind === "area") unchoose();
    canvas.classList.add("dragging");
    hover.value = null;
  }
  if (drag.kind === "area") {
    const time = timeOf(x);
    area.value = { from: Math.min(time, drag.time), to: Math.max(time, drag.time), tracks: tracksBetween(drag, y) };
    return;
  }
  const by = ((x - drag.x) / canvas.clientWidth) * (drag.to - drag.from);
  if (drag.kind === "offset" && drag.mount) {
    offsets.value = new Map(offsets.value).set(drag.mount, Math.round(drag.offset + by));
    return;
  }
  panBy(drag.from - by - viewport.value.from);
  scrollBy(drag.top - (y - drag.y) - shownTop.value);
}

/** Tracks that lie between where a drag began and where the pointer is. */
function tracksBetween(drag: Drag, y: number): string[] {
  const [low, high] = drag.y < y ? [drag.y, y] : [y, drag.y];
  const upper = pinnedHeight.value;
  const found = new Set<string>();
  for (const row of pinnedLayout.value.rows) {
    if (row.top < Math.min(high, upper) && row.top + row.height > low) found.add(row.track.id);
  }
  const shift = upper - shownTop.value;
  for (const row of layout.value.rows) {
    const top = row.top + shift;
    if (top < high && top + row.height > Math.max(low, upper)) {
      found.add(row.track.id);
      if (row.open === false) addInner(row.track.id, found);
    }
  }
  return [...found].filter((id) => byId.value.get(id)?.kind !== "group");
}

/** All that is in a closed group is selected with it. */
function addInner(group: string, found: Set<string>): void {
  const inside = new Set([group]);
  for (const track of byId.value.values()) {
    if (track.parent === null || !inside.has(track.parent)) continue;
    inside.add(track.id);
    found.add(track.id);
  }
}

function click({ x, y }: { x: number; y: number }): void {
  const hit = hitAt(x, y);
  if (hit) {
    pushView();
    chooseHit(hit, timeOf(x));
  } else {
    unchoose();
    area.value = null;
  }
}

const LINE = 18;

function wheel(event: WheelEvent, time: number): void {
  const unit = event.deltaMode === 1 ? LINE : event.deltaMode === 2 ? 400 : 1;
  const dy = event.deltaY * unit;
  const dx = event.deltaX * unit;
  if (event.ctrlKey || event.metaKey) {
    if (dy < 0 || canWiden()) zoomAt(time, Math.exp(Math.max(Math.min(dy, 200), -200) * 0.0022));
    return;
  }
  const sideways = event.shiftKey ? dy + dx : dx;
  const { from, to } = viewport.value;
  if (sideways) panBy((sideways / innerWidth) * (to - from));
  if (!event.shiftKey && dy) scrollBy(dy);
}

function listenToMotionKeys(signal: AbortSignal): void {
  setZoomTime(() => {
    const at = pointer.peek();
    return at ? timeOf(at.x) : (viewport.value.from + viewport.value.to) / 2;
  });
  addEventListener("keydown", (event) => {
    const key = event.key.toLowerCase();
    if (!isMotionKey(key) || event.ctrlKey || event.metaKey || event.altKey || isTextField(event.target)) return;
    if (document.querySelector("dialog[open]")) return;
    event.preventDefault();
    holdKey(key);
  }, { signal });
  addEventListener("keyup", (event) => releaseKey(event.key.toLowerCase()), { signal });
  addEventListener("blur", releaseAll, { signal });
}
