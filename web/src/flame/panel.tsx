/** The tab of flame graphs. */

import "./flame.css";
import { useEffect, useMemo, useState } from "preact/hooks";
import { api } from "../api/api";
import { Fault } from "../query/fault";
import { openInSql } from "../query/runs";
import { keep, kept } from "../state/kept";
import { fromTime } from "../state/session";
import { area, shownTracks } from "../state/view";
import { amount, whole } from "../text/amounts";
import { briefTime } from "../text/times";
import { FlameCanvas, percent } from "./canvas";
import { type Frame, inverted, pathTo, type Tree, treeOf } from "./layout";
import { Sandwich } from "./sandwich";
import { again, flameOfSelection, graph } from "./state";

export function FlamePanel() {
  const now = graph.value;
  // Who opens this with an area selected has said what is to be added up.
  useEffect(() => {
    if (!graph.peek() && area.peek() && api().live) flameOfSelection("slices");
  }, []);
  if (!now) {
    const cannot = !api().live || shownTracks.value.length === 0;
    return (
      <div class="flame-empty">
        <p>Select an area of the timeline, or take everything on the tracks that are shown.</p>
        <button type="button" class="primary" disabled={cannot} onClick={() => flameOfSelection("slices")}>Flame graph of slices</button>{" "}
        <button type="button" disabled={cannot} onClick={() => flameOfSelection("samples")}>of samples</button>
      </div>
    );
  }
  if (now.error) return <div class="flame"><Options /><Fault error={now.error} /></div>;
  if (!now.tree || !now.answer) {
    return <p class="empty" role="status"><span class="spinner" aria-hidden="true" /> adding up…</p>;
  }
  return <Shown tree={now.tree} unit={now.answer.unit} sql={now.answer.sql} />;
}

function Shown({ tree, unit, sql }: { readonly tree: Tree; readonly unit: string | null; readonly sql: string }) {
  const [zoomed, setZoomed] = useState<number | null>(null);
  const [search, setSearch] = useState("");
  const [upward, setUpward] = useState(kept("flameup") === "yes");
  const [turned, setTurned] = useState(false);
  const [functions, setFunctions] = useState<string | null | false>(false);
  useEffect(() => {
    setZoomed(null);
    setFunctions((chosen) => (chosen === false ? false : null));
  }, [tree]);
  const share = useMemo(() => shareOf(tree, search), [tree, search]);
  const drawn = useMemo(() => (turned ? treeOf(inverted(tree)) : tree), [tree, turned]);

  if (tree.frames.size === 0) {
    return <div class="flame"><Options /><p class="empty">Nothing in this area can be added up. Other tracks may have slices or samples.</p></div>;
  }
  return (
    <div class="flame">
      <Options>
        <span class="segments" role="group" aria-label="Show as">
          <button type="button" aria-pressed={functions === false} onClick={() => setFunctions(false)}>Graph</button>
          <button type="button" aria-pressed={functions !== false} onClick={() => setFunctions(null)}>Functions</button>
        </span>
        {functions === false && (
          <button
            type="button"
            aria-pressed={turned}
            title="Begin with the functions that were at work; below each are those that called it"
            onClick={() => (setTurned(!turned), setZoomed(null))}
          >
            Inverted
          </button>
        )}
        {functions === false && (
          <button
            type="button"
            aria-pressed={upward}
            title="Roots at the bottom, as flames, rather than at the top, as icicles"
            onClick={() => (setUpward(!upward), keep("flameup", upward ? "no" : "yes"))}
          >
            Roots at the bottom
          </button>
        )}
        <input
          type="search"
          class="flame-search"
          placeholder="Highlight…"
          aria-label="Highlight functions"
          value={search}
          onInput={(event) => setSearch(event.currentTarget.value)}
        />
        {search && <span class="faint" role="status">{share === 0 ? "none" : percent(share, tree.total)}</span>}
        <span class="grow" />
        <span class="faint">{`${amount(tree.total, unit)} in all`}</span>
        <button type="button" onClick={() => openInSql(sql)}>Open in SQL</button>
      </Options>
      {functions === false && <Crumbs path={pathTo(drawn, zoomed)} onZoom={setZoomed} />}
      {functions === false
        ? (
          <FlameCanvas
            tree={drawn}
            unit={unit}
            label="Flame graph"
            upward={upward}
            search={search}
            zoomed={drawn.frames.has(zoomed ?? -1) ? zoomed : null}
            onZoom={setZoomed}
            onFunction={setFunctions}
          />
        )
        : <Sandwich tree={tree} unit={unit} search={search} chosen={functions} onChoose={setFunctions} />}
    </div>
  );
}

/** How much of the total is in frames of the name that is searched, what is inside of such counted once. */
function shareOf(tree: Tree, search: string): number {
  if (!search) return 0;
  const needle = search.toLowerCase();
  let sum = 0;
  const stack: Frame[] = [...(tree.children.get(null) ?? [])];
  for (let frame = stack.pop(); frame; frame = stack.pop()) {
    if (frame.name.toLowerCase().includes(needle)) sum += frame.value;
    else stack.push(...(tree.children.get(frame.id) ?? []));
  }
  return sum;
}

/** What the graph is of. */
function Options({ children }: { readonly children?: preact.ComponentChildren }) {
  const { request, answer } = graph.value!;
  const wanted = area.value;
  const other = wanted !== null && (Math.abs(fromTime(request.from) - wanted.from) > 1 || Math.abs(fromTime(request.to) - wanted.to) > 1);
  return (
    <div class="flame-bar">
      <label>
        Of{" "}
        <select value={request.of} disabled={!api().live} onChange={(event) => again({ of: event.currentTarget.value as "slices" | "samples", event: null })}>
          <option value="slices">slices</option>
          <option value="samples">samples</option>
        </select>
      </label>
      {answer && answer.events.length > 1 && (
        <label>
          Event{" "}
          <select value={answer.event ?? ""} disabled={!api().live} onChange={(event) => again({ event: event.currentTarget.value })}>
            {answer.events.map(({ name, samples }) => <option key={name} value={name}>{`${name || "none"} (${whole(samples)})`}</option>)}
          </select>
        </label>
      )}
      <span class="faint">{briefTime(fromTime(request.to) - fromTime(request.from))}</span>
      {other && api().live && <button type="button" onClick={() => flameOfSelection(request.of)}>Take the selected area</button>}
      {children}
    </div>
  );
}

function Crumbs({ path, onZoom }: { readonly path: readonly Frame[]; readonly onZoom: (id: number | null) => void }) {
  return (
    <nav class="crumbs" aria-label="Zoomed into">
      <button type="button" onClick={() => onZoom(null)} aria-current={path.length === 0}>all</button>
      {path.map((frame, place) => (
        <button key={frame.id} type="button" title={frame.name} aria-current={place === path.length - 1} onClick={() => onZoom(frame.id)}>
          {frame.name}
        </button>
      ))}
    </nav>
  );
}
