import { computed, effect, signal } from "@preact/signals";
import { api } from "../api/api";
import type { Cells, Track } from "../api/types";
import { begin, length } from "../state/session";
import { generation, offsetOf, tracks } from "../state/tracks";
import { area, extent, marks, viewport } from "../state/view";
import { isDark } from "../state/theme";
import { palette } from "../theme/colours";
import { canvasWidth } from "../tracks/scroll";
import { exponentOf, gridOf, tilesOf, tileTime } from "./grid";
import { fresh } from "./ruler";

export const OVERVIEW_HEIGHT = 36;
const BINS = 1024;
const MOST_TRACKS = 64;

const loaded = signal<{ readonly cells: Cells; readonly chosen: readonly Track[] } | null>(null);
/** How busy each of BINS equal parts of the session is, from 0 to 1. */
export const density = computed(() => loaded.value && binned(loaded.value.cells, loaded.value.chosen));

/** Tracks that tell how busy a session is: what ran on CPUs, otherwise what has most rows. */
function telling(): Track[] {
  const spans = tracks.value.filter((track) => track.kind === "slices" && track.rows > 0);
  const cpus = spans.filter((track) => track.source?.endsWith(".cpu_running"));
  const others = tracks.value.filter((track) => track.kind !== "group" && track.rows > 0);
  const chosen = cpus.length ? cpus : spans.length ? spans : others;
  return [...chosen].sort((a, b) => b.rows - a.rows).slice(0, MOST_TRACKS);
}

async function load(chosen: readonly Track[], signal: AbortSignal): Promise<void> {
  const origin = begin.value;
  const grid = gridOf(exponentOf(length.value, BINS), origin);
  const [first, end] = tilesOf(grid, 0, length.value + 1);
  const from = String(tileTime(grid, first));
  const request = { tracks: chosen.map((track) => track.id), from, to: String(tileTime(grid, end)), step: 2 ** grid.exponent };
  const cells = await api().tiles(request, origin, signal);
  loaded.value = { cells, chosen };
}

function binned(cells: Cells, chosen: readonly Track[]): Float64Array {
  const bins = new Float64Array(BINS);
  const all = extent.value;
  const scale = BINS / (all.to - all.from);
  for (let at = 0; at < cells.rows; at++) {
    const track = chosen[cells.track[at]!];
    if (!track || (track.kind === "slices" && cells.lane[at]! > 0)) continue;
    const begins = (cells.from[at]! + offsetOf(track.id) - all.from) * scale;
    const spans = track.kind === "slices" || track.kind === "states";
    const ends = begins + Math.max(cells.duration[at]! * scale, 1e-9);
    const weight = spans ? cells.total[at]! / Math.max(cells.duration[at]!, 1) : cells.count[at]! / (ends - begins);
    spread(bins, begins, ends, weight);
  }
  const sorted = Float64Array.from(bins).sort();
  const most = sorted[Math.floor(BINS * 0.995)]! || sorted[BINS - 1]! || 1;
  return bins.map((value) => Math.min(value / most, 1));
}

function spread(bins: Float64Array, begins: number, ends: number, weight: number): void {
  const last = Math.min(Math.ceil(ends), BINS);
  for (let bin = Math.max(Math.floor(begins), 0); bin < last; bin++) {
    bins[bin]! += weight * Math.max(Math.min(ends, bin + 1) - Math.max(begins, bin), 0);
  }
}

let stop: AbortController | undefined;
effect(() => {
  generation.value;
  const chosen = telling();
  stop?.abort();
  if (!chosen.length || !length.value) return;
  stop = new AbortController();
  load(chosen, stop.signal).catch(() => undefined);
});

/** The place of a time in the overview, in CSS pixels. */
export function overviewX(time: number): number {
  const { from, to } = extent.value;
  return ((time - from) / (to - from)) * canvasWidth.value;
}

/** The time at a place of the overview. */
export function overviewTime(x: number): number {
  const { from, to } = extent.value;
  return from + (x / canvasWidth.value) * (to - from);
}

/** Draws the whole session with the visible part as a window. */
export function drawOverview(canvas: HTMLCanvasElement): void {
  const width = canvasWidth.value;
  const context = fresh(canvas, width, OVERVIEW_HEIGHT);
  if (!context) return;
  const colours = palette(isDark.value);
  const { of } = colours;
  const bins = density.value;
  if (bins) {
    context.fillStyle = of.range;
    context.beginPath();
    context.moveTo(0, OVERVIEW_HEIGHT);
    bins.forEach((value, bin) => {
      const y = OVERVIEW_HEIGHT - value * (OVERVIEW_HEIGHT - 5);
      context.lineTo((bin / BINS) * width, y);
      context.lineTo(((bin + 1) / BINS) * width, y);
    });
    context.lineTo(width, OVERVIEW_HEIGHT);
    context.fill();
  }
  const chosen = area.value;
  if (chosen) {
    context.fillStyle = of.accent;
    context.globalAlpha = 0.35;
    context.fillRect(overviewX(chosen.from), 0, Math.max(overviewX(chosen.to) - overviewX(chosen.from), 1), OVERVIEW_HEIGHT);
    context.globalAlpha = 1;
  }
  context.fillStyle = of.found;
  for (const mark of marks.value) context.fillRect(overviewX(mark.at) - 1, 0, 2, OVERVIEW_HEIGHT);
  drawWindow(context, colours.dark, of.accent);
}

function drawWindow(context: CanvasRenderingContext2D, dark: boolean, edge: string): void {
  const width = canvasWidth.value;
  const x0 = Math.max(overviewX(viewport.value.from), 0);
  const x1 = Math.min(Math.max(overviewX(viewport.value.to), x0 + 2), width);
  context.fillStyle = dark ? "rgb(10 12 14 / 55%)" : "rgb(90 100 115 / 22%)";
  context.fillRect(0, 0, x0, OVERVIEW_HEIGHT);
  context.fillRect(x1, 0, width - x1, OVERVIEW_HEIGHT);
  context.strokeStyle = edge;
  context.lineWidth = 1;
  context.strokeRect(Math.round(x0) + 0.5, 0.5, Math.max(Math.round(x1 - x0) - 1, 2), OVERVIEW_HEIGHT - 1);
  context.fillStyle = edge;
  for (const x of [x0, x1]) context.fillRect(Math.round(x) - 1.5, OVERVIEW_HEIGHT / 2 - 7, 3, 14);
}
