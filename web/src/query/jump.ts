/** From a row of a result to its time on the timeline. */

import { pushView } from "../state/address";
import { effect } from "@preact/signals";
import { rowTime } from "../state/found";
import { openPanel } from "../state/panels";
import { begin } from "../state/session";
import { area, selected, show, span, viewport } from "../state/view";
import type { Table } from "./table";

/** Returns what shows the time of a row; null if rows have none. */
export function jumping(table: Table): ((row: number) => void) | null {
  const ts = table.columns.findIndex((column) => column.name === "_ts");
  if (ts < 0) return null;
  const duration = table.columns.findIndex((column) => column.name === "_duration");
  return (row) => {
    const from = whole(table.value(ts, row));
    if (from === null) return;
    const length = duration < 0 ? 0 : Number(whole(table.value(duration, row)) ?? 0n);
    const relative = Number(from - begin.value);
    rowTime.value = { from: relative, to: relative + length };
    jumpTo(relative, length);
  };
}

function whole(value: unknown): bigint | null {
  try {
    return typeof value === "bigint" || typeof value === "string" || typeof value === "number" ? BigInt(value) : null;
  } catch {
    return null;
  }
}

/** Moves what is shown so that the range is in its middle; the zoom changes only if the range would be a speck or too wide. */
export function jumpTo(from: number, length: number): void {
  const now = span.value;
  const wanted = length > now || (length > 0 && length < now / 400) ? length * (length > now ? 2 : 40) : now;
  const middle = from + length / 2;
  if (wanted === now && from >= viewport.value.from && from + length <= viewport.value.to) {
    const part = (middle - viewport.value.from) / now;
    if (part > 0.1 && part < 0.9) return;
  }
  pushView();
  show({ from: middle - wanted / 2, to: middle + wanted / 2 });
}

/** The time of a row is shown until something else is. */
export function followRows(): void {
  effect(() => {
    selected.value;
    area.value;
    openPanel.value;
    rowTime.value = null;
  });
}
