import { api } from "./api/api";
import { applyView, decodeView, followView } from "./state/address";
import { connection, loadSession, noteError, session, takeEvent } from "./state/session";
import { byId, closedAtFirst, collapsed, loadTracks, tracks } from "./state/tracks";
import { everything, viewport } from "./state/view";
import type { TrackId } from "./api/types";
import { scrollToTrack } from "./tracks/scroll";

let shownOnce = false;

/** Groups of a trace that came later are closed as they would have been at first. */
function closeNew(before: ReadonlyMap<string, unknown>): void {
  const fresh = [...closedAtFirst()].filter((id) => !before.has(id));
  if (fresh.length) collapsed.value = new Set([...collapsed.value, ...fresh]);
}

/** Scrolls to a track once the panels have their places. */
function reveal(track: TrackId | undefined): void {
  if (track !== undefined) requestAnimationFrame(() => requestAnimationFrame(() => scrollToTrack(track)));
}

/** Fetches what there is, shows the view of the address, and follows what happens at the server. */
export async function boot(): Promise<void> {
  const view = decodeView(location.hash);
  const refresh = async () => {
    try {
      const before = byId.value;
      await loadTracks();
      if (shownOnce) closeNew(before);
      document.title = [...(session.value?.mounts.map((mount) => mount.name) ?? []), "dctv"].join(" · ");
      if (shownOnce || !tracks.value.length) return;
      shownOnce = true;
      collapsed.value = closedAtFirst();
      viewport.value = everything();
      applyView(view);
      followView();
      reveal(view.selected?.track);
    } catch (error) {
      noteError(error);
    }
  };
  try {
    await loadSession();
  } catch (error) {
    noteError(error);
  }
  await refresh();
  // What ended before the server's events were heard is never told: what was still under way is looked at once more.
  const lookAgain = async (anyway: boolean) => {
    const opening = session.value?.mounts.some((mount) => mount.state === "mounting") ?? true;
    if (!anyway && !opening) return;
    await loadSession();
    await refresh();
  };
  let lost = false;
  api().events((event) => {
    takeEvent(event);
    if (event.type === "tracks") void refresh();
    if (event.type === "lost") lost = true;
    if (event.type === "open") void lookAgain(lost).catch(noteError);
    if (event.type === "open") lost = false;
  });
  if (!api().live) connection.value = "open";
}
