/** What the selected area holds: asked for while its tab is open, and asked again when it changes. */

import { effect, signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, type AreaRequest, type AreaTable, isAbort } from "../api/types";
import { openPanel, showPanel } from "../state/panels";
import { running, toTime } from "../state/session";
import { generation, offsets } from "../state/tracks";
import { type Area, area, shownTracks } from "../state/view";

export interface Selection {
  readonly area: Area;
  readonly request: AreaRequest;
  readonly tables: readonly AreaTable[] | null;
  readonly error: ApiError | null;
}

const SETTLED = 200;

export const selection = signal<Selection | null>(null);
/** The title of the table that is shown, as long as there is one. */
export const titleShown = signal<string | null>(null);

let asking = new AbortController();
let timer: ReturnType<typeof setTimeout> | undefined;

export function requestOf(chosen: Area): AreaRequest {
  const moved = Object.fromEntries([...offsets.peek()].map(([mount, by]) => [mount, String(Math.round(by))]));
  return { from: toTime(chosen.from), to: toTime(chosen.to), tracks: chosen.tracks ?? shownTracks.peek(), moved };
}

async function ask(chosen: Area): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal: stop } = asking;
  const request = requestOf(chosen);
  selection.value = { area: chosen, request, tables: selection.peek()?.tables ?? null, error: null };
  try {
    const tables = await running("selection", (stopped) => api().selection(request, AbortSignal.any([stop, stopped])));
    if (!stop.aborted) selection.value = { area: chosen, request, tables, error: null };
  } catch (error) {
    if (stop.aborted) return;
    const told = error instanceof ApiError ? error : new ApiError(0, isAbort(error) ? "stopped" : String(error));
    selection.value = { area: chosen, request, tables: null, error: told };
  }
}

/** Follows the selected area from now on. */
export function followArea(): void {
  let had = area.peek() !== null;
  effect(() => {
    const chosen = area.value;
    const open = openPanel.value === "selection";
    void [generation.value, offsets.value];
    clearTimeout(timer);
    if (!chosen) {
      asking.abort();
      selection.value = null;
    } else if (!had && !open) showPanel("selection");
    else if (open) timer = setTimeout(() => void ask(chosen), SETTLED);
    had = chosen !== null;
  });
}
