import { api } from "../api/api";
import { isAbort, type Track, type TrackId } from "../api/types";
import type { TileCache } from "./cache";
import { gridOf, tileBegin, tilesOf, tileTime, without, type Grid } from "./grid";

/** What a frame needs: cells of tracks in a range of time. */
export interface Need {
  readonly exponent: number;
  /** Relative to `origin`. */
  readonly from: number;
  readonly to: number;
  readonly tracks: readonly Shifted[];
  /** Tracks that are not seen yet, but may be soon. */
  readonly near: readonly Shifted[];
  readonly origin: bigint;
  readonly length: number;
  readonly generation: number;
}

export interface Shifted {
  readonly track: Track;
  readonly offset: number;
}

interface Flight {
  readonly exponent: number;
  readonly generation: number;
  readonly first: number;
  readonly end: number;
  readonly tracks: ReadonlySet<TrackId>;
  readonly ahead: boolean;
  readonly stop: AbortController;
}

interface Ask {
  readonly grid: Grid;
  readonly first: number;
  readonly end: number;
  readonly tracks: Track[];
}

const REST_MS = 60;
const AGAIN_MS = 1500;
const MOST_TRACKS = 256;

/** Asks for cells that are missing: one request for all tracks that miss the same, then what may be needed next. */
export class Loader {
  private readonly flights = new Set<Flight>();
  private need: Need | null = null;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private restUntil = 0;
  /** How many answers came, how long the last took, and how many cells it had. */
  readonly seen = { answers: 0, milliseconds: 0, cells: 0 };

  constructor(
    private readonly cache: TileCache,
    private readonly arrived: () => void,
    private readonly failed: (error: unknown) => void,
  ) {}

  /** Is told at each frame what is on the screen. */
  update(need: Need): void {
    this.need = need;
    this.stopSuperseded(need);
    if (performance.now() < this.restUntil) return;
    const asks = this.missing(need, need.tracks, need.exponent, need.from, need.to);
    if (asks.length) this.stopAhead();
    for (const ask of asks) this.send(ask, need, false);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.lookAhead(), REST_MS);
  }

  get waiting(): boolean {
    return [...this.flights].some((flight) => !flight.ahead);
  }

  private stopSuperseded(need: Need): void {
    const grid = gridOf(need.exponent, need.origin);
    const [first, end] = tilesOf(grid, need.from, need.to);
    for (const flight of this.flights) {
      const other = flight.exponent !== need.exponent || flight.generation !== need.generation;
      if (!flight.ahead && (other || flight.end < first - 1 || flight.first > end + 1)) this.stop(flight);
    }
  }

  private stopAhead(): void {
    for (const flight of this.flights) if (flight.ahead) this.stop(flight);
  }

  private stop(flight: Flight): void {
    this.flights.delete(flight);
    flight.stop.abort();
  }

  private missing(need: Need, tracks: readonly Shifted[], exponent: number, from: number, to: number): Ask[] {
    const grid = gridOf(exponent, need.origin);
    const found = new Map<string, Ask>();
    for (const { track, offset } of tracks) {
      if (track.kind === "group" || track.rows === 0) continue;
      const left = Math.max(from - offset, 0);
      const right = Math.min(to - offset, need.length + 1);
      if (right <= left) continue;
      for (const [first, end] of without(tilesOf(grid, left, right), this.taken(need, track.id, exponent))) {
        const key = `${first}:${end}`;
        const ask = found.get(key);
        if (ask && ask.tracks.length < MOST_TRACKS) ask.tracks.push(track);
        else found.set(key, { grid, first, end, tracks: [track] });
      }
    }
    return [...found.values()];
  }

  /** Tiles of a track that are held or on their way. */
  private taken(need: Need, id: TrackId, exponent: number): (readonly [number, number])[] {
    const taken: (readonly [number, number])[] = [];
    for (const { batch } of this.cache.of(id, exponent)) {
      if (batch.generation === need.generation && batch.origin === need.origin) taken.push([batch.first, batch.end]);
    }
    for (const flight of this.flights) {
      if (flight.exponent === exponent && flight.generation === need.generation && flight.tracks.has(id)) {
        taken.push([flight.first, flight.end]);
      }
    }
    return taken;
  }

  private lookAhead(): void {
    const { need } = this;
    if (!need || this.flights.size) return;
    const grid = gridOf(need.exponent, need.origin);
    const span = need.to - need.from;
    const asks = [
      ...this.missing(need, need.tracks, need.exponent, need.from - grid.width, need.to + grid.width),
      ...this.missing(need, need.near, need.exponent, need.from, need.to),
      ...this.missing(need, need.tracks, need.exponent + 2, need.from - span, need.to + span),
    ];
    for (const ask of asks.slice(0, 4)) this.send(ask, need, true);
  }

  private async send(ask: Ask, need: Need, ahead: boolean): Promise<void> {
    const { grid, first, end, tracks } = ask;
    const { origin, generation } = need;
    const ids = tracks.map((track) => track.id);
    const flight: Flight = {
      exponent: grid.exponent, generation, first, end, tracks: new Set(ids), ahead, stop: new AbortController(),
    };
    this.flights.add(flight);
    const began = performance.now();
    try {
      const request = {
        tracks: ids, from: String(tileTime(grid, first)), to: String(tileTime(grid, end)), step: 2 ** grid.exponent,
      };
      const cells = await api().tiles(request, origin, flight.stop.signal);
      this.seen.answers++;
      this.seen.milliseconds = performance.now() - began;
      this.seen.cells = cells.rows;
      this.cache.add(cells, {
        exponent: grid.exponent, first, end, from: tileBegin(grid, first), to: tileBegin(grid, end), origin, generation,
        tracks: tracks.map(({ id, kind }) => ({ id, kind })),
      });
    } catch (error) {
      if (isAbort(error)) return;
      this.restUntil = performance.now() + AGAIN_MS;
      setTimeout(this.arrived, AGAIN_MS + 10);
      this.failed(error);
    } finally {
      this.flights.delete(flight);
    }
    this.arrived();
    if (ahead && !this.flights.size) this.timer = setTimeout(() => this.lookAhead(), 0);
  }
}
