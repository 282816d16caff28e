/** What the keys do in a table: where the active cell goes. */

export interface Cell {
  /** -1 is the header. */
  readonly row: number;
  readonly column: number;
}

export function moved(cell: Cell, key: string, jump: boolean, rows: number, columns: number, page: number): Cell | null {
  const last = rows - 1;
  const bounded = (row: number, column: number): Cell => ({
    row: Math.max(-1, Math.min(last, row)),
    column: Math.max(0, Math.min(columns - 1, column)),
  });
  switch (key) {
    case "ArrowUp":
      return bounded(jump ? 0 : cell.row - 1, cell.column);
    case "ArrowDown":
      return bounded(jump ? last : cell.row + 1, cell.column);
    case "ArrowLeft":
      return bounded(cell.row, jump ? 0 : cell.column - 1);
    case "ArrowRight":
      return bounded(cell.row, jump ? columns - 1 : cell.column + 1);
    case "PageUp":
      return bounded(Math.max(0, cell.row - page), cell.column);
    case "PageDown":
      return bounded(cell.row + page, cell.column);
    case "Home":
      return bounded(jump ? 0 : cell.row, 0);
    case "End":
      return bounded(jump ? last : cell.row, columns - 1);
    default:
      return null;
  }
}
