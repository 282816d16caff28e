/** Draws series by uPlot, in the page's colours. */

import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { amount } from "../text/amounts";
import { palette } from "../theme/colours";
import type { PlotData, Series, Style } from "./plotdata";
import { bare, moment } from "./values";

const LINES = {
  light: ["#1d5f9e", "#c4501b", "#1a7f4e", "#8a3ffc", "#a06a00", "#b5286a", "#00737a", "#6b6f1d", "#5a626c", "#3b6fd4", "#9b4b8f", "#7a3b1f"],
  dark: ["#8cc4f5", "#ff9a6b", "#5fcf98", "#c49bff", "#ecc766", "#ff8fba", "#5fd3d8", "#cdd36a", "#b6bdc7", "#9db8ff", "#e3a3d9", "#d9a58a"],
};

export function drawChart(host: HTMLElement, data: PlotData, style: Style, dark: boolean): uPlot {
  const lines = LINES[dark ? "dark" : "light"];
  const { ink, grid, tick } = palette(dark).of;
  const units = [...new Set(data.series.map((series) => series.unit ?? ""))];
  const axisLook = { stroke: ink, grid: { stroke: grid, width: 1 }, ticks: { stroke: tick, width: 1, size: 4 }, font: "11px system-ui, sans-serif" };
  const { width, height } = sizeOf(host);
  return new uPlot(
    {
      width,
      height,
      scales: { x: { time: false, range: spread(data, style) }, ...scalesOf(units, style) },
      legend: { live: true },
      cursor: { drag: { x: true, y: false }, points: { size: 7 } },
      axes: [
        { ...axisLook, values: (_, splits) => splits.map((split) => acrossText(data, split)), space: data.names ? 90 : 80 },
        ...units.slice(0, 2).map((unit, place): uPlot.Axis => ({
          ...axisLook,
          scale: unit || "y",
          side: place === 0 ? 3 : 1,
          size: 76,
          grid: { ...axisLook.grid, show: place === 0 },
          values: (_, splits) => splits.map((split) => upText(split, unit)),
        })),
      ],
      series: [
        { label: data.names ? "name" : "at", value: (_, value) => (value === null ? "–" : acrossText(data, value, true)) },
        ...data.series.map((series, place) => lineOf(series, place, data.series.length, style, lines[place % lines.length]!)),
      ],
    },
    [data.x, ...data.series.map((series) => series.values)],
    host,
  );
}

/** The room of the drawing itself: uPlot's legend stands below it. */
export function sizeOf(host: HTMLElement): { width: number; height: number } {
  const legend = host.querySelector<HTMLElement>(".u-legend")?.offsetHeight ?? 26;
  return { width: Math.max(200, host.clientWidth - 8), height: Math.max(90, host.clientHeight - legend - 6) };
}

function scalesOf(units: readonly string[], style: Style): uPlot.Scales {
  const range: uPlot.Range.Function = (_, low, high) => {
    const from = style === "bars" ? Math.min(0, low) : low;
    const [bottom, top] = uPlot.rangeNum(from, high === from ? from + 1 : high, 0.08, true);
    return [from >= 0 ? Math.max(0, bottom ?? 0) : bottom, top];
  };
  return Object.fromEntries(units.map((unit) => [unit || "y", { range }]));
}

/** Bars at the ends have room for their own width. */
function spread(data: PlotData, style: Style): uPlot.Range.Function {
  const room = style === "bars" ? 0.5 * leastGap(data.x) : 0;
  return (_, from, to) => (from === to ? [from - 1, to + 1] : [from - room, to + room]);
}

function leastGap(x: readonly number[]): number {
  let least = Infinity;
  for (let place = 1; place < x.length; place++) {
    const gap = x[place]! - x[place - 1]!;
    if (gap > 0) least = Math.min(least, gap);
  }
  return Number.isFinite(least) ? least : 1;
}

function lineOf(series: Series, place: number, many: number, style: Style, colour: string): uPlot.Series {
  return {
    label: series.label + (series.unit ? ` [${series.unit}]` : ""),
    scale: series.unit || "y",
    stroke: colour,
    fill: style === "bars" ? `${colour}${many > 1 ? "88" : "cc"}` : undefined!,
    width: style === "points" ? 0 : style === "bars" ? 1 : 1.5,
    spanGaps: true,
    paths: pathsOf(style),
    points: { show: style === "points", size: 5, fill: colour, stroke: colour },
    value: (_, value) => (value === null ? "–" : upText(value, series.unit ?? "")),
    alpha: style === "bars" && many > 1 ? 1 - place * 0.08 : 1,
  };
}

function pathsOf(style: Style): uPlot.Series.PathBuilder {
  if (style === "bars") return uPlot.paths.bars!({ size: [0.7, 60, 1] });
  if (style === "points") return () => null;
  if (style === "steps") return uPlot.paths.stepped!({ align: 1 });
  return uPlot.paths.linear!();
}

function acrossText(data: PlotData, value: number, whole = false): string {
  if (data.names) {
    const name = data.names[value];
    if (name === undefined) return "";
    return whole || name.length < 16 ? name : `${name.slice(0, 15)}…`;
  }
  if (data.unit === "ns" && whole) return moment(BigInt(Math.round(value)));
  return upText(value, data.unit ?? "");
}

const upText = (value: number, unit: string): string => (unit ? amount(value, unit, 6) : bare(value));
