/** The header of a table, whose cells sort and are dragged wider, and its foot. */

import type { Column } from "../api/types";
import type { Order } from "./table";
import { isNumeric } from "./values";

interface HeaderProps {
  readonly id: string;
  readonly place: number;
  readonly column: Column;
  readonly left: number;
  readonly width: number;
  readonly active: boolean;
  readonly order: Order | null;
  readonly onSort: () => void;
  readonly onResize: (width: number) => void;
  readonly onFit: () => void;
}

export function Header(props: HeaderProps) {
  const { id, place, column, left, width, active, order } = props;
  const sort = order ? (order.descending ? "descending" : "ascending") : "none";

  function startResize(event: PointerEvent): void {
    event.preventDefault();
    event.stopPropagation();
    const handle = event.currentTarget as HTMLElement;
    handle.setPointerCapture(event.pointerId);
    const move = (moving: PointerEvent): void => props.onResize(width + moving.clientX - event.clientX);
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
  }

  return (
    <div
      id={id}
      role="columnheader"
      aria-colindex={place + 1}
      aria-sort={sort}
      class={`grid-cell${isNumeric(column.type) ? " number" : ""}${active ? " active" : ""}`}
      style={{ left: `${left}px`, width: `${width}px` }}
      title={`${column.name}: ${column.type}${column.unit ? ` in ${column.unit}` : ""}`}
      onClick={props.onSort}
    >
      <span class="grid-name">{column.name}</span>
      {column.unit && <span class="grid-unit">{` [${column.unit}]`}</span>}
      {order && <span class="grid-arrow" aria-hidden="true">{order.descending ? "▼" : "▲"}</span>}
      <span
        class="grid-resize"
        aria-hidden="true"
        onPointerDown={startResize}
        onClick={(event) => event.stopPropagation()}
        onDblClick={props.onFit}
      />
    </div>
  );
}

interface FootProps {
  readonly columns: readonly Column[];
  readonly foot: readonly (string | null)[];
  readonly lines: readonly number[];
  readonly widths: readonly number[];
  readonly rowindex: number;
}

/** A line of sums that stays in sight. */
export function Foot({ columns, foot, lines, widths, rowindex }: FootProps) {
  return (
    <div role="row" aria-rowindex={rowindex} class="grid-row grid-foot" style={{ width: `${lines[lines.length - 1]}px` }}>
      {foot.map((text, column) => (
        <div
          key={column}
          role="gridcell"
          aria-colindex={column + 1}
          class={`grid-cell${isNumeric(columns[column]!.type) ? " number" : ""}`}
          style={{ left: `${lines[column]}px`, width: `${widths[column]}px` }}
        >
          {text}
        </div>
      ))}
    </div>
  );
}
