/** Files that are opened on the page: traces are sent to the session, reports run, saved views are refused. */

import { signal } from "@preact/signals";
import { api } from "../api/api";
import { ApiError, isAbort } from "../api/types";
import { runReport } from "../report/state";
import { loadSession, note } from "../state/session";

export interface Upload {
  readonly id: number;
  readonly name: string;
  readonly size: number;
  readonly sent: number;
  readonly state: "sending" | "storing" | "failed" | "stopped";
  readonly message: string | null;
  readonly hint: string | null;
}

export const uploads = signal<readonly Upload[]>([]);
const stops = new Map<number, AbortController>();
let last = 0;

export type Sort = "report" | "saved" | "trace";

/** What to do with a file; a web page is a trace only if it holds one, as systrace's do. */
export function sortOf(name: string, begin: string): Sort {
  if (/\.sql$/i.test(name)) return "report";
  return /\.html?$/i.test(name) && /<meta name="generator" content="dctv"/.test(begin) ? "saved" : "trace";
}

const HEAD = 4096;

export async function openFiles(files: Iterable<File>): Promise<void> {
  if (!api().live) {
    note("this is a saved view: it cannot open traces", { hint: "dctv ui does", bad: true });
    return;
  }
  for (const file of files) {
    let begin: string;
    try {
      begin = await file.slice(0, HEAD).text();
    } catch {
      note(`${file.name} could not be read`, { hint: "a folder cannot be dropped: give it to dctv ui as NAME=PATH", bad: true });
      continue;
    }
    const sort = sortOf(file.name, begin);
    if (sort === "report") void runReport(file.name, await file.text());
    else if (sort === "saved") note(`${file.name} is a saved view, not a trace`, { hint: "open it in the browser itself", bad: true });
    else if (file.size === 0) note(`${file.name} is empty`, { bad: true });
    else void send(file);
  }
}

async function send(file: File): Promise<void> {
  const id = ++last;
  const stop = new AbortController();
  stops.set(id, stop);
  const first: Upload = { id, name: file.name, size: file.size, sent: 0, state: "sending", message: null, hint: null };
  uploads.value = [...uploads.value, first];
  const change = (changed: Partial<Upload>): void => {
    uploads.value = uploads.value.map((each) => (each.id === id ? { ...each, ...changed } : each));
  };
  try {
    const mount = await api().upload(file.name, file, (sent) => change({ sent, state: sent < file.size ? "sending" : "storing" }), stop.signal);
    dismiss(id);
    note(`${file.name} is opened as ${mount}`);
    await loadSession();
  } catch (error) {
    if (isAbort(error)) dismiss(id);
    else change({ state: "failed", ...refusal(error, file) });
  } finally {
    stops.delete(id);
  }
}

function refusal(error: unknown, file: File): { message: string; hint: string | null } {
  if (!(error instanceof ApiError)) return { message: String(error), hint: null };
  if (error.status !== 413) return { message: error.message, hint: error.hint };
  const name = (file.name.replace(/\W.*/, "") || "t").toLowerCase();
  return { message: error.message, hint: error.hint ?? `give it to the command line: dctv ui ${name}=${file.name}` };
}

export function stopUpload(id: number): void {
  stops.get(id)?.abort();
}

export function dismiss(id: number): void {
  uploads.value = uploads.value.filter((each) => each.id !== id);
}
