import { addQuery } from "./query/commands";

/** Adds the tabs and commands of query, selection, flame, report, save and drop. */
export function addExtras(): void {
  addQuery();
}
