import { computed, signal } from "@preact/signals";
import type { TrackId } from "../api/types";
import { reveal } from "../state/tracks";
import { layout, pinnedLayout } from "./layout";

/** Size of the canvas of tracks, in CSS pixels. */
export const canvasWidth = signal(1);
export const canvasHeight = signal(1);
/** Width of the tree, in CSS pixels. */
export const treeWidth = signal(270);
/** How far tracks below the pinned ones are scrolled. */
export const scrollTop = signal(0);

/** How much of the height pinned tracks take. */
export const pinnedHeight = computed(() => Math.min(pinnedLayout.value.height, Math.round(canvasHeight.value * 0.5)));
export const scrolledHeight = computed(() => Math.max(canvasHeight.value - pinnedHeight.value, 1));
export const mostScroll = computed(() => Math.max(layout.value.height + 40 - scrolledHeight.value, 0));
export const shownTop = computed(() => Math.min(scrollTop.value, mostScroll.value));

export function scrollTo(top: number): void {
  scrollTop.value = Math.min(Math.max(top, 0), mostScroll.value);
}

export function scrollBy(by: number): void {
  scrollTo(shownTop.value + by);
}

/** Opens the groups around a track and scrolls until it is seen; `lane` pixels below its top must be seen too. */
export function scrollToTrack(id: TrackId, below = 0): void {
  if (pinnedLayout.value.places.has(id)) return;
  reveal(id);
  const place = layout.value.places.get(id);
  const row = place === undefined ? undefined : layout.value.rows[place];
  if (!row) return;
  const room = scrolledHeight.value;
  const top = row.top + Math.max(below - room / 2, 0);
  const bottom = row.top + Math.min(row.height, Math.max(below + 20, Math.min(row.height, room)));
  if (top < shownTop.value) scrollTo(top - Math.min(60, room / 4));
  else if (bottom > shownTop.value + room) scrollTo(bottom - room + Math.min(60, room / 4));
}
