/** Where the frames of a flame graph stand: pure geometry, in parts of the whole width. */

import type { FlameFrame } from "../api/types";

export interface Frame {
  readonly id: number;
  readonly parent: number | null;
  readonly name: string;
  readonly value: number;
  readonly self: number;
  readonly count: number;
}

/** Frames as they are drawn: each has a name, and times that JSON has as text are numbers. */
export function named(frames: readonly FlameFrame[]): Frame[] {
  return frames.map(({ id, parent, name, value, self, count }) => ({
    id, parent, name: name ?? "(no name)", value: Number(value), self: Number(self), count: Number(count),
  }));
}

export interface Box {
  readonly frame: Frame;
  readonly depth: number;
  /** Left edge and width, as parts of 1. */
  readonly x: number;
  readonly width: number;
  /** True for a frame above the one that is zoomed into. */
  readonly above: boolean;
}

export interface Tree {
  readonly frames: ReadonlyMap<number, Frame>;
  readonly children: ReadonlyMap<number | null, readonly Frame[]>;
  readonly total: number;
}

/** Children of each frame, widest first. */
export function treeOf(frames: readonly Frame[]): Tree {
  const byId = new Map<number, Frame>();
  const children = new Map<number | null, Frame[]>();
  for (const frame of frames) {
    byId.set(frame.id, frame);
    const beside = children.get(frame.parent);
    if (beside) beside.push(frame);
    else children.set(frame.parent, [frame]);
  }
  for (const beside of children.values()) beside.sort((a, b) => b.value - a.value || (a.name < b.name ? -1 : 1));
  const total = (children.get(null) ?? []).reduce((sum, frame) => sum + frame.value, 0);
  return { frames: byId, children, total };
}

/** The frames from the root down to this one. */
export function pathTo(tree: Tree, id: number | null): Frame[] {
  const path: Frame[] = [];
  for (let frame = at(tree, id); frame; frame = at(tree, frame.parent)) path.unshift(frame);
  return path;
}

const at = (tree: Tree, id: number | null): Frame | undefined => (id === null ? undefined : tree.frames.get(id));

/** Boxes by depth, those narrower than `least` left out with all that is on them. */
export function layout(tree: Tree, zoomed: number | null, least: number): Box[][] {
  const rows: Box[][] = [];
  const path = pathTo(tree, zoomed);
  path.slice(0, -1).forEach((frame, depth) => rows.push([{ frame, depth, x: 0, width: 1, above: true }]));
  const roots = path.length > 0 ? path.slice(-1) : (tree.children.get(null) ?? []);
  const total = roots.reduce((sum, frame) => sum + frame.value, 0);
  if (total <= 0) return rows;
  let level = roots.map((frame) => ({ frame, x: 0 }));
  let x = 0;
  for (const place of level) {
    place.x = x;
    x += place.frame.value / total;
  }
  for (let depth = rows.length; level.length > 0; depth++) {
    const row: Box[] = [];
    const next: { frame: Frame; x: number }[] = [];
    for (const { frame, x: left } of level) {
      const width = frame.value / total;
      if (width < least) continue;
      row.push({ frame, depth, x: left, width, above: false });
      let inner = left;
      for (const child of tree.children.get(frame.id) ?? []) {
        next.push({ frame: child, x: inner });
        inner += child.value / total;
      }
    }
    if (row.length > 0) rows.push(row);
    level = next;
  }
  return rows;
}

/** The box under a place of a row, found by halving. */
export function boxAt(row: readonly Box[] | undefined, x: number): Box | null {
  if (!row) return null;
  let [low, high] = [0, row.length - 1];
  while (low <= high) {
    const middle = (low + high) >> 1;
    const box = row[middle]!;
    if (x < box.x) high = middle - 1;
    else if (x >= box.x + box.width) low = middle + 1;
    else return box;
  }
  return null;
}

export type Step = "parent" | "child" | "next" | "previous";

/** Where the arrow keys lead from a frame; the frame itself at an end. */
export function neighbour(tree: Tree, frame: Frame, step: Step): Frame {
  if (step === "parent") return at(tree, frame.parent) ?? frame;
  if (step === "child") return tree.children.get(frame.id)?.[0] ?? frame;
  const beside = tree.children.get(frame.parent) ?? [];
  return beside[beside.indexOf(frame) + (step === "next" ? 1 : -1)] ?? frame;
}

export interface FunctionSum {
  readonly name: string;
  readonly self: number;
  readonly total: number;
  readonly count: number;
}

/** Functions by name; calls of a function below itself count once in its total. */
export function functions(tree: Tree): FunctionSum[] {
  const sums = new Map<string, { name: string; self: number; total: number; count: number }>();
  const open = new Map<string, number>();
  const stack: { frame: Frame; left: boolean }[] = (tree.children.get(null) ?? []).map((frame) => ({ frame, left: false }));
  while (stack.length > 0) {
    const { frame, left } = stack.pop()!;
    const depth = open.get(frame.name) ?? 0;
    if (left) {
      open.set(frame.name, depth - 1);
      continue;
    }
    const sum = sums.get(frame.name) ?? { name: frame.name, self: 0, total: 0, count: 0 };
    sums.set(frame.name, sum);
    sum.self += frame.self;
    sum.count += frame.count;
    if (depth === 0) sum.total += frame.value;
    open.set(frame.name, depth + 1);
    stack.push({ frame, left: true });
    for (const child of tree.children.get(frame.id) ?? []) stack.push({ frame: child, left: false });
  }
  return [...sums.values()].sort((a, b) => b.self - a.self || b.total - a.total);
}

export type Direction = "callers" | "callees";

/** The calls of all functions of a name as one tree: what they call, or turned around, who calls them. */
export function around(tree: Tree, name: string, direction: Direction): Frame[] {
  const { frames, add } = builder();
  for (const frame of tree.frames.values()) {
    if (frame.name !== name || (direction === "callees" && hasAncestor(tree, frame, name))) continue;
    if (direction === "callees") copyDown(tree, frame, add);
    else copyUp(tree, frame, add);
  }
  return frames;
}

/** Frames by parent and name: what is added where one is already is added to it. */
function builder(): { frames: Frame[]; add: Add } {
  const frames: Frame[] = [];
  const nodes = new Map<string, Mutable>();
  const add: Add = (parent, name, value, self, count) => {
    const key = `${parent}:${name}`;
    let frame = nodes.get(key);
    if (!frame) {
      frame = { id: frames.length, parent, name, value: 0, self: 0, count: 0 };
      nodes.set(key, frame);
      frames.push(frame);
    }
    frame.value += value;
    frame.self += self;
    frame.count += count;
    return frame;
  };
  return { frames, add };
}

/** The graph turned around: below each function that was at work are those that called it, by their paths. */
export function inverted(tree: Tree): Frame[] {
  const { frames, add } = builder();
  for (const leaf of tree.frames.values()) if (leaf.self > 0) addUp(tree, leaf, leaf.self, add);
  return frames;
}

type Mutable = { -readonly [Key in keyof Frame]: Frame[Key] };
type Add = (parent: number | null, name: string, value: number, self: number, count: number) => Mutable;

function hasAncestor(tree: Tree, frame: Frame, name: string): boolean {
  for (let above = at(tree, frame.parent); above; above = at(tree, above.parent)) if (above.name === name) return true;
  return false;
}

function copyDown(tree: Tree, root: Frame, add: Add): void {
  const stack = [{ frame: root, parent: null as number | null }];
  while (stack.length > 0) {
    const { frame, parent } = stack.pop()!;
    const { id } = add(parent, frame.name, frame.value, frame.self, frame.count);
    for (const child of tree.children.get(frame.id) ?? []) stack.push({ frame: child, parent: id });
  }
}

/** A function that calls itself gives its callers only what its inner calls do not give already: their own time. */
function copyUp(tree: Tree, leaf: Frame, add: Add): void {
  const value = leaf.value - below(tree, leaf, leaf.name);
  if (value > 0) addUp(tree, leaf, value, add);
}

function addUp(tree: Tree, leaf: Frame, value: number, add: Add): void {
  let parent: number | null = null;
  for (let frame: Frame | undefined = leaf; frame; frame = at(tree, frame.parent)) {
    parent = add(parent, frame.name, value, frame === leaf ? leaf.self : 0, leaf.count).id;
  }
}

function below(tree: Tree, frame: Frame, name: string): number {
  let sum = 0;
  const stack = [...(tree.children.get(frame.id) ?? [])];
  while (stack.length > 0) {
    const inner = stack.pop()!;
    if (inner.name === name) sum += inner.value;
    else stack.push(...(tree.children.get(inner.id) ?? []));
  }
  return sum;
}
