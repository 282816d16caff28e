import { computed, signal } from "@preact/signals";
import type { CriticalPath, Match } from "../api/types";
import type { Hit } from "../timeline/hits";
import { fromTime } from "./session";
import type { Range } from "./view";

/** What the pointer is on. */
export const hover = signal<Hit | null>(null);
/** Where the pointer is on the canvas of tracks, in CSS pixels; null when it is elsewhere. */
export const pointer = signal<{ readonly x: number; readonly y: number } | null>(null);
/** What the search found so far, in order of time. */
export const matches = signal<readonly Match[]>([]);
/** When each of them begins, in ns since the session's begin: they are drawn in every frame. */
export const matchTimes = computed(() => Float64Array.from(matches.value, (match) => fromTime(match.from)));
export const matchAt = signal(-1);
/** The wake-ups that led to what is selected. */
export const critical = signal<CriticalPath | null>(null);
/** The time of the row of a result that was chosen last. */
export const rowTime = signal<Range | null>(null);
