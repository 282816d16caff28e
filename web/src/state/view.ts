import { computed, signal } from "@preact/signals";
import type { SliceDetails, TrackId } from "../api/types";
import { length } from "./session";
import { offsets } from "./tracks";

/** A range of time in ns since the session's begin; ends may have fractions while it moves. */
export interface Range {
  readonly from: number;
  readonly to: number;
}

export interface Area extends Range {
  /** Tracks that are selected; null: all that are shown. */
  readonly tracks: readonly TrackId[] | null;
}

export interface Chosen {
  readonly track: TrackId;
  readonly row: number;
}

/** What is seen of a counter where it was clicked: one value, or what many in so short a time have in common. */
export interface SeenValues extends Chosen {
  readonly min: number;
  readonly max: number;
  readonly mean: number;
  readonly from: number;
  readonly duration: number;
}

export type Brief = Pick<SliceDetails, "track" | "row" | "lane" | "name" | "from" | "duration"> & Partial<Pick<SliceDetails, "value">>;

export interface Mark {
  readonly at: number;
  readonly name: string;
}

/** What is on the screen. */
export const viewport = signal<Range>({ from: 0, to: 1 });
/** The slice that was clicked. */
export const selected = signal<Chosen | null>(null);
/** What is known about it; null while it is asked for. */
export const details = signal<SliceDetails | null>(null);
/** Why nothing more is known about it. */
export const detailsFault = signal<string | null>(null);
/** What is known about it at once, from the cell that was clicked or the link that led to it. */
export const brief = signal<Brief | null>(null);
/** The part of a counter that was clicked, as it is shown. */
export const seenValues = signal<SeenValues | null>(null);
/** The selected slice with as much as is known of it. */
export const known = computed<Brief | null>(() => {
  const chosen = selected.value;
  if (!chosen) return null;
  const same = (each: Brief | null) => (each?.track === chosen.track && each.row === chosen.row ? each : null);
  return same(details.value) ?? same(brief.value);
});
export const area = signal<Area | null>(null);
export const marks = signal<readonly Mark[]>([]);
/** Tracks whose rows are on the canvas now, from above. */
export const shownTracks = signal<readonly TrackId[]>([]);
/** The text of the SQL panel; it is part of the address. */
export const queryText = signal("");

export const span = computed(() => viewport.value.to - viewport.value.from);

/** All that there is to see: the session, and what was moved out of it by hand. */
export const extent = computed<Range>(() => {
  const moved = [0, ...offsets.value.values()];
  return { from: Math.min(...moved), to: Math.max(length.value, 100) + Math.max(...moved) };
});

/** At least 20 ns are shown, and at most everything with some room. */
export function bounded(range: Range): Range {
  const all = extent.value;
  const width = Math.min(Math.max(range.to - range.from, 20), (all.to - all.from) * MOST_WIDTH);
  const centre = (range.from + range.to) / 2;
  const from = Math.min(Math.max(centre - width / 2, all.from - width * 0.5), all.to - width * 0.5);
  return { from, to: from + width };
}

const MOST_WIDTH = 1.2;

/** Whether there is more to see than what is seen. */
export function canWiden(): boolean {
  return span.value < (extent.value.to - extent.value.from) * (MOST_WIDTH - 0.01);
}

export function show(range: Range): void {
  viewport.value = bounded(range);
}

/** Keeps the view at the same time of the clock when the session begins at another one, in ns. */
export function shiftAll(by: number): void {
  if (!by) return;
  const moved = <T extends Range>(range: T): T => ({ ...range, from: range.from + by, to: range.to + by });
  viewport.value = moved(viewport.value);
  if (area.value) area.value = moved(area.value);
  marks.value = marks.value.map((mark) => ({ ...mark, at: mark.at + by }));
}

/** The range that shows everything, with a little room at both sides. */
export function everything(): Range {
  const { from, to } = extent.value;
  const room = (to - from) * 0.01;
  return { from: from - room, to: to + room };
}
