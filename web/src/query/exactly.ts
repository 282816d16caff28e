/** Whether tables show all digits or numbers with the prefix that suits them: one choice for all tables. */

import { signal } from "@preact/signals";
import { keep, kept } from "../state/kept";

export const exactly = signal(kept("exactly") === "yes");

export function toggleExactly(): void {
  exactly.value = !exactly.value;
  keep("exactly", exactly.value ? "yes" : "no");
}
