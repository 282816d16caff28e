/** What a saved view holds; it stands in the file as JSON, cells compressed. */

import type {
  AreaTable, Flame, FlameRequest, AreaRequest, ReportLine, ResultAbout, SessionInfo, SliceDetails, TrackId, TrackTree,
} from "../api/types";

export const FORMAT = 1;
export const ELEMENT = "saved";

export interface SavedLevel {
  readonly exponent: number;
  /** The range that is held, in ns of the clock. */
  readonly from: string;
  readonly to: string;
  readonly tracks: readonly TrackId[];
  readonly rows: number;
  readonly names: readonly string[];
  /** Where its columns begin in the bytes of all levels. */
  readonly begin: number;
}

export interface SavedRun {
  readonly sql: string;
  readonly title: string;
  readonly about: ResultAbout;
  /** The Arrow stream in base64. */
  readonly bytes: string;
  readonly took: number;
  readonly view: "table" | "plot";
}

export interface SavedReport {
  readonly name: string;
  readonly text: string;
  readonly state: "done" | "stopped" | "failed";
  readonly statements: readonly { readonly line: ReportLine; readonly tracks: readonly TrackId[]; readonly refused: string | null }[];
}

export interface SavedView {
  readonly format: number;
  readonly made: string;
  /** What follows # in the address: range, selection, pins. */
  readonly hash: string;
  readonly session: SessionInfo;
  readonly tree: TrackTree;
  readonly levels: readonly SavedLevel[];
  /** Columns of all levels: gzip in base64. */
  readonly cells: string;
  readonly details: SliceDetails | null;
  readonly selection: { readonly request: AreaRequest; readonly tables: readonly AreaTable[] } | null;
  readonly flame: { readonly request: FlameRequest; readonly answer: Flame } | null;
  readonly runs: readonly SavedRun[];
  readonly report: SavedReport | null;
}
