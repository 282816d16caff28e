import type { Api } from "./api";
import { decodeCells, decodeResult } from "./arrow";
import { listenToEvents } from "./events";
import { ApiError, type Refusal, type ReportLine } from "./types";

/** Asks the server that this page came from. All addresses are relative, since the token is part of the path. */
export function httpApi(): Api {
  return {
    live: true,
    session: (signal) => getJson("api/session", signal),
    tracks: (signal) => getJson("api/tracks", signal),
    async tiles(request, origin, signal) {
      return decodeCells(await bytes(await post("api/tiles", request, signal)), origin);
    },
    async query(request, signal) {
      return decodeResult(await bytes(await post("api/query", request, signal)));
    },
    async report(request, line, signal) {
      await eachLine(await post("api/report", request, signal), (text) => line(JSON.parse(text) as ReportLine));
    },
    async addTracks(request, signal) {
      return (await postJson<{ tracks: [] }>("api/tracks", request, signal)).tracks;
    },
    async removeTrack(id) {
      await ask(`api/tracks/${encodeURIComponent(id)}`, { method: "DELETE" });
    },
    slice: (track, row, signal) => getJson(`api/slice/${encodeURIComponent(track)}/${row}`, signal),
    valueAt: (track, time, signal) => getJson(`api/at/${encodeURIComponent(track)}/${time}`, signal),
    search: (request, signal) => postJson("api/search", request, signal),
    async selection(request, signal) {
      return (await postJson<{ tables: [] }>("api/selection", request, signal)).tables;
    },
    flame: (request, signal) => postJson("api/flame", request, signal),
    critical: (request, signal) => postJson("api/critical", request, signal),
    complete: (request, signal) => postJson("api/complete", request, signal),
    async check(request, signal) {
      return (await postJson<{ errors: [] }>("api/check", request, signal)).errors;
    },
    async tables(prefix, signal) {
      return (await getJson<{ tables: [] }>(`api/tables?prefix=${encodeURIComponent(prefix)}`, signal)).tables;
    },
    columns: (table, signal) => getJson(`api/columns?table=${encodeURIComponent(table)}`, signal),
    events: listenToEvents,
    upload,
    async interrupt() {
      await post("api/interrupt", {});
    },
  };
}

async function ask(address: string, options: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(address, { credentials: "omit", cache: "no-store", ...options });
  } catch (error) {
    if (error instanceof DOMException) throw error;
    throw new ApiError(0, "the server does not answer", "is dctv ui still running?");
  }
  if (!response.ok) throw refusal(response.status, await response.text());
  return response;
}

function post(address: string, body: unknown, signal?: AbortSignal): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return ask(address, { method: "POST", headers, body: JSON.stringify(body), ...(signal && { signal }) });
}

async function postJson<T>(address: string, body: unknown, signal?: AbortSignal): Promise<T> {
  return (await (await post(address, body, signal)).json()) as T;
}

async function getJson<T>(address: string, signal?: AbortSignal): Promise<T> {
  return (await (await ask(address, signal ? { signal } : {})).json()) as T;
}

async function bytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}

function refusal(status: number, text: string): ApiError {
  let found: Refusal | undefined;
  try {
    found = (JSON.parse(text) as { error?: Refusal }).error;
  } catch {
    found = undefined;
  }
  if (!found) return new ApiError(status, `the server answered ${status}`);
  return new ApiError(status, found.message, found.hint ?? null, found.rendered ?? null, found.place ?? null);
}

async function eachLine(response: Response, take: (line: string) => void): Promise<void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  if (!reader) return;
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) if (line.trim()) take(line);
  }
  if (rest.trim()) take(rest);
}

/** Sends by XMLHttpRequest, since fetch does not tell how much was sent. */
function upload(name: string, body: Blob, progress?: (sent: number) => void, signal?: AbortSignal): Promise<string> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open("POST", `api/upload?name=${encodeURIComponent(name)}`);
    request.setRequestHeader("content-type", "application/octet-stream");
    request.upload.onprogress = (event) => progress?.(event.loaded);
    request.onload = () => {
      if (request.status >= 200 && request.status < 300) {
        resolve((JSON.parse(request.responseText) as { mount: string }).mount);
      } else reject(refusal(request.status, request.responseText));
    };
    request.onerror = () => reject(new ApiError(0, "the server does not answer", "is dctv ui still running?"));
    request.onabort = () => reject(new DOMException("the upload was stopped", "AbortError"));
    signal?.addEventListener("abort", () => request.abort());
    request.send(body);
  });
}
