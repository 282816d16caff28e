/** The command that saves what is seen as one HTML file. */

import { api } from "../api/api";
import { isAbort } from "../api/types";
import { addCommands } from "../commands/commands";
import { download } from "../query/copy";
import { note, noteError, running, session } from "../state/session";
import { amount } from "../text/amounts";
import { collect, TooMuch } from "./collect";
import { htmlOf } from "./file";

const MOST_BYTES = 64 << 20;
const HINT = "zoom in, or close groups of tracks, and save again";

export function addSave(): void {
  addCommands({
    id: "file.save", title: "Save this view as HTML…", group: "File", keys: ["Ctrl+S"], run: () => void save(),
    enabled: () => api().live && session.value !== null,
  });
}

async function save(): Promise<void> {
  try {
    const html = await running("save as HTML", async (stop) => {
      const [script, style, view] = await Promise.all([own("assets/app.js", stop), own("assets/app.css", stop), collect(stop)]);
      return htmlOf({ title: `${names()} – dctv`, version: view.session.version, script, style, view });
    });
    const size = new Blob([html]).size;
    if (size > MOST_BYTES) {
      throw new TooMuch(`this view would be a file of ${amount(size, "B")}, at most ${amount(MOST_BYTES, "B")} can be saved`);
    }
    const name = `${names().replace(/[^\w.-]+/g, "_") || "view"}.html`;
    download(name, html, "text/html");
    note(`${name} is saved: ${amount(size, "B")}`, { hint: "it opens in any browser, without dctv" });
  } catch (error) {
    if (error instanceof TooMuch) note(error.message, { hint: HINT, bad: true });
    else if (!isAbort(error)) noteError(error);
  }
}

const names = (): string => session.value?.mounts.map((mount) => mount.name).join("-") ?? "";

async function own(address: string, stop: AbortSignal): Promise<string> {
  const response = await fetch(address, { signal: stop, credentials: "omit" });
  if (!response.ok) throw new Error(`the page's own ${address} could not be read`);
  return response.text();
}
