import { signal } from "@preact/signals";
import type { CriticalPath, Match } from "../api/types";
import type { Hit } from "../timeline/hits";

/** What the pointer is on. */
export const hover = signal<Hit | null>(null);
/** Where the pointer is on the canvas of tracks, in CSS pixels; null when it is elsewhere. */
export const pointer = signal<{ readonly x: number; readonly y: number } | null>(null);
/** What the search found so far, in order of time. */
export const matches = signal<readonly Match[]>([]);
export const matchAt = signal(-1);
/** The wake-ups that led to what is selected. */
export const critical = signal<CriticalPath | null>(null);
