/** Opening of traces: by dropping them on the page, or by a command. */

import { createElement, render } from "preact";
import { api } from "../api/api";
import { addCommands } from "../commands/commands";
import { DropLayer } from "./layer";
import { openFiles } from "./uploads";

/** Lets the person choose files; an input that is in no document is enough for that. */
export function chooseFiles(): void {
  const input = document.createElement("input");
  input.type = "file";
  input.multiple = true;
  input.addEventListener("change", () => void openFiles([...(input.files ?? [])]));
  input.click();
}

export function addDrop(): void {
  const layer = document.body.appendChild(document.createElement("div"));
  render(createElement(DropLayer, null), layer);
  addCommands({
    id: "file.open", title: "Open trace or report…", group: "File", keys: ["Ctrl+O"], run: chooseFiles, enabled: () => api().live,
  });
}
