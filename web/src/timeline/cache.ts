import type { Cells, TrackId, TrackKind } from "../api/types";
import { hueOf, NO_HUE, stateFill } from "../theme/colours";

/** One answer of the server: cells of some tracks in a range of tiles. */
export interface Batch {
  readonly cells: Cells;
  readonly exponent: number;
  /** Tiles that it holds: first, and the one after the last. */
  readonly first: number;
  readonly end: number;
  /** The range in ns relative to `origin`. */
  readonly from: number;
  readonly to: number;
  readonly origin: bigint;
  readonly generation: number;
  /** Places of colours, one for each cell. */
  readonly fills: Uint8Array;
  readonly bytes: number;
  used: number;
}

/** The cells of one track in a batch: places from `begin` to `end`. */
export interface Block {
  readonly batch: Batch;
  readonly begin: number;
  readonly end: number;
}

export interface ValueRange {
  readonly min: number;
  readonly max: number;
}

export interface BatchAbout {
  readonly exponent: number;
  readonly first: number;
  readonly end: number;
  readonly from: number;
  readonly to: number;
  readonly origin: bigint;
  readonly generation: number;
  readonly tracks: readonly { readonly id: TrackId; readonly kind: TrackKind }[];
}

/** Keeps answers until they are more than so many bytes; those that were not drawn for longest go first. */
export class TileCache {
  private readonly blocks = new Map<TrackId, Map<number, Block[]>>();
  private readonly batches = new Set<Batch>();
  private readonly ranges = new Map<TrackId, ValueRange>();
  private clock = 0;
  bytes = 0;

  constructor(private readonly most: number) {}

  add(cells: Cells, about: BatchAbout): Batch {
    const batch: Batch = {
      cells, exponent: about.exponent, first: about.first, end: about.end, from: about.from, to: about.to,
      origin: about.origin, generation: about.generation, fills: fillsOf(cells, about.tracks), bytes: sizeOf(cells),
      used: this.clock,
    };
    this.batches.add(batch);
    this.bytes += batch.bytes;
    const empty = new Set(about.tracks.keys());
    for (let begin = 0, end = 0; begin < cells.rows; begin = end) {
      const place = cells.track[begin]!;
      const track = about.tracks[place];
      while (end < cells.rows && cells.track[end] === place) end++;
      if (!track) continue;
      empty.delete(place);
      this.list(track.id, about.exponent).push({ batch, begin, end });
      if (track.kind === "counter") this.widen(track.id, cells, begin, end);
    }
    for (const place of empty) this.list(about.tracks[place]!.id, about.exponent).push({ batch, begin: 0, end: 0 });
    this.evict();
    return batch;
  }

  /** Blocks of a track at a step, in order of time. */
  of(id: TrackId, exponent: number): readonly Block[] {
    return this.blocks.get(id)?.get(exponent) ?? NONE;
  }

  /** Steps of which anything is held for a track. */
  exponents(id: TrackId): Iterable<number> {
    return this.blocks.get(id)?.keys() ?? [];
  }

  /** The least and the largest value of a counter in all that was ever held. */
  range(id: TrackId): ValueRange | undefined {
    return this.ranges.get(id);
  }

  /** Begins a frame: what is drawn from now on was used last. */
  tick(): void {
    this.clock++;
  }

  use(block: Block): void {
    block.batch.used = this.clock;
  }

  clear(): void {
    this.blocks.clear();
    this.batches.clear();
    this.ranges.clear();
    this.bytes = 0;
  }

  private list(id: TrackId, exponent: number): Block[] {
    let steps = this.blocks.get(id);
    if (!steps) this.blocks.set(id, (steps = new Map()));
    let blocks = steps.get(exponent);
    if (!blocks) steps.set(exponent, (blocks = []));
    return blocks;
  }

  private widen(id: TrackId, cells: Cells, begin: number, end: number): void {
    let { min, max } = this.ranges.get(id) ?? { min: Infinity, max: -Infinity };
    for (let place = begin; place < end; place++) {
      min = Math.min(min, finite(cells.min[place], min));
      max = Math.max(max, finite(cells.max[place], max));
    }
    if (min <= max) this.ranges.set(id, { min, max });
  }

  private evict(): void {
    if (this.bytes <= this.most) return;
    const old = [...this.batches].sort((a, b) => a.used - b.used);
    const gone = new Set<Batch>();
    for (const batch of old) {
      if (this.bytes <= this.most * 0.8 || batch.used === this.clock) break;
      gone.add(batch);
      this.batches.delete(batch);
      this.bytes -= batch.bytes;
    }
    for (const [id, steps] of this.blocks) {
      for (const [exponent, blocks] of steps) {
        const left = blocks.filter((block) => !gone.has(block.batch));
        if (left.length) steps.set(exponent, left);
        else steps.delete(exponent);
      }
      if (!steps.size) this.blocks.delete(id);
    }
  }
}

const NONE: readonly Block[] = [];

function finite(value: number | undefined, otherwise: number): number {
  return value === undefined || Number.isNaN(value) ? otherwise : value;
}

function sizeOf(cells: Cells): number {
  let text = 0;
  for (const name of cells.names) text += 40 + name.length * 2;
  return cells.rows * (11 * 8 + 3 * 4 + 1) + text + 512;
}

function fillsOf(cells: Cells, tracks: BatchAbout["tracks"]): Uint8Array {
  const hues = Uint8Array.from(cells.names, hueOf);
  const states = tracks.some((track) => track.kind === "states") ? Uint8Array.from(cells.names, stateFill) : hues;
  const isState = tracks.map((track) => track.kind === "states");
  const fills = new Uint8Array(cells.rows).fill(NO_HUE);
  for (let place = 0; place < cells.rows; place++) {
    const name = cells.name[place]!;
    if (name >= 0) fills[place] = (isState[cells.track[place]!] ? states : hues)[name]!;
  }
  return fills;
}
