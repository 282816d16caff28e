/** Functions by their own time; the chosen one between those that call it and those that it calls. */

import { useEffect, useMemo, useState } from "preact/hooks";
import { exactly } from "../query/exactly";
import { Grid } from "../query/grid";
import type { Table } from "../query/table";
import { FlameCanvas } from "./canvas";
import { around, type Direction, functions, type Tree, treeOf } from "./layout";

interface Props {
  readonly tree: Tree;
  readonly unit: string | null;
  readonly search: string;
  readonly chosen: string | null;
  readonly onChoose: (name: string) => void;
}

const ORDER = { column: 1, descending: true };

export function Sandwich({ tree, unit, search, chosen, onChoose }: Props) {
  const sums = useMemo(() => functions(tree), [tree]);
  const needle = search.toLowerCase();
  const table = useMemo((): Table => {
    const rows = needle ? sums.filter((sum) => sum.name.toLowerCase().includes(needle)) : sums;
    const part = (value: number): number => Math.round((10_000 * value) / Math.max(tree.total, 1e-300)) / 100;
    const cells = rows.map((sum) => [sum.name, sum.self, part(sum.self), sum.total, part(sum.total), sum.count]);
    return {
      columns: [
        { name: "function", type: "STRING", unit: null },
        { name: "self", type: "DOUBLE", unit },
        { name: "self %", type: "DOUBLE", unit: null },
        { name: "total", type: "DOUBLE", unit },
        { name: "total %", type: "DOUBLE", unit: null },
        // Samples of a function are its total.
        ...(unit === "samples" ? [] : [{ name: "count", type: "INT64", unit: null }]),
      ],
      rows: cells.length,
      value: (column, row) => cells[row]?.[column] ?? null,
      complete: true,
    };
  }, [sums, needle, unit]);
  const name = chosen ?? sums[0]?.name ?? "";
  return (
    <div class="sandwich">
      <Grid
        table={table}
        label="Functions"
        exactly={exactly.value}
        start={ORDER}
        onRow={(row) => onChoose(String(table.value(0, row)))}
      />
      <div class="sandwich-right">
        <Side tree={tree} unit={unit} search={search} name={name} direction="callers" />
        <p class="sandwich-name" title={name}>{name}</p>
        <Side tree={tree} unit={unit} search={search} name={name} direction="callees" />
      </div>
    </div>
  );
}

interface SideProps {
  readonly tree: Tree;
  readonly unit: string | null;
  readonly search: string;
  readonly name: string;
  readonly direction: Direction;
}

function Side({ tree, unit, search, name, direction }: SideProps) {
  const half = useMemo(() => treeOf(around(tree, name, direction)), [tree, name, direction]);
  const [zoomed, setZoomed] = useState<number | null>(null);
  useEffect(() => setZoomed(null), [half]);
  const label = direction === "callers" ? `What calls ${name}` : `What ${name} calls`;
  return (
    <FlameCanvas
      tree={half}
      unit={unit}
      label={label}
      upward={direction === "callers"}
      search={search}
      zoomed={half.frames.has(zoomed ?? -1) ? zoomed : null}
      onZoom={setZoomed}
    />
  );
}
