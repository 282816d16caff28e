import type { Track } from "../api/types";
import type { Palette } from "../theme/colours";
import type { ValueRange } from "./cache";
import type { Piece } from "./pieces";

/** A track on the canvas; lengths are CSS pixels from the canvas's top. */
export interface FrameRow {
  readonly track: Track;
  readonly top: number;
  readonly height: number;
  readonly pieces: readonly Piece[];
  /** Whether all cells are of the wanted step. */
  readonly whole: boolean;
  /** A closed group, which shows a track that is in it, small. */
  readonly group: boolean;
  /** What cells are drawn as: of the track, or of what a group shows. */
  readonly drawn: Track | null;
  readonly range: ValueRange | undefined;
}

/** A part of the canvas: what is pinned, or what scrolls. */
export interface Band {
  readonly top: number;
  readonly height: number;
  readonly rows: readonly FrameRow[];
}

export interface Frame {
  readonly width: number;
  readonly height: number;
  readonly ratio: number;
  /** The visible range, in ns relative to the session's begin. */
  readonly from: number;
  readonly to: number;
  readonly gridTimes: readonly number[];
  readonly bands: readonly Band[];
  readonly palette: Palette;
  readonly labels: boolean;
}

/** Draws tracks. Canvas 2D does it now; another way would stand behind the same interface. */
export interface Renderer {
  draw(frame: Frame): void;
}
