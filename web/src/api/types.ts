/** What the server and the page say to each other. Times are ns of the session as decimal strings. */

export type Time = string;
export type TrackId = string;
export type TrackKind = "group" | "slices" | "states" | "counter" | "instants";
export type TableKind = "span" | "event" | "regular";
export type Value = string | number | boolean | null | Json;
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

export interface Mount {
  readonly name: string;
  readonly path: string;
  readonly format: string | null;
  readonly state: "mounting" | "ready" | "failed";
  readonly message: string | null;
  readonly done: number | null;
  readonly total: number | null;
  readonly indexed: boolean | null;
}

export interface SessionInfo {
  readonly version: string;
  readonly mounts: readonly Mount[];
  readonly begin: Time | null;
  readonly end: Time | null;
  readonly views: readonly string[];
  readonly report: { readonly name: string; readonly text: string } | null;
}

export interface Track {
  readonly id: TrackId;
  readonly parent: TrackId | null;
  readonly name: string;
  readonly kind: TrackKind;
  readonly depth: number;
  readonly lanes: number;
  readonly rows: number;
  readonly first: Time | null;
  readonly last: Time | null;
  readonly unit: string | null;
  readonly source: string | null;
  readonly mount: string | null;
}

export interface TrackTree {
  readonly begin: Time | null;
  readonly end: Time | null;
  readonly tracks: readonly Track[];
}

export interface TilesRequest {
  readonly tracks: readonly TrackId[];
  readonly from: Time;
  readonly to: Time;
  readonly step: number;
}

/**
 * Cells in columns. `from` and `duration` are ns, `from` relative to the time that was given as the origin. What is
 * not known of a cell is NaN; `row` and `name` are -1 then.
 */
export interface Cells {
  readonly rows: number;
  /** The place of the track in the list of the request. */
  readonly track: Int32Array;
  readonly lane: Int32Array;
  readonly from: Float64Array;
  readonly duration: Float64Array;
  readonly count: Float64Array;
  readonly row: Float64Array;
  readonly total: Float64Array;
  readonly longest: Float64Array;
  readonly filled: Float64Array;
  /** Places in `names`. */
  readonly name: Int32Array;
  readonly names: readonly string[];
  readonly min: Float64Array;
  readonly max: Float64Array;
  readonly last: Float64Array;
  readonly mean: Float64Array;
}

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly unit: string | null;
}

export interface ResultAbout {
  readonly kind: TableKind;
  readonly partitions: readonly string[];
  readonly columns: readonly Column[];
  readonly warnings: readonly (readonly [string, number])[];
  readonly complete: boolean;
}

/** A result of a query: the Arrow IPC stream, and what its schema says about it. */
export interface QueryResult {
  readonly about: ResultAbout;
  readonly bytes: Uint8Array;
}

export interface Table {
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly Value[])[];
  readonly complete: boolean;
}

/** What one statement of a report gave; `statement` is its text, which stands at `start` to `stop`. */
export interface ReportLine {
  readonly statement: string;
  readonly start: number;
  readonly stop: number;
  readonly kind: "result" | "done" | "assert" | "error";
  readonly passed?: boolean;
  readonly message?: string | null;
  /** What an assertion that failed has to say, as the command line writes it. */
  readonly failure?: string | null;
  readonly error?: Refusal;
  readonly table?: Table;
  readonly tablekind?: TableKind;
  readonly warnings?: readonly (readonly [string, number])[];
}

export interface NewTrack {
  readonly sql: string;
  readonly name?: string;
  readonly value?: string;
  readonly title?: string;
}

export interface SliceRef {
  readonly row: number;
  readonly lane: number;
  readonly name: string | null;
  readonly from: Time;
  readonly duration: Time | number;
}

export interface FlowEnd {
  readonly track: TrackId | null;
  readonly row: number | null;
  readonly name: string | null;
  readonly from: Time;
}

export interface SliceColumn extends Column {
  readonly value: Value;
}

export interface CounterValue {
  /** null where the trace has none. */
  readonly value: number | null;
  /** By how much it differs from the value before. */
  readonly change: number | null;
  readonly unit: string | null;
}

export interface SliceDetails {
  readonly track: TrackId;
  readonly row: number;
  readonly lane: number;
  readonly name: string | null;
  readonly from: Time;
  readonly duration: Time | number;
  /** Only of a counter. */
  readonly value: CounterValue | null;
  readonly count_children: number;
  readonly columns: readonly SliceColumn[];
  readonly arguments: Json;
  readonly ancestors: readonly SliceRef[];
  readonly children: readonly SliceRef[];
  readonly flows: { readonly in: readonly FlowEnd[]; readonly out: readonly FlowEnd[] };
  readonly sql: string;
}

export interface SearchRequest {
  readonly text?: string;
  readonly where?: string;
  readonly tracks?: readonly TrackId[];
  readonly from?: Time;
  readonly limit?: number;
  readonly direction?: "next" | "previous";
}

export interface Match extends SliceRef {
  readonly track: TrackId;
}

export interface SearchResult {
  readonly matches: readonly Match[];
  readonly more: boolean;
}

export interface AreaRequest {
  readonly from: Time;
  readonly to: Time;
  readonly tracks: readonly TrackId[];
  /** By how much traces are shown later than they were, in ns, by mount. */
  readonly moved?: Readonly<Record<string, Time>>;
}

export interface AreaTable extends Table {
  readonly kind: "slices" | "states" | "counter" | "instants" | "samples";
  readonly title: string;
  /** The event of samples, if there are samples of several. */
  readonly event: string | null;
  readonly sql: string;
}

export interface FlameRequest extends AreaRequest {
  readonly of: "slices" | "samples";
  /** The event of samples; null for the most frequent. */
  readonly event?: string | null;
  readonly invert?: boolean;
}

export interface FlameFrame {
  readonly id: number;
  readonly parent: number | null;
  readonly name: string | null;
  readonly value: number;
  readonly self: number;
  readonly count: number;
}

export interface Flame {
  readonly unit: string | null;
  readonly total: number;
  readonly frames: readonly FlameFrame[];
  /** The event of the samples that are added up, one of `events`; empty for samples without an event. */
  readonly event: string | null;
  readonly events: readonly { readonly name: string; readonly samples: number }[];
  readonly sql: string;
}

export type CriticalRequest =
  | { readonly track: TrackId; readonly row: number }
  | { readonly mount: string; readonly tid: number; readonly at: Time };

export interface CriticalStep {
  readonly from: Time;
  readonly duration: Time | number;
  readonly tid: number | null;
  readonly track: TrackId | null;
  readonly state: string | null;
  readonly name: string | null;
  readonly row: number | null;
}

export interface CriticalPath {
  readonly steps: readonly CriticalStep[];
  readonly sql: string;
}

export interface Completions {
  readonly from: number;
  readonly options: readonly { readonly label: string; readonly kind: string }[];
}

export interface Fault {
  readonly message: string;
  readonly hint: string | null;
  readonly start: number;
  readonly stop: number;
  readonly rendered: string;
}

export interface TableAbout {
  readonly name: string;
  readonly kind: string;
  readonly doc: string | null;
}

export interface ColumnsAbout {
  readonly kind: TableKind;
  readonly columns: readonly Column[];
}

export interface ErrorPlace {
  readonly start: number;
  readonly stop: number;
  readonly line: number;
  readonly column: number;
}

export type ServerEvent =
  | { readonly type: "open" }
  | { readonly type: "lost" }
  | { readonly type: "mount"; readonly mount: Mount }
  | { readonly type: "tracks" }
  | { readonly type: "busy"; readonly what: string; readonly done: number | null; readonly total: number | null }
  | { readonly type: "idle" }
  | { readonly type: "note"; readonly message: string }
  | { readonly type: "end" };

/** An error as the server tells it. */
export type Refusal = Pick<ApiError, "message" | "hint" | "rendered" | "place">;

/** What a request was refused for. `status` is 0 when the server could not be reached. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint: string | null = null,
    readonly rendered: string | null = null,
    readonly place: ErrorPlace | null = null,
  ) {
    super(message);
    this.name = "ApiError";
  }
}

/** Whether an error only says that nobody wants the answer any more. */
export function isAbort(error: unknown): boolean {
  return error instanceof DOMException && error.name === "AbortError";
}
