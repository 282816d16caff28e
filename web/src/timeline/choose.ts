import { batch, effect } from "@preact/signals";
import { api } from "../api/api";
import { isAbort, type Match, type SliceRef, type TrackId } from "../api/types";
import { critical } from "../state/found";
import { showPanel } from "../state/panels";
import { fromTime, noteError, running, toTime } from "../state/session";
import { byId, offsetOf } from "../state/tracks";
import { area, brief, details, detailsFault, known, seenValues, selected } from "../state/view";
import { laneHeight, LANE_TOP, layout } from "../tracks/layout";
import { scrollToTrack } from "../tracks/scroll";
import { bringIntoView, jumpTo } from "./motion";
import type { Hit } from "./hits";

/** Selects a row of a track; its details are fetched and shown. */
export function choose(track: TrackId, row: number): void {
  asked?.abort();
  batch(() => {
    if (selected.value?.track === track && selected.value.row === row) return;
    selected.value = { track, row };
    area.value = null;
  });
  showPanel("details");
}

/** Selects what is under the pointer; of a counter the value that it has at a time, as it is shown. */
export function chooseHit(hit: Hit, time: number): void {
  if (hit.track.kind === "counter") return void chooseValue(hit, time);
  if (hit.row < 0) return;
  const { track, row, lane, name, duration } = hit;
  if (hit.count === 1) brief.value = { track: track.id, row, lane, name, from: toTime(hit.from - offsetOf(track.id)), duration };
  choose(track.id, row);
  // What a closed group shows of a track in it does not open the group.
  if (layout.value.places.has(track.id)) revealSoon(track.id, lane);
}

/** Cells of a counter do not say which values are in them, so the server is asked. */
async function chooseValue(hit: Hit, time: number): Promise<void> {
  const { track, cells, at, from, duration } = hit;
  const within = Math.max(Math.min(time, from + duration - 1), from);
  asked?.abort();
  asked = new AbortController();
  try {
    const found = await api().valueAt(track.id, toTime(Math.floor(within) - offsetOf(track.id)), asked.signal);
    batch(() => {
      const [min, max, mean] = [cells.min[at]!, cells.max[at]!, cells.mean[at]!];
      seenValues.value = { track: track.id, row: found.row, min, max, mean, from, duration };
      details.value = found;
      critical.value = null;
      choose(track.id, found.row);
    });
    if (layout.value.places.has(track.id)) revealSoon(track.id, 0);
  } catch (error) {
    noteError(error);
  }
}

let asked: AbortController | undefined;

export function unchoose(): void {
  asked?.abort();
  batch(() => {
    selected.value = null;
    critical.value = null;
  });
}

/** Selects a row and moves until it is seen. */
export function goTo(track: TrackId, ref: SliceRef): void {
  brief.value = { track, ...ref };
  choose(track, ref.row);
  revealLane(track, ref.lane);
  revealSoon(track, ref.lane);
  const from = fromTime(ref.from) + offsetOf(track);
  bringIntoView({ from, to: from + Number(ref.duration) });
}

export function goToMatch(match: Match): void {
  goTo(match.track, match);
}

/** Selects a row of which no more is known, and moves there once it is. */
export async function goToRow(track: TrackId, row: number): Promise<void> {
  try {
    const found = await api().slice(track, row);
    goTo(track, found);
  } catch (error) {
    noteError(error);
  }
}

/** Reveals a lane again: choosing it may open the lower part, and what is left of the canvas is known after a layout. */
function revealSoon(track: TrackId, lane: number): void {
  requestAnimationFrame(() => requestAnimationFrame(() => revealLane(track, lane)));
}

export function revealLane(id: TrackId, lane: number): void {
  const track = byId.value.get(id);
  if (!track) return;
  scrollToTrack(id);
  const place = layout.value.places.get(id);
  const row = place === undefined ? undefined : layout.value.rows[place];
  if (row) scrollToTrack(id, track.kind === "slices" ? LANE_TOP + lane * laneHeight(track, row.height) : 0);
}

/** Zooms to what is under the pointer. */
export function zoomToHit(hit: Hit): void {
  const room = Math.max(hit.duration * 0.3, 50);
  jumpTo({ from: hit.from - room, to: hit.from + hit.duration + room });
}

/** Selects the slice after or before the selected one on its track and lane. */
export async function step(direction: "next" | "previous"): Promise<void> {
  const chosen = known.value;
  if (!chosen) return;
  try {
    const { matches } = await running("looking for the next slice", (signal) =>
      api().search(
        { where: `lane = ${chosen.lane}`, tracks: [chosen.track], from: chosen.from, limit: 2, direction }, signal));
    const other = matches.find((match) => match.row !== chosen.row);
    if (other) goTo(other.track, other);
  } catch (error) {
    noteError(error);
  }
}

export function toParent(): void {
  const chosen = details.value;
  const parent = chosen?.ancestors.at(-1);
  if (chosen && parent) goTo(chosen.track, parent);
}

export function toChild(): void {
  const chosen = details.value;
  const child = chosen?.children[0];
  if (chosen && child) goTo(chosen.track, child);
}

/** Follows the wake-ups back from what is selected. */
export async function followBack(): Promise<void> {
  const chosen = selected.value;
  if (!chosen) return;
  try {
    critical.value = await running("following wake-ups back", (signal) => api().critical(chosen, signal));
    showPanel("details");
  } catch (error) {
    noteError(error);
  }
}

let stop: AbortController | undefined;
effect(() => {
  const chosen = selected.value;
  stop?.abort();
  if (!chosen || (details.peek()?.track === chosen.track && details.peek()?.row === chosen.row)) {
    if (!chosen) details.value = null;
    return;
  }
  if (!byId.value.has(chosen.track)) return;
  stop = new AbortController();
  critical.value = null;
  detailsFault.value = null;
  api().slice(chosen.track, chosen.row, stop.signal).then(
    (found) => {
      if (selected.peek()?.row === chosen.row && selected.peek()?.track === chosen.track) details.value = found;
    },
    (error: unknown) => {
      if (!isAbort(error)) detailsFault.value = error instanceof Error ? error.message : String(error);
    },
  );
});
