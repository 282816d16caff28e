import { effect, signal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { critical, hover, matchAt, matches, pointer, rowTime } from "../state/found";
import { generation, offsets } from "../state/tracks";
import { area, details, known, marks, shownTracks, viewport } from "../state/view";
import { begin, length } from "../state/session";
import { isDark } from "../state/theme";
import { layout, pinnedLayout } from "../tracks/layout";
import { canvasHeight, canvasWidth, pinnedHeight, shownTop } from "../tracks/scroll";
import { calledOf } from "../details/value";
import { exactTime } from "../text/times";
import { byId } from "../state/tracks";
import { CanvasRenderer } from "./canvas";
import { makeFrame, onCells } from "./frame";
import { hitAt } from "./hits";
import { listenToCanvas } from "./input";
import { drawOverlay } from "./overlay";
import { density, drawOverview, OVERVIEW_HEIGHT } from "./overview";
import { drawRuler, RULER_HEIGHT } from "./ruler";
import { listenToOverview, listenToRuler } from "./ruler_input";
import { canvasKey } from "./keyboard";
import { frameTimes } from "./frame_times";
import { Tooltip } from "./tooltip";

let rest: ReturnType<typeof setTimeout> | undefined;

/** While the view moves nothing is under the pointer; afterwards what came to be there is. */
function hoverAfterRest(): void {
  hover.value = null;
  clearTimeout(rest);
  rest = setTimeout(() => {
    const at = pointer.value;
    if (at && at.y >= 0) hover.value = hitAt(at.x, at.y);
  }, 120);
}

/** Draws at most once a frame, and only layers of which something has changed. */
function painter(draw: () => void): () => void {
  let waiting = 0;
  return () => {
    waiting ||= requestAnimationFrame(() => {
      waiting = 0;
      draw();
    });
  };
}

/** How many pixels of the screen are one of CSS: it changes when the page moves to another screen. */
const ratio = signal(devicePixelRatio || 1);

function watchRatio(): void {
  matchMedia(`(resolution: ${devicePixelRatio}dppx)`).addEventListener("change", () => {
    ratio.value = devicePixelRatio || 1;
    watchRatio();
  }, { once: true });
}
watchRatio();

/** The ruler and, above it, the whole session. */
export function TimeAxis() {
  const ruler = useRef<HTMLCanvasElement>(null);
  const overview = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const paint = painter(() => {
      if (ruler.current) drawRuler(ruler.current);
      if (overview.current) drawOverview(overview.current);
    });
    const stops = [
      effect(() => {
        void [viewport.value, area.value, marks.value, pointer.value, isDark.value, canvasWidth.value];
        void [density.value, length.value, canvasHeight.value, ratio.value];
        paint();
      }),
      listenToRuler(ruler.current!),
      listenToOverview(overview.current!),
    ];
    return () => stops.forEach((stop) => stop());
  }, []);
  return (
    <div class="axis">
      <canvas ref={overview} class="overview" style={{ height: `${OVERVIEW_HEIGHT}px` }} role="img" aria-label="The whole session: how busy it was" />
      <canvas ref={ruler} class="ruler" style={{ height: `${RULER_HEIGHT}px` }} role="img" aria-label="Ruler: drag to select time" />
    </div>
  );
}

/** Tracks on a canvas, with what is selected on another one above it. */
export function Timeline() {
  const box = useRef<HTMLDivElement>(null);
  const ground = useRef<HTMLCanvasElement>(null);
  const layer = useRef<HTMLCanvasElement>(null);
  const upper = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const renderer = new CanvasRenderer(ground.current!);
    const paint = painter(() => {
      const began = performance.now();
      const frame = makeFrame();
      renderer.draw(frame);
      shownTracks.value = frame.bands.flatMap((band) => band.rows.map((row) => row.track.id));
      frameTimes.add(performance.now() - began);
    });
    const paintUpper = painter(() => layer.current && drawOverlay(layer.current));
    const observer = new ResizeObserver(() => {
      canvasWidth.value = Math.max(box.current!.clientWidth, 1);
      canvasHeight.value = Math.max(box.current!.clientHeight, 1);
      paint();
      paintUpper();
    });
    observer.observe(box.current!);
    onCells(paint);
    const stops = [
      effect(() => {
        void [viewport.value, layout.value, pinnedLayout.value, shownTop.value, generation.value, offsets.value];
        void [isDark.value, canvasWidth.value, canvasHeight.value, begin.value, length.value, ratio.value];
        paint();
      }),
      effect(() => {
        void [viewport.value, layout.value, pinnedLayout.value, shownTop.value, offsets.value, isDark.value];
        void [known.value, details.value, area.value, marks.value, hover.value, matches.value, rowTime.value];
        void [matchAt.value, critical.value, canvasWidth.value, canvasHeight.value, ratio.value];
        paintUpper();
      }),
      effect(() => {
        void [viewport.value, shownTop.value];
        hoverAfterRest();
      }),
      listenToCanvas(upper.current!),
      () => observer.disconnect(),
    ];
    return () => stops.forEach((stop) => stop());
  }, []);
  return (
    <div class="canvases" ref={box}>
      <canvas ref={ground} aria-hidden="true" />
      <canvas ref={layer} aria-hidden="true" hidden />
      {pinnedHeight.value > 0 && <div class="pinned-edge" style={{ top: `${pinnedHeight.value - 1}px` }} />}
      <Cursor />
      <div
        ref={upper}
        class="upper"
        tabIndex={0}
        role="application"
        aria-label="Timeline. Arrow keys pan and scroll, W and S zoom, full stop and comma go from slice to slice."
        aria-describedby="chosen"
        onKeyDown={canvasKey}
      />
      <div id="chosen" class="hidden" aria-live="polite">{describeChosen()}</div>
      <Tooltip />
    </div>
  );
}

function Cursor() {
  const at = pointer.value;
  return at && <div class="cursor" style={{ transform: `translateX(${Math.round(at.x)}px)` }} />;
}

function describeChosen(): string {
  const found = known.value;
  if (found) {
    const track = byId.value.get(found.track);
    return `${calledOf(found)} on ${track?.name ?? found.track}, ${exactTime(Number(found.duration))}`;
  }
  const chosen = area.value;
  return chosen ? `${exactTime(Math.round(chosen.to - chosen.from))} are selected` : "Nothing is selected";
}
