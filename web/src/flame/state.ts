/** The flame graph that is shown: what it is of, and what the server answered. */

import { signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, type Flame, type FlameRequest, isAbort } from "../api/types";
import { showPanel } from "../state/panels";
import { requestOf } from "../selection/state";
import { running } from "../state/session";
import { area, extent } from "../state/view";
import { named, type Tree, treeOf } from "./layout";

export interface Graph {
  readonly request: FlameRequest;
  readonly answer: Flame | null;
  readonly tree: Tree | null;
  readonly error: ApiError | null;
}

export const graph = signal<Graph | null>(null);
let asking = new AbortController();

/** Asks for a graph and opens its tab. */
export async function openFlame(request: FlameRequest): Promise<void> {
  asking.abort();
  asking = new AbortController();
  const { signal: stop } = asking;
  graph.value = { request, answer: null, tree: null, error: null };
  showPanel("flame");
  try {
    const answer = await running("flame graph", (stopped) => api().flame(request, AbortSignal.any([stop, stopped])));
    if (!stop.aborted) graph.value = { request, answer, tree: treeOf(named(answer.frames)), error: null };
  } catch (error) {
    if (isAbort(error) && stop.aborted) return;
    const told = error instanceof ApiError ? error : new ApiError(0, isAbort(error) ? "stopped" : String(error));
    graph.value = { request, answer: null, tree: null, error: told };
  }
}

/** The graph of the selected area, or of everything on the tracks that are shown. */
export function flameOfSelection(of: FlameRequest["of"] = "slices"): void {
  // Ranges have no part in their end, but the session's last moment may be an instant.
  const chosen = area.value ?? { from: extent.value.from, to: extent.value.to + 1, tracks: null };
  void openFlame({ ...requestOf(chosen), of });
}

/** The same graph with some of what it is of changed. */
export function again(changed: Partial<FlameRequest>): void {
  if (graph.value) void openFlame({ ...graph.value.request, ...changed });
}
