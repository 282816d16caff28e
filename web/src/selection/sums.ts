/** Which columns of a table of aggregates have a sum that means something. */

import type { Column } from "../api/types";
import { type Table, totals } from "../query/table";
import { isWhole, shown } from "../query/values";

const ADDED = /^(count|rows|events|samples|sum|self|total|time|duration|busy|bytes)(_|$)|_(count|sum|total|self|time|duration)$/i;
const NOT_ADDED = /^(mean|avg|average|min|max|p\d+|median|first|last|rate|share|percent)|per_|^_ts$/i;

const isAdded = (column: Column): boolean => ADDED.test(column.name) && !NOT_ADDED.test(column.name);

/** Beside a column `self`, totals include those of what is called, so their sum has the same time twice. */
function isInclusive(column: Column, columns: readonly Column[]): boolean {
  return column.name === "total" && columns.some(({ name }) => name === "self");
}

/** The last line of a table of aggregates; nothing if no column can be added up. */
export function sumsOf(table: Table, exactly: boolean): (string | null)[] | null {
  if (table.rows < 2) return null;
  const sums = totals(table, (column) => isAdded(column) && !isInclusive(column, table.columns));
  if (sums.every((sum) => sum === null)) return null;
  const texts = sums.map((sum, place) => {
    if (sum === null) return null;
    const column = table.columns[place]!;
    return shown(isWhole(column.type) ? Math.round(sum) : sum, column, exactly);
  });
  if (texts[0] === null) texts[0] = table.complete ? "all" : "of these";
  return texts;
}
