"""Compiled kernels: decoders turn bytes into Arrow batches, sweeps turn Arrow streams into Arrow streams.

Every sweep takes objects with `__arrow_c_stream__` and returns one; inputs are read only as the result is read. Columns
are matched by position; `names` are those of the output. A span covers `[_ts, _ts + _duration)`; an input that is not
sorted by `_ts`, has a NULL or impossible time, or spans that overlap in one partition, fails with an error that names
the row. `partitions` is the number of partition columns, which follow the times; their values may be of any type,
including NULL. Results do not depend on how the inputs are cut into batches.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol

from dctv.contracts.chunks import Checkpoint, DecodedChunk

_Function = Literal["sum", "wide_sum", "count", "min", "max", "avg", "first", "last", "time_sum", "time_known"]
_Argument = int | Literal["_ts", "_duration"] | None

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> object: ...

class _ArrowArray(Protocol):
    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]: ...

class Stream(_ArrowStream, _ArrowSchema, Protocol):
    """The result of a sweep: an Arrow stream that can be read once."""

class Cancel:
    """Stops the kernels that hold it with the error `interrupted`, between two batches."""

    def __init__(self) -> None: ...
    def set(self) -> None:
        """Ask every kernel that holds this to stop."""

    def is_set(self) -> bool:
        """Return whether `set` was called."""

    def wait(self, milliseconds: int) -> bool:
        """Wait until no thread reads ahead for these kernels, at most some milliseconds; return whether none does."""

class _Source(_ArrowStream, _ArrowSchema, Protocol): ...

def ahead(source: _Source, *, cancel: Cancel | None = None) -> Stream:
    """Open and read a stream in a thread of its own, a few batches ahead of the reader."""

class Meter:
    """Counts of the streams that were given it."""

    def __init__(self) -> None: ...
    @property
    def rows(self) -> int:
        """Rows output."""

    @property
    def batches(self) -> int:
        """Batches output."""

    @property
    def cpu(self) -> int:
        """Nanoseconds of CPU time, excluding metered streams read meanwhile by the same thread."""

    @property
    def wall(self) -> int:
        """Nanoseconds that the reader waited for batches."""

    @property
    def peak(self) -> int:
        """Maximum bytes of rows held at once by a sweep."""

def schema_of(stream: _ArrowStream) -> _ArrowSchema:
    """Return the schema of a stream without reading a batch."""

def metered(stream: _ArrowStream, meter: Meter) -> Stream:
    """Count the output of a stream, and its cost."""

class SharedBuffer:
    """A stream that is computed once and read by several readers, each at its own place.

    Batches that a reader still needs are kept in memory up to `limit` bytes, and in a file in `folder` beyond it.
    `readers` is the number of readers to be opened; a further one may have to compute the stream again. With `ahead` a
    thread of its own reads the source, else the reader that wants a batch first.
    """

    def __init__(
        self,
        source: _Source,
        *,
        readers: int,
        limit: int,
        folder: str,
        cancel: Cancel | None = None,
        ahead: bool = True,
    ) -> None: ...
    def open(self) -> Stream:
        """Return one more reader, which begins at the first row."""

    def close(self) -> None:
        """Release the source; no reader can be opened any more."""

    @property
    def peak(self) -> int:
        """Maximum bytes kept in memory at once."""

    @property
    def spilled(self) -> int:
        """Bytes written to disk."""

    @property
    def rows(self) -> int:
        """Rows kept."""

class Counter:
    """The count of a running kernel: 0 until it has reached the end of its input, so that it is deterministic."""

    @property
    def value(self) -> int:
        """The count."""

class Rows(Iterator[list[list[Any]]]):
    """Iterates over a stream in pieces of at most 8,192 rows: for each piece one list of Python values per column."""

    @property
    def schema(self) -> list[tuple[str, str]]:
        """Names and Arrow type texts of the columns."""

    def __next__(self) -> list[list[Any]]: ...

def span_join(
    left: _ArrowStream,
    right: _ArrowStream,
    *,
    how: Literal["inner", "outer", "left", "right"],
    partitions: int,
    names: Sequence[str],
    broadcast: Literal["left", "right"] | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Join two span tables into spans on which both, either or one of them is constant.

    Both inputs: `_ts: int64[n] ns, ascending, _duration: int64[n] ns, P keys, payload`. Output, ascending: `_ts`,
    `_duration`, keys, left payload, right payload. `inner` gives the intersections; `outer` cuts at every boundary and
    returns the time that either side covers, `left` and `right` the time that this side covers, with NULL for the
    missing payload. `broadcast` names a side without keys, whose spans meet every partition of the other; it requires
    `inner`, or a `how` that names the other side.

    Raises:
        ValueError: The columns, names or options are invalid; while reading, the stream fails with its own error.
    """

def event_join(
    events: _ArrowStream,
    spans: _ArrowStream,
    *,
    how: Literal["inner", "left"],
    partitions: int,
    names: Sequence[str],
    broadcast: Literal["left", "right"] | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Add to each event the payload of the span that covers it in its partition.

    Inputs: events as `_ts: int64[n] ns, ascending, P keys, payload`, and spans as for `span_join`. Output, ascending:
    `_ts`, keys, event payload, span payload. `left` keeps events not covered by a span. `broadcast="right"`: the spans
    have no keys; `broadcast="left"`: the events have none and meet every partition (only with `inner`).

    Raises:
        ValueError: The columns, names or options are invalid.
    """

def span_pieces(
    grouped: _ArrowStream,
    grouper: _ArrowStream,
    *,
    events: bool,
    partitions: int,
    names: Sequence[str],
    intersect: _ArrowStream | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Cut spans or events into the pieces inside every grouper span, by partition.

    Inputs: spans or events with P keys, and a grouper without. Output: `group: int64` (the grouper's row, from 0),
    grouper `_ts`, `_duration` and payload, keys, `present: bool`, piece `_ts`, piece `_duration` (not for events),
    input payload. If a partition of the input has no piece in a group, there is one row that is not present. With
    `intersect`, a stream of all key tuples, only time at which each of them has a span counts. The order of rows is
    unspecified but deterministic; the pieces of a partition in a group are in order of time.

    Raises:
        ValueError: The columns, names or options are invalid.
    """

def span_group(
    inputs: Sequence[_ArrowStream],
    *,
    events: bool,
    partitions: int,
    aggregates: Sequence[tuple[_Function, _Argument]],
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> Stream:
    """Aggregate over groups: as `span_pieces`, but one row per group and partition that occurs in the input.

    The inputs are the rows to group, the grouper, and for an intersection a third one, of all key tuples.

    Output: grouper `_ts`, `_duration` and payload, keys, one column per aggregate, in unspecified order. An aggregate
    takes a payload column by number, the piece's `_ts` or `_duration`, or nothing (`count` of pieces). Without a value
    it is NULL, a count is 0. `sum` is int64, or float64 for floats; `wide_sum`, `time_sum` (of value times duration)
    and `time_known` (of the durations of pieces with a value) are decimal(38, 0), the first two float64 for floats;
    `avg` is float64; `min`, `max`, `first` and `last` keep the type, and the last two take NULLs as values. Floats are
    added in order of time. Arithmetic aggregates take integers up to int64 and floats, `min` and `max` also text,
    bytes, booleans and times, the others any type.

    Raises:
        ValueError: The columns, names or options are invalid; while reading, also where a `sum`, or the product of a
            value and its duration, exceeds int64.
    """

def partition_pieces(
    spans: _ArrowStream,
    *,
    partitions: int,
    keep: Sequence[int],
    names: Sequence[str],
    intersect: _ArrowStream | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """List the partitioned spans that cover each interval between adjacent boundaries.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Output: `interval: int64` from 0, `_ts` and
    `_duration` of the interval, keys, payload; one row for each span that covers the interval. Boundaries count within
    each combination of the kept keys, which `keep` gives by number. With `intersect`, a stream of all key tuples, only
    intervals covered by all of them (with the same kept keys) are returned. Rows come in order of the intervals' ends.

    Raises:
        ValueError: The columns, names or options are invalid.
    """

def departition(
    spans: _ArrowStream,
    *,
    partitions: int,
    keep: Sequence[int],
    aggregates: Sequence[tuple[_Function, _Argument]],
    names: Sequence[str],
    intersect: _ArrowStream | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Aggregate over partitions: as `partition_pieces`, but one row per interval.

    Output: `_ts`, `_duration`, the kept keys in the order of `keep`, one column per aggregate: those of `span_group`
    but `first` and `last`; `min` and `max` take numbers. Floats are added anew for every interval.

    Raises:
        ValueError: The columns, names or options are invalid; while reading, as for `span_group`.
    """

def series_to_spans(
    sources: Sequence[_ArrowStream],
    *,
    starts: Sequence[bool],
    partitions: int,
    columns: Sequence[tuple[int, int, Literal["rising", "falling"]]],
    names: Sequence[str],
    close_at: int | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Convert streams of start and stop events into the spans between them.

    Input: `_ts: int64[n] ns, ascending, P keys, payload` for each source. Output, ascending: `_ts`, `_duration`, keys,
    one column for each (source, payload column, edge). An event of a starting source closes its partition's open span
    and opens one, any other event closes it; at equal times events of other sources come first, then sources and rows
    in order. Spans without length are dropped. `rising` takes the opening event's value, `falling` the closing one's,
    NULL if that is another source's. A span that is open at the end is dropped, or ends at `close_at` if that is later
    than its start. Output waits for the earliest open span.

    Raises:
        ValueError: The columns, names or options are invalid.
    """

def nest(
    calls: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> tuple[Stream, Counter]:
    """Match begins, ends and complete calls of threads into calls with their parents and depths.

    Input: `_ts: int64[n] ns, ascending, P keys, kind: int8, duration: int64, payload`. `kind` is 1 for a begin, -1 for
    an end, 0 for a complete call of `duration`. Output, ascending: `_ts`, `_duration` (NULL if it never ended), keys,
    `id: int64` from 1, `parent_id` (NULL for a root), `depth: int32`, payload of the begin. An end closes the innermost
    open begin; unmatched ends are counted. A complete call's parent is the innermost open call that ends no earlier;
    its depth is one below the innermost open call. Output waits for the earliest open call.

    Returns:
        The stream and the counter of ends without a begin.

    Raises:
        ValueError: The columns or names are invalid.
    """

def nest_lanes(
    slices: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    paired: bool = False,
    cancel: Cancel | None = None,
) -> Stream:
    """Assign slices that may overlap their parents, depths and the lanes on which they nest.

    Input: `_ts: int64[n] ns, ascending, P keys, duration: int64 (NULL: never ends), payload`. Output, in order of time,
    at equal times the longest first: `_ts`, `_duration`, keys, `id: int64` from 1, `parent_id` (the latest open slice
    of the partition that ends no earlier; NULL for a root), `depth: int32`, `lane: int64`, payload. The lane is the
    parent's unless another slice is open above it there; otherwise the lowest free one. Slices on one lane of a
    partition are nested.

    With `paired`, `payload` begins with an `int32` that is not part of the output: for pairs, which are slices with
    separate begin and end events, the depth among pairs; NULL for the others. Among slices without length at one time,
    each is nested in the one before it if neither is a pair, or if both are pairs and its depth is greater. Such slices
    come first, and have ended, if all longer ones that begin then are pairs and come after them in the input.

    Raises:
        ValueError: The columns or names are invalid.
    """

def ancestry(
    rows: _ArrowStream, *, start: int, down: bool, names: Sequence[str], cancel: Cancel | None = None
) -> Stream:
    """Find the rows above or below a row, with distances, by ids and parents.

    Input: `id: int64, parent_id: int64`. Output: `id, distance`. Among several rows with one id the first counts;
    cycles are cut at their first row.
    """

def reachable(arrows: _ArrowStream, *, start: int, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Follow arrows between ids, and return all ids reachable from one id, with distances.

    Input: `from_id: int64, to_id: int64`. Output: `id, distance`, the first with 0.
    """

def self_time(slices: _ArrowStream, *, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Subtract from each slice, in time order, the time of the slices nested in it.

    Input: `_ts ascending, id, parent_id, duration`, int64. Output: `id, self` (NULL: no end).
    """

def stack_paths(slices: _ArrowStream, *, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Return the path of each row of nested names as text.

    Input: `id: int64, parent_id: int64, name: text`. Output: `id, stack`, outermost first, `;` between names. Stacks of
    more than 512 names are shortened to the first and the last 256, with `...` between.
    """

def flame_slices(
    slices: _ArrowStream, *, names: Sequence[str], strict: bool = False, cancel: Cancel | None = None
) -> Stream:
    """Sum slices into one row per path of names.

    Input: `_ts ascending, id, parent_id, duration: int64, name: text`. Output, parents before children, siblings by
    descending total: `id, parent_id, depth: int32, name, count, total, self, recursive: bool, stack`. With `strict`, a
    slice that ended before `_ts` is not a parent any more.
    """

def flame_stacks(stacks: _ArrowStream, *, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Sum stacks with weights into one row per path of names.

    Input: `count: int64, weight: int64, stack: text`, with `;` between names. Output: as for `flame_slices`.
    """

def thread_states(events: _ArrowStream, *, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Derive thread states from switches and wakeups, in the order of their ends.

    Input: `_ts: int64[n] ns, ascending, kind: int8, cpu, target_cpu, tid, other_tid: int64, code: int8, line: int64,
    payload`. `kind` is 0 for a switch from `other_tid` to `tid` on `cpu`, which leaves it in state `code`; 1 for a
    wakeup of `tid` by `other_tid` (NULL: the thread running on `cpu`), to run on `target_cpu`, in context `code`.
    States are 0 runnable, 1 sleeping, 2 uninterruptible, 3 ended, 4 unknown, 5 running. Output: `_ts`, `end` (NULL for
    a thread's last), `tid`, `state: int8`, `cpu`, `line`, `woken: bool`, `waker`, `context: int8`, `side: int8` (1 if
    it is of `other_tid`); state, cpu, line, waker and context of the next state; payload of the event that began it.
    Memory grows with the number of threads.

    Raises:
        ValueError: The columns or names are invalid.
    """

def critical_path(
    states: _ArrowStream, *, tid: int, start: int, end: int, names: Sequence[str], cancel: Cancel | None = None
) -> Stream:
    """Follow wakeups back from one thread: pieces that cover [start, end).

    Input: `_ts: int64[n] ns, ascending, end, tid: int64, state: int8, cpu, end_line, waker: int64, context: int8`.
    Output: `_ts`, `_duration`, `tid`, `state: int8`, `cpu`, `depth`, `reason: int8`. A sleep ended by a thread's wakeup
    is replaced by the states of that thread during the sleep, recursively; a wakeup must be before the one that it
    explains. The states of all threads in [start, end) are held in memory, 64 bytes each; lookups use binary search,
    and each piece is returned once.

    Raises:
        ValueError: The columns or names are invalid.
    """

def nest_pairs(
    starts: _ArrowStream,
    stops: _ArrowStream,
    *,
    partitions: int,
    ranked: bool,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> tuple[Stream, Counter]:
    """Match begins and ends into nested calls with their parents, depths and self time.

    Both inputs: `_ts: int64[n] ns, ascending, P keys, rank: int64 if ranked, payload`. The inputs are merged by time,
    then by rank (NULL last), then stops first; rows of one input keep their order. A stop closes the innermost open
    start of its partition; unmatched stops are counted. Output, ascending: `_ts`, `_duration` (NULL if it never ended),
    keys, `id: int64` from 1, `parent_id` (NULL for a root), `depth: int32`, `self_time` (the duration without those of
    the calls just below; NULL if it never ended), payload of the start. Output waits for the earliest open call.

    Returns:
        The stream and the counter of stops without a start.

    Raises:
        ValueError: The columns or names are invalid.
    """

def stack_history(
    starts: _ArrowStream,
    stops: _ArrowStream,
    *,
    partitions: int,
    ranked: bool,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> tuple[Stream, Counter]:
    """Convert pushes and pops to spans of equal stacks.

    Inputs: as for `nest_pairs`, with the token after the rank. Output, ascending: `_ts`, `_duration`, keys,
    `stack_id: int64`. Each change of a partition's stack ends its span and begins another, unless the stack is empty
    then; spans without length, and those that do not end, are dropped. Equal stacks have one id, in all partitions; ids
    count from 1 in the order of the output. Tokens are of any type and may be NULL. The kernel holds the distinct
    stacks, each as its top and the stack below, and the spans since the earliest one that has not ended.

    Returns:
        The stream and the counter of stops on an empty stack.

    Raises:
        ValueError: The columns or names are invalid.
    """

def stack_contents(
    starts: _ArrowStream,
    stops: _ArrowStream,
    *,
    partitions: int,
    ranked: bool,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> tuple[Stream, Counter]:
    """List the contents of each stack of `stack_history`, for the same inputs: one row for each token.

    Output: `stack_id: int64`, `depth: int32` from 0 at the bottom, token; ascending by both.

    Returns:
        The stream and the counter of stops on an empty stack.

    Raises:
        ValueError: The columns or names are invalid.
    """

def fill_gaps(
    spans: _ArrowStream,
    *,
    partitions: int,
    keep: bool,
    names: Sequence[str],
    start: int | None = None,
    stop: int | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Find the intervals of each partition without spans, and return them with or without the spans.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Output: the input's columns, or as many of them as
    `names` has; gaps have NULL as payload. `keep` includes the spans. Gaps lie between `start` and `stop`, or the first
    start and the last end of any partition. Without keys there is one partition even if there are no spans. Rows are in
    order within a partition.

    Raises:
        ValueError: The columns or names are invalid.
    """

def merge_adjacent(
    spans: _ArrowStream, *, partitions: int, names: Sequence[str], cancel: Cancel | None = None
) -> Stream:
    """Merge touching spans of equal payload.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Output: the same columns. Touching spans of a
    partition with equal payload are merged; NULL equals NULL, floats compare as numbers, in nested values as bits. Rows
    are in order within a partition.

    Raises:
        ValueError: The columns or names are invalid.
    """

def checked(
    rows: _ArrowStream,
    *,
    events: bool,
    disjoint: bool,
    partitions: int,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> Stream:
    """Check times, order and overlaps of rows declared to be spans or events, and pass on the same batches.

    Input: `_ts: int64[n] ns, _duration (not for events), P keys, payload`. The stream fails for a NULL time, rows out
    of order, durations that are NULL or not positive and, if `disjoint`, spans that overlap in a partition; the error
    shows up to three of the rows with the first fault. Columns beyond those in `names` are dropped.

    Raises:
        ValueError: The columns or names are invalid.
    """

def truncate(spans: _ArrowStream, *, partitions: int, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Cut each of the spans, which may overlap, at the start of the next in its partition.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Among spans of a partition with equal starts the
    last row is kept. Columns beyond those in `names` are dropped. Rows are in order within a partition.

    Raises:
        ValueError: The columns or names are invalid.
    """

def lanes(spans: _ArrowStream, *, partitions: int, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Assign each span, which may overlap others, the lowest lane that is free in its partition at its start.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Output, ascending: `_ts`, `_duration`, keys,
    `lane: int64` from 0, payload as far as `names` has names for it. A span's lane is the lowest free one of its
    partition at its start.

    Raises:
        ValueError: The columns or names are invalid.
    """

def zoom(
    spans: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    step: int,
    start: int | None = None,
    stop: int | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Merge spans shorter than a step into at most one cell per step and partition; keep longer spans unchanged.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. Output: `_ts`, `_duration`, keys, `count: int64`,
    `total: int64` ns, `longest: int64` ns, payload as far as `names` has names for it. Spans outside of `[start, stop)`
    are dropped. A span of a step or more is a cell by itself; shorter spans of one partition that begin in one step are
    one cell, from the start of the first to the end of the last, with the payload of the first of the longest. Steps
    begin at multiples of `step`.

    Raises:
        ValueError: The columns or names are invalid, or `step` is not positive.
    """

def zoom_counter(
    spans: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    step: int,
    start: int | None = None,
    stop: int | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Aggregate the value of spans in each step where it changes.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, value`. Output: `_ts`, `_duration`, keys, `min`, `max` and
    `last` value, of the input's type, and `mean: float64`, weighted by time; NULL where no value is known. A value is
    an integer of up to 64 bits, a float or a decimal. The parts of spans in `[start, stop)` and in one step are one
    cell of a partition, from the first to the last covered time; consecutive steps wholly within one span are one cell.
    Steps begin at multiples of `step`.

    Raises:
        ValueError: The columns or names are invalid, or `step` is not positive.
    """

def range_aggregate(
    table: _ArrowStream,
    windows: _ArrowStream,
    *,
    events: bool,
    matched: Sequence[int],
    aggregate: str,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> Stream:
    """Add to each window an aggregate of the rows in it.

    Input: the table as `_ts: int64[n] ns, ascending, _duration, P keys, value`. For `events` the table has no
    `_duration`. Windows are `_ts: int64[m] ns, ascending, _duration, payload`, and may overlap; column `matched[i]` of
    their payload must equal key `i`. Output: the windows, and `count` (int64), `sum` (int64, float64 or decimal128 of
    38 digits), `min`, `max`, `first`, `last` (of the value's type) or `mean` (float64) of values that are not NULL: of
    events that a window covers, and spans that share some time with it. All but `count` are NULL if there are none. The
    table is read first, and its times and values are held in memory.

    Raises:
        ValueError: The columns or names are invalid, or there is no such aggregate for values of this type.
    """

def flatten(spans: _ArrowStream, *, partitions: int, names: Sequence[str], cancel: Cancel | None = None) -> Stream:
    """Convert spans that may overlap into spans of the innermost open one of their partition at each time.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys, payload`. The innermost span of a partition is the open one
    that began last; among several the one that ends first, then the earlier row. Columns beyond those in `names` are
    dropped. Rows are in order within a partition.

    Raises:
        ValueError: The columns or names are invalid.
    """

def concurrency(
    spans: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    result: Literal["spans", "events"] = "spans",
    idle: bool = False,
    merge: bool = False,
    cancel: Cancel | None = None,
) -> Stream:
    """Count the open spans in each partition, as spans or at each boundary; spans may overlap.

    Input: `_ts: int64[n] ns, ascending, _duration, P keys`. Output: `_ts`, `_duration` (not for events), keys,
    `open: int64`. Spans extend from one boundary to the next while some are open, or with `idle` always; events are at
    each boundary, the last with 0. With `merge`, boundaries that do not change the number are ignored. Rows are in
    order within a partition.

    Raises:
        ValueError: The columns, names or options are invalid.
    """

def sessions(
    events: _ArrowStream, *, gap: int, partitions: int, names: Sequence[str], cancel: Cancel | None = None
) -> Stream:
    """Convert events into spans from the first to the last of a run of close events, with their number.

    Input: `_ts: int64[n] ns, ascending, P keys`. Events of one span are at most `gap` ns apart. Output: `_ts`,
    `_duration`, keys, `events: int64`. A session lasts from its first to its last event, at least 1 ns. Rows are in
    order within a partition.

    Raises:
        ValueError: The columns or names are invalid.
    """

def label_events(
    events: _ArrowStream,
    labels: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    broadcast: bool = False,
    numbered: bool = False,
    cancel: Cancel | None = None,
) -> Stream:
    """Add to each event the latest label of its partition at or before it.

    Both inputs: `_ts: int64[n] ns, ascending, P keys, payload`. Output, ascending: `_ts`, keys, event payload, label
    payload: that of the last label of the partition at or before the event, NULL without one. With `broadcast` the
    labels have no keys; with `numbered` both inputs' last columns are dropped.

    Raises:
        ValueError: The columns or names are invalid.
    """

def rows(stream: _ArrowStream) -> Rows:
    """Read a stream as Python values: numbers, bool, str, bytes, Decimal, lists, dicts; times as the engine's text.

    Raises:
        ValueError: While iterating, if the stream fails.
    """

def delimited_lines(columns: Sequence[list[Any]], null: str, quotes: bool, convert: Callable[[Any], str]) -> bytes:
    """Write rows of Python values as lines of cells: with commas and quotes, or with tabs and backslashes.

    `null` stands for None. `convert` returns the text of a value other than None, int, bool, str and finite floats.

    Raises:
        ValueError: Columns differ in length.
    """

def json_lines(
    columns: Sequence[list[Any]], keys: Sequence[str], around: tuple[str, str], convert: Callable[[Any], str]
) -> bytes:
    """Write rows of Python values as JSON between two texts; each value follows the key of its column, a text of JSON.

    `convert` returns the JSON of a value other than None, int, bool, str and finite floats. Characters that control
    terminals are escaped.

    Raises:
        ValueError: Columns differ in length, or there are not as many keys.
    """

def schema(source: _ArrowSchema) -> list[tuple[str, str]]:
    """Return the names and type texts of the columns of an object with an Arrow schema."""

class Bloom:
    """A set of texts with false positives, at a given rate.

    Serialized: number of hashes, of adds, of bits (u32 little-endian), then the bits, the lowest of each byte first.
    """

    def __init__(self, expected_entries: int = 1024, false_positive_rate: float = 0.01) -> None: ...
    @classmethod
    def from_bytes(cls, blob: bytes) -> Bloom:
        """Deserialize a filter.

        Raises:
            ValueError: The bytes are invalid.
        """

    def to_bytes(self) -> bytes: ...
    def add(self, text: str) -> None: ...
    def may_contain(self, text: str) -> bool:
        """Return whether the text may have been added; False is certain."""

    def merge(self, other: Bloom) -> None:
        """Add all texts of another filter.

        Raises:
            ValueError: It has another size.
        """

    @property
    def num_entries(self) -> int:
        """The number of texts added."""

    @property
    def num_bits(self) -> int: ...
    @property
    def num_hashes(self) -> int: ...

class FileBlooms:
    """Builds the Bloom filters of a file from the values of its chunks."""

    def __init__(self, expected_entries: int = 1024, false_positive_rate: float = 0.01) -> None: ...
    def add(self, dimension: str, value_hashes: bytes | None) -> None:
        """Add the `value_hashes` of a chunk; None means that they are unknown, so that the dimension gets no filter."""

    def finish(self) -> list[tuple[str, bytes, int]]:
        """Return dimension, filter and number of distinct values, without dimensions of more than 2^20 values."""

class Sketch:
    """Integers from 0 to 2^64 - 1, summarized so that quantiles are known to within 1 %."""

    def __init__(self) -> None: ...
    @classmethod
    def from_bytes(cls, blob: bytes) -> Sketch:
        """Deserialize a sketch.

        Raises:
            ValueError: The bytes are invalid.
        """

    def to_bytes(self) -> bytes: ...
    def add(self, value: int, count: int = 1) -> None: ...
    def merge(self, other: Sketch) -> None: ...
    def quantile(self, q: float) -> float | None:
        """Return the smallest value with at least the share `q` of all values at or below it, to within 1 %.

        The smallest and the largest value are exact; None without any.
        """

    def histogram(self) -> list[int]:
        """Return the exact number of values with 0 to 64 bits each."""

    @property
    def count(self) -> int: ...
    @property
    def min(self) -> int | None: ...
    @property
    def max(self) -> int | None: ...

class Packing:
    """Assigns rows, in order of time, to the first lanes of their tracks without overlaps."""

    def __init__(self) -> None: ...
    def push(
        self, tracks: _ArrowArray, depths: _ArrowArray, begins: _ArrowArray, durations: _ArrowArray
    ) -> _ArrowArray:
        """Return the number of each row's lane, unique among all tracks: int32.

        Tracks are numbers from 0 on, `int32`; the other columns are `int64`, times in ns. `depth`, if given, is the
        lowest lane allowed for a row.

        Raises:
            ValueError: A column has a wrong type, or a duration is invalid.
        """

    def lanes(self) -> tuple[_ArrowArray, _ArrowArray]:
        """Return the track of each lane, and the lane's number within it: int32."""

class Lanes:
    """Rows on lanes without overlaps, with an index to draw any part at any scale.

    `begin`, `duration`: int64, ns, lane after lane, in order of time; `lanes` gives the number of rows of each lane, by
    default one lane with all. `states` are numbers of states, int32, and their count; `values` are those of counters,
    float64.
    """

    def __init__(
        self,
        begin: _ArrowArray,
        duration: _ArrowArray,
        lanes: _ArrowArray | None = None,
        *,
        states: tuple[_ArrowArray, int] | None = None,
        values: _ArrowArray | None = None,
        index: _ArrowArray | None = None,
    ) -> None:
        """Index rows, unless their index is given, which must belong to these rows, and is not checked.

        Raises:
            ValueError: Rows of a lane overlap or are out of order, or columns are invalid.
        """

    @staticmethod
    def write(
        path: str,
        begin: _ArrowArray,
        duration: _ArrowArray,
        lanes: _ArrowArray | None = None,
        *,
        states: tuple[_ArrowArray, int] | None = None,
        values: _ArrowArray | None = None,
    ) -> None:
        """Write the index of rows into a new file, little-endian, without holding it in memory.

        Raises:
            OSError: It cannot be written, or exists already.
            ValueError: As for the constructor.
        """

    def __len__(self) -> int:
        """Return the number of lanes."""
    @property
    def index(self) -> _ArrowArray:
        """The index: uint64."""
    def cells(self, start: int, stop: int, step: int, first: int = 0, end: int | None = None) -> _ArrowArray:
        """Return the cells of the lanes from `first` on that touch the times from `start` up to `stop`.

        A span of a step or longer is a cell by itself, with its own start and end. Shorter ones that begin in one step
        are one cell: from the start of the first to the end of the last, with their `count`, their `total` duration,
        that of the `longest`, and its `row`, the first of equals. Steps begin at multiples of `step`. For states there
        are also the `state` with the largest share of a cell, the first of equals, and the time `filled` by it.

        For counters there is one cell for each step that touches the times: `min`, `max`, `last` and the `mean` over
        time of the values in it, NULL if none is known, the number of rows that begin in it, and the last `row` that
        extends into it. A step without a start of a row is merged with the equal ones after it.

        Raises:
            IndexError: A lane does not exist.
            ValueError: The step is not positive, the stop is before the start, or a cell is too long for a duration.
        """

class Forest:
    """Aggregates over any range of a column: an in-order forest of its values, with appends.

    A monoid is one of `count` (a sum of counts: uint64), `sum` (of int64: decimal128), `float_sum`, `min`, `max`,
    `first`, `last` (of int64), `float_min`, `float_max`, `longest` (of lengths: the first row of the largest, struct of
    `row` and `length`), `states` (lengths by state: a list of uint64), `histogram` and `sketch` (of integers from 0, or
    of lists of them: counts by bin, for a histogram by number of bits, for a sketch as in `Sketch`), `text` (of texts:
    their concatenation). NULL is skipped; an aggregate of no values is NULL.
    """

    def __init__(self, monoid: str, *, states: int = 0) -> None:
        """Make an empty forest.

        Raises:
            ValueError: The monoid does not exist, or does not match `states`.
        """

    @staticmethod
    def open(saved: _ArrowArray) -> Forest:
        """Open a saved forest, the bytes of an array of uint8, without copying its nodes; it cannot be changed.

        Raises:
            ValueError: The bytes are invalid or damaged.
        """

    def __len__(self) -> int: ...
    @property
    def monoid(self) -> str: ...
    @property
    def states(self) -> int: ...
    def append(self, values: _ArrowArray, states: _ArrowArray | None = None) -> None:
        """Append a leaf for each value; for `states`, also the number of the state of each length.

        Raises:
            ValueError: The values have a wrong type for the monoid, or the forest was opened.
        """

    def update(self, leaf: int, value: _ArrowArray, states: _ArrowArray | None = None) -> None:
        """Replace a leaf by a column of one value.

        Raises:
            IndexError: The leaf does not exist.
            ValueError: As for `append`; or the monoid is `text`.
        """

    def aggregate(self, first: _ArrowArray, end: _ArrowArray) -> _ArrowArray:
        """Return the aggregate of each range of leaves, from `first` on up to `end`, both `int64[n]`.

        Raises:
            IndexError: A range is not within the leaves.
        """

    def search(self, first: int, end: int, bound: int) -> int | None:
        """Return the first leaf of a range at which the aggregate from `first` on reaches a bound.

        `max`, `longest` and `count` reach it from below, `min` from above.

        Raises:
            IndexError: The range is not within the leaves.
            ValueError: The monoid is not supported.
        """

    def save(self, path: Path) -> None:
        """Write a new file.

        Raises:
            OSError: It cannot be written, or exists already.
        """

def chunk_statistics(
    events: Sequence[tuple[str, _ArrowArray]],
    dimensions: Sequence[tuple[str, str]],
    *,
    expected_entries: int = 1024,
    false_positive_rate: float = 0.01,
    summary: bool = True,
) -> dict[str, Any]:
    """Compute the rows of an index from the events of a chunk: `(name, batch)` with `_ts`, `dur`, `dctv:line`, columns.

    `dimensions` gives names of dimensions and of their columns. The result has `dimensions`, a dict for each (`name`,
    `ts` and `dur` first) with the columns of `chunk_dimension_stats`, `bloom_data`, `num_entries` and `value_hashes`
    (for `FileBlooms`); `statistics`, the columns of `chunk_statistics`; `event_ranges`, each with category, name,
    packed line numbers and their number. Without `summary` only the `dimensions` are computed.

    Values are represented by texts: integers of any type in decimal, other floats as Python writes them, `true` and
    `false`. `distinct_count` is -1 where values were not counted: of `ts` and `dur`, and of dimensions with more than
    2^17 values or 16 MiB of texts in the chunk, which have no `value_counts`, `bloom_data` and `value_hashes` either.
    `min_value` and `max_value` are None without values, for `mixed` ones, if some float is infinite or NaN, and for
    texts of more than 4096 bytes.

    With more than 1024 pairs of category and name nothing is stored by name: `name_duration_sketches` is None, the JSON
    objects and `event_ranges` are empty.

    Raises:
        ValueError: A column is missing or has an invalid type, a duration is negative, or the filters' parameters are
            invalid.
    """

def pack_lines(lines: Sequence[int]) -> bytes:
    """Pack ascending line numbers: zlib of varints, the first number, then the differences."""

def unpack_lines(packed: bytes, most: int) -> list[int]:
    """Unpack line numbers.

    Raises:
        ValueError: The bytes are invalid, or contain more than `most` numbers.
    """

class PfwChunk:
    """A chunk of a DFTracer trace: a `dctv.contracts.chunks.DecodedChunk` with separate metadata records."""

    checkpoint: Any
    events: list[tuple[str, Any]]
    metadata: Any | None
    hashes: list[tuple[str, str, str]]
    other_lines: dict[str, bytes]

class PfwPass:
    """Read DFTracer's JSON lines chunk by chunk, a few ahead on threads; `hints` is the metadata of an earlier pass.

    With `places`, some checkpoints, only those chunks are read.
    """

    def __init__(
        self,
        paths: list[str],
        threads: int = 1,
        progress: Callable[[int, int], object] | None = None,
        chunk_bytes: int = ...,
        hints: Mapping[str, Any] | None = None,
        *,
        line_limit: int = ...,
        places: Sequence[Any] | None = None,
    ) -> None: ...
    def __iter__(self) -> PfwPass: ...
    def __next__(self) -> PfwChunk: ...
    def metadata(self) -> dict[str, Any]:
        """The metadata of the trace, for JSON; raises RuntimeError before the end."""
    def again(self) -> bool:
        """Whether the pass must be repeated with its metadata as hints; raises RuntimeError before the end."""

class PfwColumn:
    """A column of a finished table."""

    name: str
    kind: str
    """Its Arrow type."""
    decoded: str
    """The decoded column it comes from."""
    how: Literal["column", "texts", "both"]
    """Whether its values are those of that column, the texts of its hashes, or both."""

class PfwFinisher:
    """A converter of decoded rows into finished tables, by the metadata of a trace and the hashes in its files.

    `hashes` are the file, dimension, hash and text of each.
    """

    def __init__(self, entries: Mapping[str, Any], hashes: Sequence[tuple[int, str, str, str]]) -> None: ...
    def finish(self, name: str, batch: Any) -> Any:
        """Convert decoded rows of an event or of `metadata`, `dctv:file` last, to a RecordBatch of final rows.

        Raises:
            ValueError: The trace has no such table, or the columns do not match it.
        """
    def columns(self, name: str) -> list[PfwColumn]:
        """Return the final columns."""

class EventSorter:
    """Collects rows of many tables from many chunks, and returns each table sorted by `_ts`.

    Columns of a table may differ from chunk to chunk in presence, order and type. Beyond `limit_bytes` of rows and
    dictionaries, rows go to one unnamed file in the folder.
    """

    def __init__(self, folder: str, limit_bytes: int = 50_331_648, *, cancel: Cancel | None = None) -> None: ...
    def add(self, file: int, events: Sequence[tuple[str, Any]]) -> None:
        """Add the events of a chunk: the name of each table and a batch, with `_ts` as int64 without nulls.

        The column `dctv:line` is dropped. Raises OSError if the folder cannot be written to, ValueError if rows cannot
        be stored or the sorter was cancelled.
        """

    def add_others(self, file: int, others: Sequence[tuple[str, Any]]) -> None:
        """Add rows of tables that are not events; they stay in order of arrival."""

    def finish(self) -> None:
        """Declare that no rows follow; raises OSError as `add`."""

    def tables(self) -> list[tuple[str, int, bool]]:
        """Return name, number of rows, and whether they are events, of each remaining table, in order of arrival."""

    def merged(self, table: str, columns: Sequence[tuple[str, str, str, Sequence[int]]] | None = None) -> Stream:
        """Remove and return a table: its rows by `_ts`, equal times in order of arrival.

        A column has the type that holds its values of all chunks (as decoders mix types), and `dctv:file` (uint32) is
        the last one. Or columns are given: name, type (`int64`, `uint64`, `double`, `bool` or `string`), the name in
        chunks, and the offsets added to integers (none, one number, or one for each file); then there are no others,
        and a table without rows is empty instead of raising KeyError. Texts come with one dictionary if they are few.
        """

    def close(self) -> None:
        """Release everything; tables that were returned can still be read."""

    @property
    def peak(self) -> int:
        """Maximum bytes held in memory."""

    @property
    def spilled(self) -> int:
        """Bytes written to disk."""

class EventMerger:
    """Collects times, durations, names and places of all events while their tables pass through to files."""

    def __init__(self, folder: str, limit_bytes: int = 50_331_648) -> None: ...
    def through(self, table: _ArrowStream, name: str, columns: Sequence[tuple[str, str]]) -> Stream:
        """Pass the rows of a table on, in order of `_ts`, and record them as they are pulled.

        `columns` are pairs: `_ts`, `_duration`, `name`, `category`, `pid` or `tid`, and the corresponding column of the
        table. Without one for `name` all its events are called `name`.
        """

    def merged(self) -> Stream:
        """Remove and return all rows: those six columns by `_ts`, equal times in the order of tables, then of rows."""

class WrittenFile:
    """A Parquet file that was written."""

    rows: int
    columns: list[str]
    parts: list[tuple[int, int, int]]
    """Its consecutive parts: number of the column (-1 if it belongs to none), bytes, CRC-32."""
    checksum: int
    """The CRC-32 of the file."""

def write_table(
    path: str,
    table: _ArrowStream,
    *,
    ascending: bool,
    progress: Callable[[int], object] | None = None,
    group_rows: int = 122_880,
) -> WrittenFile:
    """Write a stream to a new Parquet file; its first rows determine the encodings.

    `ascending` means that its first column is ascending; `progress` gets the rows of each batch, and raises to stop.
    Raises OSError if the file cannot be written, ValueError if the stream fails.
    """

def file_checksums(path: str, parts: Sequence[tuple[int, int]]) -> list[int]:
    """Compute the CRC-32 of each part of a file, given by offset and length.

    Raises:
        ValueError: A part is missing.
        OSError: The file cannot be read.
    """

def crc32(data: bytes, start: int = 0) -> int:
    """CRC-32 of bytes, continuing from that of the bytes before them: as in `zlib`, ten times as fast."""

def settle_files(paths: Sequence[str]) -> None:
    """Sync files to disk; raises OSError."""

def read_chunk(path: str, place: Checkpoint) -> bytes:
    """Return the text of one chunk, given by its checkpoint; raises OSError if the file has changed."""

class TextBlock:
    """Whole lines of a file."""

    text: bytes
    skipped: bytes | None
    """The head of a line that was skipped before it."""
    chunk: int
    first_line: int
    lines: int
    end: Checkpoint | None
    """The checkpoint of its chunk, if that ends with it."""

class TextChunks:
    """An iterator over the checkpoints of the chunks of files, plain or gzip, in order.

    After a file's last one, `damage` includes the file, with the reason, if it ended early.
    """

    damage: list[tuple[int, str]]
    def __init__(
        self,
        paths: Sequence[str],
        *,
        chunk_bytes: int = ...,
        block_bytes: int = ...,
        line_limit: int = ...,
    ) -> None: ...
    def __iter__(self) -> TextChunks: ...
    def __next__(self) -> Checkpoint: ...
    def block(self) -> TextBlock | None:
        """Return the next block instead of the next checkpoint."""

class FtraceColumn:
    """A column of an event in a chunk."""

    name: str
    kind: str
    """The type of its values."""
    negative: bool
    """Whether some values are negative."""
    inexact: bool
    """Whether some are integers that no float represents exactly."""

class FtraceEnd:
    """The state of a file at its end."""

    file: int
    broken: str | None
    """Why it was not read to its end."""
    foreign: int
    damaged: int
    """Parts of a page that are foreign, and that are damaged."""
    open: bool
    """Whether it ends in the middle of a line."""

class FtraceChunk:
    """One chunk of ftrace text: events with their columns and printed names, and its statistics."""

    checkpoint: Checkpoint
    events: list[tuple[str, Any]]
    columns: list[list[FtraceColumn]]
    printed: list[list[tuple[str, int]]]
    other_lines: bytes
    statistics: dict[str, Any]
    range: tuple[int, int]
    invalid: int

class FtracePass:
    """An iterator of `FtraceChunk` over files of ftrace text, or some of their chunks, in order of files and places.

    `ends` is the state of files at their ends.
    """

    ends: list[FtraceEnd]
    def __init__(
        self,
        paths: Sequence[str],
        threads: int = ...,
        progress: Callable[[int, int], None] | None = ...,
        chunk_bytes: int = ...,
        *,
        texts: Mapping[str, Sequence[str]] = ...,
        timeless: int = ...,
        places: Sequence[tuple[Checkpoint, bool]] | None = ...,
    ) -> None: ...
    def __iter__(self) -> FtracePass: ...
    def __next__(self) -> FtraceChunk: ...

def chrome_pass(
    paths: Sequence[tuple[str, tuple[int, int, bool] | None]],
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
) -> RowPass:
    """Read trace events in JSON, plain or gzip; a path may come with the part of its file to read.

    This is an offset, a size, and whether it is a deflate stream, as in archives.
    """

def perfetto_pass(
    paths: Sequence[str],
    threads: int,
    progress: Callable[[int, int], object] | None,
    *,
    descriptors: Sequence[bytes],
    machine: int | None = None,
) -> RowPass:
    """Begin a pass over a Perfetto trace; earlier ones of the serialized file descriptors take precedence.

    With `machine`, packets of other machines are left out; the recording machine is 0.

    Raises:
        OSError: A file cannot be read.
    """

class RowPass:
    """An iterator over the chunks of a trace's files, with `metadata` after the last one.

    The metadata describe the tables, see `dctv.readers.described`.
    """

    def __iter__(self) -> RowPass: ...
    def __next__(self) -> DecodedChunk: ...
    def metadata(self) -> dict[str, Any]: ...

class ChromeExport:
    """A writer of batches of rows as Chrome JSON events.

    `tracks` are number, kind, name, process, thread, and whether the name is taken.
    """

    def __init__(
        self,
        tracks: Sequence[tuple[int, str, str | None, int, int, bool]],
        start: int,
        release: str | None,
        kernel: Sequence[tuple[str, int, Sequence[tuple[str, str, int, str]]]],
    ) -> None: ...
    def bound(self, ts: int, name: str) -> bytes: ...
    def slices(self, batch: Any) -> bytes: ...
    def async_slices(self, batch: Any) -> bytes: ...
    def finish(self) -> bytes: ...
    def counters(self, batch: Any) -> bytes: ...
    def instants(self, batch: Any) -> bytes: ...
    def flows(self, batch: Any) -> bytes: ...
    def kernel(self, batch: Any) -> bytes: ...

class PerfettoExport:
    """A writer of batches of rows as packets of Perfetto traces."""

    def __init__(
        self,
        clock: int,
        start: int,
        unix: int | None,
        system: Sequence[str | None],
        kernel: Sequence[tuple[str, int, Sequence[tuple[str, str, int, str]]]],
    ) -> None: ...
    def header(self) -> bytes: ...
    def tracks(
        self,
        processes: Sequence[tuple[int, str | None, int | None, str | None]],
        tracks: Sequence[tuple[int, str, str | None, int | None, int | None, str | None, int | None, int | None]],
    ) -> bytes: ...
    def kernel(self, batch: Any) -> bytes: ...
    def slices(self, batch: Any) -> bytes: ...
    def finish(self) -> bytes: ...
    def counters(self, batch: Any) -> bytes: ...
    def instants(self, batch: Any) -> bytes: ...
    def flows(self, batch: Any) -> bytes: ...
    def trailer(self, last: int) -> bytes: ...

def uftrace_pass(setup: object, threads: int, progress: Callable[[int, int], None] | None) -> RowPass:
    """Merge the records of a uftrace data directory, with the small files as read by `readers.uftrace_files.setup`."""

def perf_data_pass(paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None) -> RowPass:
    """Read perf.data files: samples, tracepoints, and kernel records about processes."""

def ctf_pass(mount: Mapping[str, Any], threads: int, progress: Callable[[int, int], None] | None = None) -> RowPass:
    """Decode the streams of CTF traces; `mount` is their metadata from `dctv.readers.ctf_metadata.mount`."""

def perf_script_pass(paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None) -> RowPass:
    """Read the text of `perf script`: samples with the stacks below them, tracepoints, other records."""

def collapsed_pass(paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None) -> RowPass:
    """Read collapsed stacks, `a;b;c 12`: a sample for each line."""

def ftrace_graph_pass(paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None) -> RowPass:
    """Read the function graph tracer's own text: entries and exits of functions, and the events between them."""

def trace_dat_pass(paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None) -> RowPass:
    """Read files of trace-cmd: the pages of the kernel's ring buffer of all CPUs, merged."""

def uftrace_names(names: list[str]) -> list[str]:
    """Demangle C++ and Rust names like uftrace, without parameters and template arguments."""

class _CallRules(Protocol):
    """Settings for all functions; times in ns, sizes in bytes."""

    @property
    def depth(self) -> int: ...
    @property
    def time(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def start(self) -> int | None: ...
    @property
    def stop(self) -> int | None: ...
    @property
    def opt_in(self) -> bool: ...
    @property
    def located(self) -> bool: ...
    @property
    def callers(self) -> bool: ...
    @property
    def enabled(self) -> bool: ...
    @property
    def toggles(self) -> bool: ...
    @property
    def rules(self) -> Sequence[_CallRule]: ...
    @property
    def match(self) -> str: ...

class _CallRule(Protocol):
    """The functions matched by a word, and its effect on them."""

    @property
    def name(self) -> str: ...
    @property
    def module(self) -> str | None: ...
    @property
    def by_file(self) -> bool: ...
    @property
    def trigger(self) -> _CallTrigger: ...

class _CallTrigger(Protocol):
    """The filters' effect on one function."""

    @property
    def filter(self) -> bool | None: ...
    @property
    def location(self) -> bool | None: ...
    @property
    def depth(self) -> int | None: ...
    @property
    def time(self) -> int | None: ...
    @property
    def size(self) -> int | None: ...
    @property
    def hide(self) -> bool: ...
    @property
    def caller(self) -> bool: ...
    @property
    def trace(self) -> bool: ...
    @property
    def on(self) -> bool: ...
    @property
    def off(self) -> bool: ...
    @property
    def finish(self) -> bool: ...
    @property
    def sample(self) -> int | None: ...
    @property
    def condition(self) -> tuple[int, str, int] | None: ...
    @property
    def backtrace(self) -> bool: ...

class Missed:
    """Unmatched words of filters; empty until the end of the calls."""

    def __init__(self) -> None: ...
    @property
    def words(self) -> list[tuple[str, str | None, bool]]:
        """Names or patterns, their modules, and whether they name source files."""

    @property
    def names(self) -> list[str]:
        """The existing functions, at most 10,000, if there are unmatched words."""

def filter_calls(
    calls: _ArrowStream,
    *,
    rules: _CallRules,
    names: Sequence[str],
    missed: Missed | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Filter calls: `_ts: int64[n] ns, ascending, thread, id, parent, dur, name, module, size, file, args, marks, ...`.

    `id`, `parent`, `dur` and `size` are int64, `marks` is int8, the others text; a call follows its caller. `marks` is
    1 if its entry was recorded, plus 2 if its exit was. Output: `_ts`, thread, `id`, the shown caller, the depth, marks
    of what is shown, the indentation of its start and its end, names of its callers if a rule requests them, rest. Rows
    ascend in time unless a call may be decided only after its start: with callers, a trace or time of its own, switches
    or a start. Only open calls are held in memory. `missed` gets the rules that matched no function, at the end of the
    calls.

    Raises:
        ValueError: The columns or names are invalid; while reading, the stream fails with its own error.
    """

def call_pattern_fault(name: str, kind: str) -> str | None:
    """Return the error of a pattern of functions' names; None if it is valid."""

class _ReplayStyle(Protocol):
    """The format of lines of calls."""

    @property
    def fields(self) -> Sequence[str]: ...
    @property
    def args(self) -> bool: ...
    @property
    def comments(self) -> bool: ...
    @property
    def flat(self) -> bool: ...
    @property
    def task_newline(self) -> bool: ...
    @property
    def start(self) -> int: ...
    @property
    def first(self) -> int: ...

class _CallTreeWanted(Protocol):
    """The kind of call tree."""

    @property
    def function(self) -> str | None: ...
    @property
    def sample_times(self) -> Sequence[int]: ...
    @property
    def sessions(self) -> Sequence[tuple[int, Sequence[tuple[int, int]]]]: ...

class TreeNode:
    """Calls of a function by the same path, times in ns; a root is a session, not a function."""

    above: int | None
    """The place of the parent node; None for a root."""
    name: str | None
    address: int | None
    calls: int
    total: int
    own: int
    totals: tuple[int, int] | None
    """The shortest and the longest duration."""
    owns: tuple[int, int] | None
    rests: list[int]
    """The remainders of durations within, divided by each sample time."""
    session: int | None
    """The session of a root."""

class TreePath:
    """A path to a function."""

    session: int
    stack: str | None
    """The callers, one per line."""
    hits: int
    time: int

class CallTree:
    """Sums shown calls, and events with a duration, in order of time, into a call tree.

    Columns: those of `Replay`, where the column for the call of an event holds the parent of a call; then the measured
    self time of the call, or null, and the process, all int64.
    """

    def __init__(self, wanted: _CallTreeWanted) -> None: ...
    def push(self, batch: _ArrowArray) -> None:
        """Add the calls of a batch."""

    def finish(self) -> tuple[list[TreeNode], list[TreePath], int]:
        """Return nodes, paths to the function, and ns from the first call's start to the last's end."""

class _DumpForm(Protocol):
    """The format of records of calls."""

    @property
    def chrome(self) -> bool: ...
    @property
    def structured(self) -> bool: ...
    @property
    def args(self) -> bool: ...
    @property
    def start(self) -> int: ...

class Dump:
    """Formats starts and ends of shown calls.

    Columns are those of `CallTree`; for lines, the rows of a thread are consecutive.
    """

    def __init__(self, form: _DumpForm) -> None: ...
    def push(self, batch: _ArrowArray) -> bytes:
        """Return the records of a batch that are final."""

    def finish(self) -> bytes:
        """Return the remaining records."""

class _UftraceRecords(Protocol):
    """Options for the records of a data directory."""

    @property
    def data(self) -> bool: ...
    @property
    def events(self) -> bool: ...
    @property
    def filtered(self) -> bool: ...
    @property
    def start(self) -> int: ...

class UftraceDump:
    """Formats the records of a data directory, file by file; with filters, only those of pushed calls.

    Columns are those of `CallTree`, rows come in the order of the files and then by id.
    """

    def __init__(self, setup: object, wanted: _UftraceRecords) -> None: ...
    def push(self, batch: _ArrowArray) -> bytes:
        """Return the lines that are final with these calls."""

    def finish(self) -> bytes | None:
        """Return more lines, after the last calls; None at the end."""

class Replay:
    """Prints shown calls, and events, in order of time.

    Columns: `_ts`, tid, id, depth, marks, indentation of start and end, stack, dur, name, args, result, module,
    address, task, recorded depth, call of an event, and 1 for an event or 2 for a call without a recorded start.
    Numbers are int64, except depth and indentation int32, marks int8.
    """

    def __init__(self, style: _ReplayStyle) -> None: ...
    def push(self, batch: _ArrowArray) -> bytes:
        """Return the lines of a batch that are final."""

    def finish(self) -> bytes:
        """Return the remaining lines."""

class _StoredCalls(Protocol):
    """Options for reading a stored table of calls."""

    @property
    def rules(self) -> _CallRules: ...
    @property
    def tids(self) -> Sequence[int]: ...
    @property
    def functions(self) -> Sequence[tuple[str, str, int | None, str | None]]: ...
    @property
    def by_module(self) -> bool: ...
    @property
    def by_arguments(self) -> bool: ...
    @property
    def missed(self) -> Missed: ...

class StoredReplay:
    """Prints the calls of a stored table that pass the filters, and events, in order of time.

    The rules must decide about each call at its start.

    Raises:
        ValueError: The file cannot be read, or is not a table of calls.
    """

    def __init__(
        self,
        style: _ReplayStyle,
        path: str,
        source: _StoredCalls,
        *,
        tasks: Sequence[tuple[int, str]],
        cancel: Cancel | None = None,
    ) -> None: ...
    def add(self, batch: _ArrowArray) -> None:
        """Take events, in order of time, in the columns of `Replay`."""

    def lines(self, last: bool) -> bytes:
        """Return more lines: up to the latest event if more may come, none if that or the end is reached."""

class TimeSums:
    """Sums of the times of a function, in ns."""

    count: int
    sum: int
    least: int
    most: int
    squares: int

class FunctionSums:
    """Sums of the calls of a function."""

    name: str | None
    calls: int
    size: int | None
    total: int
    lengths: TimeSums
    own: TimeSums

class ThreadSums:
    """Sums of the calls of a thread."""

    tid: int
    calls: int
    total: int
    own: int

class CallSums:
    """Sums shown calls by function and thread; nested calls of the same function count only once in its total.

    `measured` uses the self times of the recorder; otherwise they are the durations without the nested calls.
    """

    def __init__(self, *, measured: bool) -> None: ...
    def push(self, batch: _ArrowArray) -> None:
        """Add calls: `_ts`, length, id, parent, depth, thread, name, self time, and optionally size, in order of time.

        Depths are int32, names text, all others int64. A call follows its caller, and begins while that is the thread's
        innermost open call or after calls above it have ended.
        """

    def read(self, path: str, source: _StoredCalls, *, cancel: Cancel | None = None) -> None:
        """Add the calls of a stored table that pass the filters, without switches or a start.

        Raises:
            ValueError: The file cannot be read, or is not a table of calls.
        """

    def functions(self) -> list[FunctionSums]:
        """Return the sums of each function."""

    def threads(self) -> list[ThreadSums]:
        """Return the sums of each thread."""

class StateHistory:
    """The basis of `dctv.state.StateSystem`: the attributes of a history, its changes, and its intervals.

    Intervals come as (start, end, whether it continues, value), or as batches of `quark` int32, `start`, `end` int64
    (both included), `ongoing` bool, `kind` int8 (null, int, long, double, string), `whole` int64, `real` float64,
    `text` string. Errors are those of `dctv.state.faults`, and OSError.
    """

    def __init__(self, start: int, *, keep: bool = True, granularity: int | None = None) -> None: ...
    @staticmethod
    def create(path: Path, start: int, identity: bytes, *, granularity: int | None = None) -> StateHistory:
        """Start a history in a new file."""

    @staticmethod
    def open(saved: _ArrowArray) -> StateHistory:
        """Open a history in a file; its bytes must not change while it is used."""

    @property
    def identity(self) -> bytes: ...
    @property
    def start(self) -> int: ...
    @property
    def end(self) -> int | None: ...
    @property
    def safe(self) -> int: ...
    @property
    def now(self) -> int: ...
    @property
    def given_up(self) -> bool: ...
    @property
    def intervals(self) -> int: ...
    @property
    def granularity(self) -> int: ...
    def __len__(self) -> int: ...
    def add(self, parent: int, names: list[str]) -> int:
        """Return the attribute of a path below another (-1: at the root); missing attributes are created."""

    def find(self, parent: int, names: list[str]) -> int:
        """Return the attribute of a path below another, -2 if it does not exist."""

    def children(self, quark: int) -> list[int]: ...
    def parent(self, quark: int) -> int: ...
    def name(self, quark: int) -> str: ...
    def kind(self, quark: int) -> str: ...
    def change(self, time: int, quark: int, action: str, value: _State = None, kind: str | None = None) -> _State:
        """Change an attribute; return the popped or polled value."""

    def ask(self, time: int, quark: int, action: str, value: _State = None, kind: str | None = None) -> None:
        """Schedule a change for when time has advanced that far."""

    def mipmap(
        self, time: int, quark: int, value: _State, coarser: tuple[int, list[str]], kind: str | None = None
    ) -> None:
        """Change an attribute with coarser states."""

    def apply(self, changes: _ArrowArray, *, sort: bool = False) -> int:
        """Apply the changes of a batch; return their number."""

    def ongoing(self, quark: int) -> tuple[int, int, bool, _State]: ...
    def single(self, quark: int, time: int) -> tuple[int, int, bool, _State]: ...
    def full(self, time: int) -> _ArrowArray: ...
    def over(self, quarks: list[int], first: int, last: int, *, backwards: bool = False) -> Stream:
        """Return the intervals of attributes that touch a range."""

    def at(self, quarks: list[int], times: list[int], *, backwards: bool = False) -> Stream:
        """Return the intervals of attributes that contain one of some times."""

    def spans(
        self, quarks: list[int], names: list[str], *, times: list[int] | None = None, first: int = ..., last: int = ...
    ) -> Stream:
        """Return the same as spans: start, duration, quark int32, path, and the state as int64, float64 or text."""

    def range(self, quark: int, first: int, last: int, of: str) -> _State:
        """Return the maximum, minimum or average of an attribute over a range."""

    def close(self, end: int) -> None: ...
    def give_up(self) -> None: ...
    def wait(self, seconds: float | None = None) -> bool:
        """Wait until the history is closed or abandoned; return whether it is closed."""

    def span(self, time: int) -> tuple[int, int, int, int]:
        """Return the range of the part of a partial history that contains a time.

        These are the first time of the part before it, its first, its last, and the last of the part after it.
        """

    def part(self, time: int, *, before: StateHistory | None = None, after: StateHistory | None = None) -> StateHistory:
        """Return a history for a replay of that part; the states of adjacent parts are used if available."""

    def replay(self, changes: _ArrowArray) -> bool:
        """Replay changes of a part; return whether later ones are not needed any more."""

_State = int | float | str | None
