/** A flame graph that is zoomed, read and searched by mouse and keys. */

import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { isDark } from "../state/theme";
import { amount, whole } from "../text/amounts";
import { depthAt, drawFlame, ROW, topOf } from "./draw";
import { boxAt, type Frame, layout, neighbour, pathTo, type Step, type Tree } from "./layout";

interface Props {
  readonly tree: Tree;
  readonly unit: string | null;
  readonly label: string;
  /** Roots stand at the bottom. */
  readonly upward: boolean;
  readonly search: string;
  readonly zoomed: number | null;
  readonly onZoom: (id: number | null) => void;
  readonly onFunction?: ((name: string) => void) | undefined;
}

const STEPS: Readonly<Record<string, readonly [upward: Step, downward: Step]>> = {
  ArrowUp: ["child", "parent"],
  ArrowDown: ["parent", "child"],
  ArrowLeft: ["previous", "previous"],
  ArrowRight: ["next", "next"],
};

export function FlameCanvas({ tree, unit, label, upward, search, zoomed, onZoom, onFunction }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const [size, setSize] = useState({ width: 600, height: 200 });
  const [top, setTop] = useState(0);
  const [pointed, setPointed] = useState<{ frame: Frame; x: number; y: number } | null>(null);
  const [focused, setFocused] = useState<number | null>(null);
  const dark = isDark.value;
  const rows = useMemo(() => layout(tree, zoomed, 0.4 / size.width), [tree, zoomed, size.width]);
  const full = Math.max(size.height, rows.length * ROW);
  const needle = search.toLowerCase();
  const found = (frame: Frame): boolean | null => (needle ? frame.name.toLowerCase().includes(needle) : null);

  useLayoutEffect(() => {
    const it = box.current!;
    const watch = new ResizeObserver(() => setSize({ width: Math.max(50, it.clientWidth), height: it.clientHeight }));
    watch.observe(it);
    return () => watch.disconnect();
  }, []);
  useEffect(() => {
    box.current!.scrollTop = upward ? full : 0;
  }, [tree, upward, zoomed]);
  useEffect(() => {
    setPointed(null);
    setFocused(null);
  }, [tree]);
  useLayoutEffect(() => {
    const it = canvas.current!;
    const scale = devicePixelRatio;
    it.width = Math.round(size.width * scale);
    it.height = Math.round(size.height * scale);
    it.style.width = `${size.width}px`;
    it.style.height = `${size.height}px`;
    const context = it.getContext("2d")!;
    context.setTransform(scale, 0, 0, scale, 0, -top * scale);
    const drawing = { rows, width: size.width, height: size.height, upward, found, focused, pointed: pointed?.frame.id ?? null, dark };
    drawFlame(context, drawing, top, top + size.height);
  }, [rows, size, top, upward, needle, focused, pointed?.frame.id, dark]);

  function at(event: MouseEvent): Frame | null {
    const { left, top: above } = canvas.current!.getBoundingClientRect();
    const depth = depthAt(event.clientY - above + top, rows.length, size.height, upward);
    return boxAt(rows[depth], (event.clientX - left) / size.width)?.frame ?? null;
  }

  function focus(frame: Frame): void {
    setFocused(frame.id);
    const depth = pathTo(tree, frame.id).length - 1;
    const y = topOf(depth, rows.length, size.height, upward);
    const it = box.current!;
    if (y < it.scrollTop) it.scrollTop = y;
    else if (y + ROW > it.scrollTop + it.clientHeight) it.scrollTop = y + ROW - it.clientHeight;
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const now = focused === null ? null : (tree.frames.get(focused) ?? null);
    const steps = STEPS[event.key];
    if (steps) {
      const start = now ?? tree.frames.get(zoomed ?? -1) ?? rows[0]?.[0]?.frame;
      if (start) focus(now ? neighbour(tree, now, steps[upward ? 0 : 1]) : start);
    } else if (event.key === "Enter" && now) onZoom(now.id);
    else if (event.key === "Backspace" && zoomed !== null) onZoom(tree.frames.get(zoomed)?.parent ?? null);
    else if (event.key === "Escape" && zoomed !== null) onZoom(null);
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  const told = focused === null ? null : tree.frames.get(focused);
  return (
    <div
      ref={box}
      class="flame-box"
      role="application"
      aria-roledescription="flame graph"
      aria-label={label}
      tabIndex={0}
      onKeyDown={onKeyDown}
      onScroll={(event) => setTop(event.currentTarget.scrollTop)}
    >
      <div class="flame-all" style={{ height: `${full}px` }}>
        <canvas
          ref={canvas}
          class="flame-canvas"
          onPointerMove={(event) => {
            const frame = at(event);
            setPointed(frame && { frame, x: event.clientX, y: event.clientY });
          }}
          onPointerLeave={() => setPointed(null)}
          onClick={(event) => {
            const frame = at(event);
            if (!frame) return;
            setFocused(frame.id);
            onZoom(frame.id === zoomed ? frame.parent : frame.id);
          }}
          onContextMenu={(event) => {
            const frame = at(event);
            if (!frame || !onFunction) return;
            event.preventDefault();
            onFunction(frame.name);
          }}
        />
      </div>
      <div class="out-of-sight" aria-live="polite">{told && summary(told, tree, unit)}</div>
      {pointed && <Tip {...pointed} tree={tree} unit={unit} zoomed={zoomed} />}
    </div>
  );
}

function summary(frame: Frame, tree: Tree, unit: string | null): string {
  return `${frame.name}: ${amount(frame.value, unit)}, ${percent(frame.value, tree.total)}, self ${amount(frame.self, unit)}`;
}

export function percent(part: number, all: number): string {
  return all > 0 ? `${((100 * part) / all).toFixed(part === all ? 0 : 2)} %` : "";
}

interface TipProps {
  readonly frame: Frame;
  readonly x: number;
  readonly y: number;
  readonly tree: Tree;
  readonly unit: string | null;
  readonly zoomed: number | null;
}

function Tip({ frame, x, y, tree, unit, zoomed }: TipProps) {
  const around = zoomed === null ? null : tree.frames.get(zoomed);
  const right = x > innerWidth - 380;
  const below = y < innerHeight - 140;
  const place = {
    [right ? "right" : "left"]: `${right ? innerWidth - x + 14 : x + 14}px`,
    [below ? "top" : "bottom"]: `${below ? y + 16 : innerHeight - y + 12}px`,
  };
  return (
    <div class="flame-tip" style={place}>
      <strong>{frame.name}</strong>
      <table>
        <tbody>
          <tr><th>total</th><td>{amount(frame.value, unit)}</td><td>{percent(frame.value, tree.total)}</td></tr>
          <tr><th>self</th><td>{amount(frame.self, unit)}</td><td>{percent(frame.self, tree.total)}</td></tr>
          {around && around !== frame && <tr><th>of what is zoomed</th><td /><td>{percent(frame.value, around.value)}</td></tr>}
          {unit !== "samples" && <tr><th>count</th><td>{whole(frame.count)}</td><td /></tr>}
        </tbody>
      </table>
    </div>
  );
}
