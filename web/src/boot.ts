import { api } from "./api/api";
import { applyView, decodeView, followView } from "./state/address";
import { connection, loadSession, noteError, session, takeEvent } from "./state/session";
import { closedAtFirst, collapsed, loadTracks, tracks } from "./state/tracks";
import { everything, viewport } from "./state/view";

let shownOnce = false;

/** Fetches what there is, shows the view of the address, and follows what happens at the server. */
export async function boot(): Promise<void> {
  const view = decodeView(location.hash);
  const refresh = async () => {
    try {
      await loadTracks();
      document.title = [...(session.value?.mounts.map((mount) => mount.name) ?? []), "dctv"].join(" · ");
      if (shownOnce || !tracks.value.length) return;
      shownOnce = true;
      collapsed.value = closedAtFirst();
      viewport.value = everything();
      applyView(view);
      followView();
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
