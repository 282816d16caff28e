/** Queries that were run, newest first, kept by the browser for the next time. */

import { signal } from "@preact/signals";
import { keep, kept } from "../state/kept";

const KEY = "queries";
const MOST = 100;
const LONGEST = 20_000;

export const history = signal<readonly string[]>(read());

function read(): readonly string[] {
  try {
    const found: unknown = JSON.parse(kept(KEY) ?? "[]");
    return Array.isArray(found) ? found.filter((text): text is string => typeof text === "string").slice(0, MOST) : [];
  } catch {
    return [];
  }
}

export function remember(text: string): void {
  const trimmed = text.trim();
  if (!trimmed || trimmed.length > LONGEST) return;
  history.value = [trimmed, ...history.value.filter((each) => each !== trimmed)].slice(0, MOST);
  keep(KEY, JSON.stringify(history.value));
}

export function forget(): void {
  history.value = [];
  keep(KEY, "[]");
}
