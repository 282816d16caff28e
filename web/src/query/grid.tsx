/** A table of any size: only what is seen is in the document. Sorted, resized, selected and copied by mouse and keys. */

import "./grid.css";
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { type Cell, moved } from "./gridkeys";
import { areaOf, nextOrder, type Order, sorted, type Table, tsv } from "./table";
import { exact, isNumeric, shown } from "./values";
import { Foot, Header } from "./gridhead";
import { edges, fitting, LEAST, measureIn, seen } from "./widths";

export interface GridProps {
  readonly table: Table;
  readonly label: string;
  readonly exactly?: boolean;
  /** Cells of a last line that stays in sight, such as sums. */
  readonly foot?: readonly (string | null)[] | undefined;
  /** Called with the row of the table (not of the order) that was clicked, or chosen by Enter. */
  readonly onRow?: ((row: number) => void) | undefined;
  /** Told the order of rows, as it is needed to export what is seen. */
  readonly onOrder?: ((order: Int32Array) => void) | undefined;
  readonly start?: Order | null;
}

const AROUND = 6;
const TITLE = 2000;
const CELL = 400;

export function Grid({ table, label, exactly = false, foot, onRow, onOrder, start = null }: GridProps) {
  const id = useId();
  const box = useRef<HTMLDivElement>(null);
  const probe = useRef<HTMLDivElement>(null);
  const [order, setOrder] = useState<Order | null>(start);
  const [view, setView] = useState({ top: 0, left: 0, width: 800, height: 400, line: 22 });
  const [active, setActive] = useState<Cell>({ row: 0, column: 0 });
  const [anchor, setAnchor] = useState<Cell>({ row: 0, column: 0 });
  const [widths, setWidths] = useState<readonly number[]>([]);
  const rows = useMemo(() => sorted(table, order), [table, order]);
  const lines = useMemo(() => edges(widths), [widths]);
  const area = areaOf(anchor, active);
  const columns = table.columns.length;

  useEffect(() => onOrder?.(rows), [rows]);
  useLayoutEffect(() => {
    setActive({ row: 0, column: 0 });
    setAnchor({ row: 0, column: 0 });
    box.current?.scrollTo(0, 0);
  }, [table]);
  useLayoutEffect(() => {
    const measure = measureIn(box.current!);
    setWidths(table.columns.map((_, column) => fitting(table, column, exactly, measure)));
  }, [table, exactly]);
  useLayoutEffect(() => {
    const look = (): void => {
      const { scrollTop: top, scrollLeft: left, clientWidth: width, clientHeight: height } = box.current!;
      setView({ top, left, width, height, line: probe.current!.getBoundingClientRect().height || 22 });
    };
    const watch = new ResizeObserver(look);
    watch.observe(box.current!);
    watch.observe(probe.current!);
    box.current!.addEventListener("scroll", look, { passive: true });
    const watched = box.current!;
    return () => {
      watch.disconnect();
      watched.removeEventListener("scroll", look);
    };
  }, []);

  const { line } = view;
  const first = Math.max(0, Math.floor(view.top / line) - AROUND);
  const end = Math.min(rows.length, Math.ceil((view.top + view.height) / line) + AROUND);
  const [left, right] = seen(lines, view.left, view.left + view.width);

  function show(cell: Cell, extend: boolean): void {
    setActive(cell);
    if (!extend) setAnchor(cell);
    const it = box.current!;
    const [top, bottom] = [cell.row * line, (cell.row + (foot ? 3 : 2)) * line];
    if (cell.row >= 0 && top < it.scrollTop) it.scrollTop = top;
    else if (bottom > it.scrollTop + it.clientHeight) it.scrollTop = bottom - it.clientHeight;
    const [from, to] = [lines[cell.column] ?? 0, lines[cell.column + 1] ?? 0];
    if (from < it.scrollLeft) it.scrollLeft = from;
    else if (to > it.scrollLeft + it.clientWidth) it.scrollLeft = to - it.clientWidth;
  }

  function resize(column: number, width: number): void {
    setWidths((all) => all.map((each, place) => (place === column ? Math.max(LEAST, Math.round(width)) : each)));
  }

  function sort(column: number): void {
    setOrder((now) => nextOrder(now, column, table.columns[column]!.type));
  }

  function onKeyDown(event: KeyboardEvent): void {
    if (event.altKey) return;
    const jump = event.ctrlKey || event.metaKey;
    const page = Math.max(1, Math.floor(view.height / line) - 2);
    const next = moved(active, event.key, jump, rows.length, columns, page);
    if (next) show(next, event.shiftKey && next.row >= 0);
    else if (jump && event.key === "a") {
      setAnchor({ row: 0, column: 0 });
      setActive({ row: rows.length - 1, column: columns - 1 });
    } else if (!jump && event.key === "Enter") {
      if (active.row < 0) sort(active.column);
      else if (rows.length > 0) onRow?.(rows[active.row]!);
    } else if (!jump && (event.key === "<" || event.key === ">")) {
      resize(active.column, widths[active.column]! + (event.key === ">" ? 20 : -20));
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  function onCopy(event: ClipboardEvent): void {
    if (rows.length === 0) return;
    event.clipboardData?.setData("text/plain", tsv(table, rows, { ...area, top: Math.max(0, area.top) }));
    event.preventDefault();
  }

  function drag(event: PointerEvent, row: number, column: number): void {
    if (event.button !== 0) return;
    box.current!.focus({ preventScroll: true });
    show({ row, column }, event.shiftKey);
    const from = { row, column };
    let farther = false;
    const over = (moving: PointerEvent): void => {
      const found = (moving.target as Element).closest?.<HTMLElement>("[data-cell]");
      if (!found || !box.current?.contains(found)) return;
      const [r, c] = found.dataset["cell"]!.split(":").map(Number) as [number, number];
      if (r !== from.row || c !== from.column) farther = true;
      setActive({ row: r, column: c });
    };
    const up = (): void => {
      document.removeEventListener("pointermove", over);
      if (!farther && !event.shiftKey) onRow?.(rows[row]!);
    };
    document.addEventListener("pointermove", over);
    document.addEventListener("pointerup", up, { once: true });
  }

  /** The whole value is told by the cell that is pointed at; to write it for all would take longer than to draw them. */
  function tell(event: PointerEvent): void {
    const cell = (event.target as Element).closest<HTMLElement>(".grid-row [data-cell]");
    if (!cell) return;
    const [place, column] = cell.dataset["cell"]!.split(":").map(Number) as [number, number];
    const value = table.value(column, rows[place]!);
    const { type, unit } = table.columns[column]!;
    cell.title = `${exact(value).slice(0, TITLE)}${isNumeric(type) && unit && value !== null ? ` ${unit}` : ""}`;
  }

  function cells(place: number) {
    const row = rows[place]!;
    return table.columns.slice(left, right).map((column, offset) => {
      const c = left + offset;
      const value = table.value(c, row);
      const chosen = place >= area.top && place <= area.bottom && c >= area.left && c <= area.right;
      const number = isNumeric(column.type);
      return (
        <div
          key={c}
          id={`${id}-${place}-${c}`}
          role="gridcell"
          aria-colindex={c + 1}
          aria-selected={chosen}
          data-cell={`${place}:${c}`}
          class={`grid-cell${number ? " number" : ""}${value === null ? " null" : ""}${place === active.row && c === active.column ? " active" : ""}`}
          style={{ left: `${lines[c]}px`, width: `${widths[c]}px` }}
        >
          {shown(value, column, exactly).slice(0, CELL)}
        </div>
      );
    });
  }

  // Rows that come into sight take the elements of those that went.
  const pool = Math.max(1, end - first);
  const body = [];
  for (let place = first; place < end; place++) {
    body.push(
      <div key={place % pool} role="row" aria-rowindex={place + 2} class="grid-row" style={{ top: `${(place + 1) * line}px` }}>
        {cells(place)}
      </div>,
    );
  }

  return (
    <div
      ref={box}
      role="grid"
      class={`grid${onRow ? " jumps" : ""}`}
      tabIndex={0}
      aria-label={label}
      aria-rowcount={rows.length + 1}
      aria-colcount={columns}
      aria-multiselectable="true"
      aria-activedescendant={`${id}-${active.row < 0 ? "head" : active.row}-${active.column}`}
      onKeyDown={onKeyDown}
      onCopy={onCopy}
      onPointerMove={tell}
      onPointerDown={(event) => {
        const found = (event.target as Element).closest<HTMLElement>(".grid-row [data-cell]");
        if (!found) return;
        const [row, column] = found.dataset["cell"]!.split(":").map(Number) as [number, number];
        drag(event, row, column);
      }}
    >
      <div ref={probe} class="grid-probe" aria-hidden="true">
        X
      </div>
      <div
        class="grid-all"
        role="presentation"
        style={{ width: `${lines[lines.length - 1]}px`, height: `${(rows.length + (foot ? 2 : 1)) * line}px` }}
      >
        <div role="row" aria-rowindex={1} class="grid-row grid-head">
          {table.columns.slice(left, right).map((column, offset) => (
            <Header
              key={left + offset}
              id={`${id}-head-${left + offset}`}
              place={left + offset}
              column={column}
              left={lines[left + offset] ?? 0}
              width={widths[left + offset] ?? 0}
              active={active.row < 0 && active.column === left + offset}
              order={order?.column === left + offset ? order : null}
              onSort={() => sort(left + offset)}
              onResize={(width) => resize(left + offset, width)}
              onFit={() => resize(left + offset, fitting(table, left + offset, exactly, measureIn(box.current!), 4000))}
            />
          ))}
        </div>
        {body}
      </div>
      {foot && <Foot columns={table.columns} foot={foot} lines={lines} widths={widths} rowindex={rows.length + 2} />}
    </div>
  );
}
