/** Tracks that were made of results. */

import type { TrackId } from "../api/types";
import { byId, removeTrack } from "../state/tracks";

/** Removes tracks; a group takes what is in it along. */
export async function removeMade(ids: readonly TrackId[]): Promise<void> {
  const roots = ids.filter((id) => byId.value.has(id) && !ids.includes(byId.value.get(id)!.parent ?? ""));
  for (const id of roots) await removeTrack(id);
}
