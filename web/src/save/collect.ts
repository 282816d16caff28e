/** Gathers what is on the page, and cells around what is seen. */

import { api } from "../api/api";
import type { Cells, Track, TrackId } from "../api/types";
import { graph } from "../flame/state";
import { runs } from "../query/runs";
import { report } from "../report/state";
import { selection } from "../selection/state";
import { begin, length, session } from "../state/session";
import { byId, pins, tracks } from "../state/tracks";
import { details, viewport } from "../state/view";
import { exponentOf, gridOf, tilesOf, tileTime } from "../timeline/grid";
import { layout, pinnedLayout } from "../tracks/layout";
import { canvasWidth } from "../tracks/scroll";
import { compress, toBase64 } from "./bytes";
import { packed, ROW_BYTES, sizeOf } from "./cells";
import { FORMAT, type SavedLevel, type SavedReport, type SavedRun, type SavedView } from "./format";

/** Zoom levels: how much finer than what is seen, and over how many times the range. */
const LEVELS: readonly (readonly [finer: number, wider: number])[] = [[2, 1], [1, 1], [0, 2], [-1, 3], [-2, 6]];
const OVERVIEW = 1024;
const MOST_BYTES = 256 << 20;
const AT_ONCE = 64;
const MOST_TRACKS = 2000;

export class TooMuch extends Error {}

interface Gathered {
  readonly level: Omit<SavedLevel, "begin">;
  readonly cells: Cells;
}

export async function collect(stop: AbortSignal): Promise<SavedView> {
  const ids = savedTracks();
  const gathered: Gathered[] = [];
  let bytes = 0;
  for (const range of ranges()) {
    const found = await level(range, ids, stop);
    bytes += found.cells.rows * ROW_BYTES;
    if (bytes > MOST_BYTES) throw new TooMuch("this view has too many slices to be one file");
    gathered.push(found);
  }
  let at = 0;
  const levels = gathered.map(({ level: about, cells }) => {
    const start = at;
    at += sizeOf(cells.rows);
    return { ...about, begin: start };
  });
  return {
    format: FORMAT,
    made: new Date().toISOString(),
    hash: location.hash,
    session: { ...session.value!, mounts: session.value!.mounts.map((mount) => ({ ...mount, path: fileName(mount.path) })), report: null },
    tree: { begin: String(begin.value), end: String(begin.value + BigInt(Math.round(length.value))), tracks: tracks.value },
    levels,
    cells: toBase64(await compress(packed(gathered.map(({ cells }) => cells)))),
    ...panels(),
  };
}

/** Where the trace lay is nobody's concern who reads a bug report. */
const fileName = (path: string): string => path.split(/[\\/]/).pop() ?? path;

/** Everything that is expanded, pinned, or previewed in a closed group. */
function savedTracks(): TrackId[] {
  const rows = [...pinnedLayout.value.rows, ...layout.value.rows];
  const ids = rows.flatMap((row) => (row.preview === null ? [row.track.id] : [row.track.id, row.preview]));
  const kept = [...new Set([...pins.value, ...ids])].filter((id) => isDrawn(byId.value.get(id)));
  if (kept.length > MOST_TRACKS) throw new TooMuch(`${kept.length} tracks are open, at most ${MOST_TRACKS} can be saved`);
  return kept;
}

const isDrawn = (track: Track | undefined): boolean => track !== undefined && track.kind !== "group" && track.rows > 0;

interface Range {
  readonly exponent: number;
  readonly from: number;
  readonly to: number;
}

/** What is seen at several zooms, and everything from afar, so that nothing is ever empty. */
function ranges(): Range[] {
  const { from, to } = viewport.value;
  const now = exponentOf(to - from, canvasWidth.value);
  const middle = (from + to) / 2;
  const afar = exponentOf(length.value, OVERVIEW);
  const found = new Map<number, Range>();
  for (const [finer, wider] of LEVELS) {
    const half = ((to - from) * wider) / 2;
    const exponent = Math.max(0, now - finer);
    if (exponent < afar) found.set(exponent, { exponent, from: Math.max(0, middle - half), to: Math.min(length.value + 1, middle + half) });
  }
  found.set(afar, { exponent: afar, from: 0, to: length.value + 1 });
  return [...found.values()].filter((range) => range.to > range.from);
}

async function level(range: Range, ids: readonly TrackId[], stop: AbortSignal): Promise<Gathered> {
  const grid = gridOf(range.exponent, begin.value);
  const [first, end] = tilesOf(grid, range.from, range.to);
  const [from, to] = [String(tileTime(grid, first)), String(tileTime(grid, end))];
  const parts: { cells: Cells; before: number }[] = [];
  for (let at = 0; at < ids.length; at += AT_ONCE) {
    const request = { tracks: ids.slice(at, at + AT_ONCE), from, to, step: 2 ** range.exponent };
    parts.push({ cells: await api().tiles(request, begin.value, stop), before: at });
  }
  const cells = joined(parts);
  return { level: { exponent: range.exponent, from, to, tracks: ids, rows: cells.rows, names: cells.names }, cells };
}

function joined(parts: readonly { readonly cells: Cells; readonly before: number }[]): Cells {
  const rows = parts.reduce((sum, { cells }) => sum + cells.rows, 0);
  const names: string[] = [];
  const starts = parts.map(({ cells }) => names.push(...cells.names) - cells.names.length);
  const floats = (name: "from" | "duration" | "count" | "row" | "total" | "longest" | "filled" | "min" | "max" | "last" | "mean") => {
    const all = new Float64Array(rows);
    let at = 0;
    for (const { cells } of parts) {
      all.set(cells[name], at);
      at += cells.rows;
    }
    return all;
  };
  const integers = (name: "track" | "lane" | "name", change: (value: number, part: number) => number) => {
    const all = new Int32Array(rows);
    let at = 0;
    parts.forEach(({ cells }, part) => {
      for (const value of cells[name]) all[at++] = change(value, part);
    });
    return all;
  };
  return {
    rows, names,
    track: integers("track", (value, part) => value + parts[part]!.before),
    lane: integers("lane", (value) => value),
    name: integers("name", (value, part) => (value < 0 ? -1 : value + starts[part]!)),
    from: floats("from"), duration: floats("duration"), count: floats("count"), row: floats("row"), total: floats("total"),
    longest: floats("longest"), filled: floats("filled"), min: floats("min"), max: floats("max"), last: floats("last"),
    mean: floats("mean"),
  };
}

function panels(): Pick<SavedView, "details" | "selection" | "flame" | "runs" | "report"> {
  const [area, flame, shown] = [selection.value, graph.value, report.value];
  return {
    details: details.value,
    selection: area?.tables ? { request: area.request, tables: area.tables } : null,
    flame: flame?.answer ? { request: flame.request, answer: flame.answer } : null,
    runs: runs.value.flatMap((run): SavedRun[] => {
      if (!run.outcome) return [];
      const { about, bytes } = run.outcome.result;
      return [{ sql: run.sql, title: run.title, about, bytes: toBase64(bytes), took: run.took, view: run.view }];
    }),
    report: shown && { ...shown, state: shown.state === "running" ? "stopped" : shown.state } satisfies SavedReport,
  };
}
