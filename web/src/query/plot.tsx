/** A plot of a result: which columns, split by what, and how. */

import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { isDark } from "../state/theme";
import { drawChart, sizeOf } from "./chart";
import { type Choice, MOST_SERIES, plotData, plottable, type Style, usualChoice } from "./plotdata";
import type { Table } from "./table";

const STYLES: readonly (readonly [Style, string])[] = [["line", "Lines"], ["steps", "Steps"], ["points", "Points"], ["bars", "Bars"]];

interface Props {
  readonly table: Table;
  readonly partitions: readonly string[];
  /** Values last until the next ones, as those of spans do. */
  readonly lasting: boolean;
}

export function Plot({ table, partitions, lasting }: Props) {
  const host = useRef<HTMLDivElement>(null);
  const [choice, setChoice] = useState<Choice>(() => usualChoice(table, partitions, lasting));
  const data = useMemo(() => plotData(table, choice), [table, choice]);
  const dark = isDark.value;
  const upward = table.columns.map((_, column) => column).filter((column) => plottable(table, column));
  const empty = data.series.length === 0 || data.x.length === 0;

  useEffect(() => {
    if (empty) return;
    const box = host.current!;
    let chart: uPlot | null = drawChart(box, data, choice.style, dark);
    const fit = (): void => chart?.setSize(sizeOf(box));
    fit();
    const watch = new ResizeObserver(fit);
    watch.observe(box);
    return () => {
      watch.disconnect();
      chart?.destroy();
      chart = null;
    };
  }, [data, choice.style, dark, empty]);

  const change = (changed: Partial<Choice>): void => setChoice({ ...choice, ...changed });
  return (
    <div class="plot">
      <div class="plot-bar">
        <label>
          Across{" "}
          <select value={choice.x} onChange={(event) => change({ x: Number(event.currentTarget.value) })}>
            <option value={-1}>(row)</option>
            {table.columns.map((column, place) => <option key={place} value={place}>{column.name}</option>)}
          </select>
        </label>
        <fieldset class="plot-upward">
          <legend>Up</legend>
          {upward.map((column) => (
            <label key={column} class="chip">
              <input
                type="checkbox"
                checked={choice.y.includes(column)}
                onChange={(event) =>
                  change({ y: event.currentTarget.checked ? [...choice.y, column] : choice.y.filter((each) => each !== column) })}
              />
              {table.columns[column]!.name}
            </label>
          ))}
        </fieldset>
        <label>
          Split by{" "}
          <select value={choice.split} onChange={(event) => change({ split: Number(event.currentTarget.value) })}>
            <option value={-1}>nothing</option>
            {table.columns.map((column, place) => <option key={place} value={place}>{column.name}</option>)}
          </select>
        </label>
        <label>
          As{" "}
          <select value={choice.style} onChange={(event) => change({ style: event.currentTarget.value as Style })}>
            {STYLES.map(([style, title]) => <option key={style} value={style}>{title}</option>)}
          </select>
        </label>
        {data.all > MOST_SERIES && <span class="faint">{`the first ${MOST_SERIES} of ${data.all} series`}</span>}
      </div>
      {empty
        ? <p class="empty">{upward.length === 0 ? "No column of this result is a number." : "Choose a column to plot."}</p>
        : <div ref={host} class="plot-chart" role="img" aria-label={`Plot of ${data.series.map((series) => series.label).join(", ")}`} />}
    </div>
  );
}
