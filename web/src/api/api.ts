import type {
  AreaRequest,
  AreaTable,
  Cells,
  ColumnsAbout,
  Completions,
  CriticalPath,
  CriticalRequest,
  Fault,
  Flame,
  FlameRequest,
  NewTrack,
  QueryResult,
  ReportLine,
  SearchRequest,
  SearchResult,
  ServerEvent,
  SessionInfo,
  SliceDetails,
  TableAbout,
  TilesRequest,
  Time,
  Track,
  TrackId,
  TrackTree,
} from "./types";

/** Every request of the page. All throw ApiError; an aborted one throws a DOMException (see isAbort). */
export interface Api {
  /** Whether there is a server: a saved page answers only what it holds. */
  readonly live: boolean;
  session(signal?: AbortSignal): Promise<SessionInfo>;
  tracks(signal?: AbortSignal): Promise<TrackTree>;
  /** `origin` is the time that `Cells.from` is relative to. */
  tiles(request: TilesRequest, origin: bigint, signal?: AbortSignal): Promise<Cells>;
  query(request: { sql: string; limit?: number }, signal?: AbortSignal): Promise<QueryResult>;
  /** Calls `line` for each statement as it ends. */
  report(request: { text: string; name: string }, line: (line: ReportLine) => void, signal?: AbortSignal): Promise<void>;
  addTracks(request: NewTrack, signal?: AbortSignal): Promise<readonly Track[]>;
  removeTrack(id: TrackId): Promise<void>;
  slice(track: TrackId, row: number, signal?: AbortSignal): Promise<SliceDetails>;
  /** The value that a counter has at a time. */
  valueAt(track: TrackId, time: Time, signal?: AbortSignal): Promise<SliceDetails>;
  search(request: SearchRequest, signal?: AbortSignal): Promise<SearchResult>;
  selection(request: AreaRequest, signal?: AbortSignal): Promise<readonly AreaTable[]>;
  flame(request: FlameRequest, signal?: AbortSignal): Promise<Flame>;
  critical(request: CriticalRequest, signal?: AbortSignal): Promise<CriticalPath>;
  complete(request: { text: string; cursor: number }, signal?: AbortSignal): Promise<Completions>;
  check(request: { text: string }, signal?: AbortSignal): Promise<readonly Fault[]>;
  tables(prefix: string, signal?: AbortSignal): Promise<readonly TableAbout[]>;
  columns(table: string, signal?: AbortSignal): Promise<ColumnsAbout>;
  /** Listens until the returned function is called; reconnects by itself. */
  events(listen: (event: ServerEvent) => void): () => void;
  /** Gives the name that it is mounted as; `progress` is told how many bytes were sent. */
  upload(name: string, bytes: Blob, progress?: (sent: number) => void, signal?: AbortSignal): Promise<string>;
  interrupt(): Promise<void>;
}

let current: Api | null = null;

/** Makes all that follows ask this one: the server, or what a saved page holds. */
export function setApi(api: Api): void {
  current = api;
}

export function api(): Api {
  if (!current) throw new Error("no api was set");
  return current;
}
