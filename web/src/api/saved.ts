import { fromBase64, expand } from "../save/bytes";
import { SavedCells } from "../save/cells";
import { ELEMENT, FORMAT, type SavedView } from "../save/format";
import type { Api } from "./api";
import { ApiError, type AreaRequest, type SliceDetails } from "./types";

/** What is told of a slice of which only the cell was saved. */
const NO_DETAILS = {
  value: null,
  count_children: 0,
  columns: [{ name: "all else", value: "not in this saved view", type: "STRING", unit: null }],
  arguments: null,
  ancestors: [],
  children: [],
  flows: { in: [], out: [] },
  sql: "",
} as const;

/** What this page was saved with; null on a page of a server. */
export function savedView(): SavedView | null {
  const text = document.getElementById(ELEMENT)?.textContent;
  if (!text) return null;
  const view = JSON.parse(text) as SavedView;
  if (view.format !== FORMAT) throw new Error(`this view was saved in format ${view.format}, expected ${FORMAT}`);
  return view;
}

/** Answers from what was saved; nothing is ever asked of a network. */
export function savedApi(view: SavedView): Api {
  const origin = BigInt(view.tree.begin ?? "0");
  let cells: Promise<SavedCells> | null = null;
  const allCells = (): Promise<SavedCells> => {
    cells ??= expand(fromBase64(view.cells)).then((bytes) => new SavedCells(view.levels, bytes, origin));
    return cells;
  };
  return {
    live: false,
    session: async () => view.session,
    tracks: async () => view.tree,
    async tiles(request, from, signal) {
      const all = await allCells();
      signal?.throwIfAborted();
      return all.answer(request, from);
    },
    query: () => missing("queries"),
    report: () => missing("reports"),
    addTracks: () => missing("new tracks"),
    removeTrack: () => missing("changes of tracks"),
    async slice(track, row) {
      const { details } = view;
      if (details?.track === track && details.row === row) return details;
      const found = (await allCells()).find(track, row);
      return found ? { ...found, track, row, ...NO_DETAILS } : missing("details of this slice");
    },
    async valueAt(track, time) {
      const { details } = view;
      return details?.track === track && lasts(details, BigInt(time)) ? details : missing("this value");
    },
    search: () => missing("search"),
    async selection(request) {
      const { selection } = view;
      return selection && isSame(selection.request, request) ? selection.tables : missing("tables of this area");
    },
    async flame(request) {
      const { flame } = view;
      const same = flame && isSame(flame.request, request) && flame.request.of === request.of;
      return same ? flame.answer : missing("this flame graph");
    },
    critical: () => missing("wake-ups"),
    complete: async () => ({ from: 0, options: [] }),
    check: async () => [],
    tables: async () => [],
    columns: () => missing("columns of tables"),
    events: () => () => undefined,
    upload: () => missing("other traces"),
    interrupt: async () => undefined,
  };
}

async function missing(what: string): Promise<never> {
  throw new ApiError(404, `not in this saved view: ${what}`, "open the trace with dctv ui");
}

function lasts({ from, duration }: SliceDetails, time: bigint): boolean {
  return BigInt(from) <= time && time < BigInt(from) + BigInt(duration);
}

/** Which tracks are seen depends on how large the window is, so the time alone tells what was saved. */
function isSame(a: AreaRequest, b: AreaRequest): boolean {
  return a.from === b.from && a.to === b.to;
}
