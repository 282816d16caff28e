import { effect, signal, untracked } from "@preact/signals";
import { afterMoves, movesOf, type Moved } from "./moved";
import { byId, childrenOf, closedAtFirst, collapsed, heights, offsets, order, pins, tracks } from "./tracks";
import { length } from "./session";
import { openPanel } from "./panels";
import { area, marks, queryText, selected, viewport, type Area, type Chosen, type Mark, type Range } from "./view";
import { setTheme, theme, type Theme } from "./theme";

/** The address after `#` is the view: whoever opens it sees the same. */
export interface View {
  readonly range?: Range;
  readonly selected?: Chosen;
  readonly area?: Area;
  readonly pins?: readonly string[];
  readonly closed?: Closed;
  /** In CSS pixels, of tracks that were made higher or lower. */
  readonly heights?: ReadonlyMap<string, number>;
  readonly moved?: readonly Moved[];
  readonly marks?: readonly Mark[];
  readonly offsets?: ReadonlyMap<string, number>;
  readonly query?: string;
  readonly theme?: Theme;
  readonly tab?: string;
}

/** Groups that are closed: those of a base, but for some. An address need not hold 10,000 names. */
export interface Closed {
  readonly base: "first" | "all" | "none";
  readonly but: readonly string[];
}

export function encodeView(view: View): string {
  const parts: string[] = [];
  const add = (key: string, value: string) => parts.push(`${key}=${value}`);
  if (view.range) add("t", range(view.range));
  if (view.selected) add("slice", `${encodeId(view.selected.track)}/${view.selected.row}`);
  if (view.area) add("area", [range(view.area), ...(view.area.tracks ?? []).map(encodeId)].join(","));
  if (view.pins?.length) add("pins", view.pins.map(encodeId).join(","));
  if (view.closed) add("closed", [view.closed.base, ...view.closed.but.map(encodeId)].join(","));
  if (view.heights?.size) add("heights", [...view.heights].map(([id, high]) => `${high}:${encodeId(id)}`).join(","));
  if (view.moved?.length) add("moved", view.moved.map(({ id, after }) => `${encodeId(id)}/${encodeId(after ?? "")}`).join(","));
  if (view.marks?.length) add("marks", view.marks.map((mark) => `${Math.round(mark.at)}:${encode(mark.name)}`).join(","));
  if (view.offsets?.size) add("offsets", [...view.offsets].map(([mount, by]) => `${encode(mount)}:${by}`).join(","));
  if (view.query) add("query", encode(view.query));
  if (view.tab) add("tab", encode(view.tab));
  if (view.theme && view.theme !== "auto") add("theme", view.theme);
  return parts.join("&");
}

/** Reads what it can; what is none of ours is left out. */
export function decodeView(text: string): View {
  const found = new Map(text.replace(/^#/, "").split("&").map((part) => split(part, "=")));
  const list = (key: string) => (found.get(key) || undefined)?.split(",");
  const shown = toRange(found.get("t"));
  const slice = found.get("slice")?.split("/");
  const chosenArea = list("area");
  const areaRange = toRange(chosenArea?.[0]);
  const [base, ...but] = list("closed") ?? [];
  const query = found.get("query");
  const tab = found.get("tab");
  const wanted = found.get("theme");
  return {
    ...(shown && { range: shown }),
    ...(slice?.length === 2 && /^\d+$/.test(slice[1]!) && { selected: { track: decode(slice[0]!), row: Number(slice[1]) } }),
    ...(areaRange && { area: { ...areaRange, tracks: chosenArea!.length > 1 ? chosenArea!.slice(1).map(decode) : null } }),
    ...(list("pins") && { pins: list("pins")!.map(decode) }),
    ...((base === "first" || base === "all" || base === "none") && { closed: { base, but: but.map(decode) } }),
    ...(list("heights") && { heights: new Map(pairs(list("heights")!).filter(isHeight).map(([high, id]) => [decode(id), Number(high)])) }),
    ...(list("moved") && { moved: list("moved")!.map((each) => split(each, "/")).map(([id, after]) => ({ id: decode(id), after: decode(after) || null })) }),
    ...(list("marks") && { marks: pairs(list("marks")!).map(([at, name]) => ({ at: Number(at), name: decode(name) })) }),
    ...(list("offsets") && { offsets: new Map(pairs(list("offsets")!).map(([mount, by]) => [decode(mount), Number(by)])) }),
    ...(query && { query: decode(query) }),
    ...(tab && { tab: decode(tab) }),
    ...((wanted === "light" || wanted === "dark") && { theme: wanted }),
  };
}

function encode(text: string): string {
  return encodeURIComponent(text);
}

/** Ids of tracks have colons, which mean nothing in a list of them. */
function encodeId(id: string): string {
  return encodeURIComponent(id).replaceAll("%3A", ":");
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function split(text: string, by: string): [string, string] {
  const at = text.indexOf(by);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}

function pairs(texts: readonly string[]): [string, string][] {
  return texts.map((text) => split(text, ":"));
}

/** What is no number of pixels would leave no track where it is. */
function isHeight([high]: readonly [string, string]): boolean {
  return /^\d{1,4}$/.test(high);
}

function range({ from, to }: Range): string {
  return `${Math.round(from)}~${Math.round(to)}`;
}

function toRange(text: string | undefined): Range | undefined {
  const found = /^(-?\d+)~(-?\d+)$/.exec(text ?? "");
  if (!found) return undefined;
  const [from, to] = [Number(found[1]), Number(found[2])];
  return to > from ? { from, to } : undefined;
}

/** Whether groups were closed or opened by hand, so that the address must say which. */
export const closedByHand = signal(false);

/** Says which groups are closed, from the base that needs fewest exceptions. */
function closedNow(): Closed {
  const bases = ["first", "all", "none"] as const;
  const all = bases.map((base) => ({ base, but: differing(closedOf(base), collapsed.value) }));
  return all.reduce((best, each) => (each.but.length < best.but.length ? each : best));
}

function closedOf(base: Closed["base"]): ReadonlySet<string> {
  if (base === "first") return closedAtFirst();
  return new Set(base === "all" ? tracks.value.filter((track) => childrenOf.value.has(track.id)).map((track) => track.id) : []);
}

function differing(a: ReadonlySet<string>, b: ReadonlySet<string>): string[] {
  return [...[...a].filter((id) => !b.has(id)), ...[...b].filter((id) => !a.has(id))];
}

function movedNow(): Moved[] {
  return [...order.value].flatMap(([parent, ids]) => movesOf(namesOf(parent), ids));
}

function namesOf(parent: string): string[] {
  return (childrenOf.value.get(parent || null) ?? []).map((track) => track.id);
}

function orderAfter(moves: readonly Moved[]): ReadonlyMap<string, readonly string[]> {
  const known = moves.filter((move) => byId.value.has(move.id));
  const parents = new Set(known.map((move) => byId.value.get(move.id)!.parent ?? ""));
  return new Map([...parents].map((parent) => [parent, afterMoves(namesOf(parent), known)]));
}

function current(): View {
  const chosen = selected.value;
  const chosenArea = area.value;
  return {
    range: viewport.value,
    ...(chosen && { selected: chosen }),
    ...(chosenArea && { area: chosenArea }),
    pins: pins.value,
    ...(closedByHand.value && { closed: closedNow() }),
    heights: heights.value,
    moved: movedNow(),
    marks: marks.value,
    offsets: offsets.value,
    query: queryText.value,
    ...(openPanel.value && { tab: openPanel.value }),
    theme: theme.value,
  };
}

/** Makes the view what an address says; what it does not say stays, but selections go. */
export function applyView(view: View): void {
  if (view.range && length.value) viewport.value = view.range;
  selected.value = view.selected ?? null;
  area.value = view.area ?? null;
  pins.value = view.pins ?? [];
  if (view.closed) {
    const but = new Set(view.closed.but);
    collapsed.value = new Set(differing(closedOf(view.closed.base), but));
    closedByHand.value = true;
  }
  heights.value = view.heights ?? new Map();
  order.value = orderAfter(view.moved ?? []);
  marks.value = view.marks ?? [];
  offsets.value = view.offsets ?? new Map();
  if (view.query !== undefined) queryText.value = view.query;
  if (view.tab) openPanel.value = view.tab;
  if (view.theme) setTheme(view.theme);
}

let timer: ReturnType<typeof setTimeout> | undefined;
let active = false;

function replace(): void {
  clearTimeout(timer);
  timer = undefined;
  if (!active) return;
  const text = `#${untracked(() => encodeView(current()))}`;
  if (text !== location.hash) history.replaceState(null, "", text);
}

/** Keeps where we are, so that `back` returns to it, before something jumps elsewhere. */
export function pushView(): void {
  if (!active) return;
  replace();
  history.pushState(null, "", location.hash);
}

/** Follows the view from now on; browsers allow some hundred changes in a few seconds, so it waits a little. */
export function followView(): void {
  active = true;
  effect(() => {
    void [viewport.value, selected.value, area.value, pins.value, collapsed.value, marks.value, offsets.value];
    void [heights.value, order.value];
    void [queryText.value, openPanel.value, theme.value];
    if (tracks.value.length) timer ??= setTimeout(replace, 250);
  });
  addEventListener("popstate", () => {
    clearTimeout(timer);
    timer = undefined;
    applyView(decodeView(location.hash));
  });
}
