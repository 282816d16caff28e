import { computed, signal, useComputed } from "@preact/signals";
import type { TrackId } from "../api/types";
import { closedByHand } from "../state/address";
import { byId, collapsed, offsets, pins, removeTrack, setCollapsed, togglePin, tracks } from "../state/tracks";
import { selected } from "../state/view";
import { whole } from "../text/amounts";
import { exactTime } from "../text/times";
import { openOffsets } from "./offsets";
import { dragHeight, dragRow, drop } from "./drag";
import { layout, pinnedLayout, rowsWithin, type LayoutRow } from "./layout";
import { active, treeKey } from "./keys";
import { pinnedHeight, scrollBy, scrolledHeight, shownTop, treeWidth } from "./scroll";

const manyMounts = computed(() => new Set(tracks.value.map((track) => track.mount).filter(Boolean)).size > 1);
const focused = signal(false);

/** Names of tracks beside the canvas; only those that are seen are in the document. */
export function TrackTree() {
  const rows = useComputed(() => rowsWithin(layout.value.rows, shownTop.value, shownTop.value + scrolledHeight.value));
  const upper = pinnedHeight.value;
  return (
    <div class="tree" style={{ width: `${treeWidth.value}px` }} onWheel={wheel}>
      {upper > 0 && (
        <ul class="rows pinned" role="list" aria-label="Pinned tracks" style={{ height: `${upper}px` }}>
          {pinnedLayout.value.rows.map((row) => <PinnedRow key={row.track.id} row={row} />)}
        </ul>
      )}
      <div
        class="rows"
        role="tree"
        aria-label="Tracks"
        tabIndex={0}
        aria-activedescendant={active.value && rows.value.some((row) => row.track.id === active.value) ? domId(active.value) : undefined}
        onKeyDown={treeKey}
        onFocus={() => (focused.value = true)}
        onBlur={() => (focused.value = false)}
      >
        <div role="none" class="moved" style={{ transform: `translateY(${-shownTop.value}px)` }}>
          {rows.value.map((row) => <TreeRow key={row.track.id} row={row} />)}
        </div>
      </div>
    </div>
  );
}

function wheel(event: WheelEvent): void {
  if (event.ctrlKey) return;
  scrollBy(event.deltaY * (event.deltaMode === 1 ? 18 : 1));
}

function domId(id: TrackId): string {
  return `track-${id}`;
}

export function toggle(row: LayoutRow): void {
  if (row.open === null) return;
  closedByHand.value = true;
  setCollapsed(row.track.id, row.open);
}

function classesOf(row: LayoutRow): string {
  const { track } = row;
  const parts = ["row", track.kind];
  if (row.level === 0) parts.push("root");
  if (track.id === active.value && focused.value && !row.pinned) parts.push("active");
  if (track.id === selected.value?.track) parts.push("chosen");
  if (drop.value?.id === track.id && !row.pinned) parts.push(drop.value.after ? "drop-after" : "drop-before");
  return parts.join(" ");
}

function TreeRow({ row }: { row: LayoutRow }) {
  const { track } = row;
  return (
    <div
      class={classesOf(row)}
      id={domId(track.id)}
      role="treeitem"
      aria-level={row.level + 1}
      aria-posinset={row.place}
      aria-setsize={row.size}
      aria-selected={track.id === active.value}
      {...(row.open !== null && { "aria-expanded": row.open })}
      title={about(row)}
      style={{ top: `${row.top}px`, height: `${row.height}px`, paddingLeft: `${6 + Math.min(row.level, 12) * 13}px` }}
      onPointerDown={(event) => dragRow(event, row)}
      onClick={() => {
        active.value = track.id;
        toggle(row);
      }}
    >
      <RowContent row={row} />
    </div>
  );
}

function PinnedRow({ row }: { row: LayoutRow }) {
  return (
    <li class={classesOf(row)} title={about(row)} style={{ top: `${row.top}px`, height: `${row.height}px`, paddingLeft: "8px" }}>
      <RowContent row={row} />
    </li>
  );
}

function RowContent({ row }: { row: LayoutRow }) {
  const { track } = row;
  const pinned = pins.value.includes(track.id);
  const made = track.id.startsWith("+");
  const offset = track.mount && manyMounts.value && row.level === 0 && !row.pinned ? (offsets.value.get(track.mount) ?? 0) : null;
  return (
    <>
      <span class={`caret${row.open === null ? " none" : row.open ? " open" : ""}`} aria-hidden="true" />
      <span class="name">
        {track.name || "(no name)"}
        {row.pinned && track.parent !== null && <span class="of"> · {byId.value.get(track.parent)?.name}</span>}
      </span>
      {track.unit && <span class="unit">{track.unit}</span>}
      {offset !== null && (
        <button type="button" class="small offset" tabIndex={-1} title="Move this trace in time (or Alt+drag its tracks)" onClick={(event) => { event.stopPropagation(); openOffsets(); }}>
          {offset ? `${offset > 0 ? "+" : ""}${exactTime(offset)}` : "±0"}
        </button>
      )}
      <span class="tools">
        {made && row.level === 0 && (
          <button type="button" class="icon" tabIndex={-1} aria-label={`Remove ${track.name}`} title="Remove" onClick={(event) => { event.stopPropagation(); void removeTrack(track.id); }}>✕</button>
        )}
        <button type="button" class={`icon pin${pinned ? " on" : ""}`} tabIndex={-1} aria-label={pinned ? "Unpin" : "Pin"} aria-pressed={pinned} title={pinned ? "Unpin (P)" : "Pin to the top (P)"} onClick={(event) => { event.stopPropagation(); togglePin(track.id); }} />
      </span>
      <span class="edge" onPointerDown={(event) => dragHeight(event, row)} onClick={(event) => event.stopPropagation()} />
    </>
  );
}

function about(row: LayoutRow): string {
  const { track } = row;
  const parts = [track.name];
  if (track.kind !== "group") {
    parts.push(`${track.kind}, ${whole(track.rows)} row${track.rows === 1 ? "" : "s"}`);
    if (track.lanes > 1) parts.push(`${track.lanes} lanes`);
  }
  if (track.source) parts.push(track.source);
  return parts.join("\n");
}

/** Closes or opens all groups below the roots. */
export function collapseAll(closed: boolean): void {
  closedByHand.value = true;
  const groups = tracks.value.filter((track) => track.kind === "group" && track.depth > 0).map((track) => track.id);
  collapsed.value = new Set(closed ? groups : []);
}
