"""Compiled kernels: decoders turn bytes into Arrow batches, sweeps turn Arrow streams into Arrow streams.

Every sweep takes objects with `__arrow_c_stream__` and returns one; nothing is read before the result is. Columns go
by position; `names` are the output's. A span covers `[_ts, _ts + _duration)`; an input that is not sorted by `_ts`,
has a NULL or impossible time, or spans that overlap in one partition, fails with an error that names the row.
`partitions` is the number of partition columns, which stand after the times; their values may be of any type, NULL is
one of them. Results do not depend on how the inputs are cut into batches.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, Protocol

class _ArrowStream(Protocol):
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

class _ArrowSchema(Protocol):
    def __arrow_c_schema__(self) -> object: ...

class Stream(_ArrowStream, _ArrowSchema, Protocol):
    """What a sweep returns: an Arrow stream that can be read once."""

class Cancel:
    """Ends the kernels it was given to with the error `interrupted`, between two batches."""

    def __init__(self) -> None: ...
    def set(self) -> None:
        """Ask every kernel that holds this to stop."""

    def is_set(self) -> bool:
        """Say whether `set` was called."""

    def wait(self, milliseconds: int) -> bool:
        """Wait until no thread reads ahead for these kernels; say whether that is so in the end."""

class _Source(_ArrowStream, _ArrowSchema, Protocol): ...

def ahead(source: _Source, *, cancel: Cancel | None = None) -> Stream:
    """Open and read a stream in a thread of its own, a few batches ahead of what it returns."""

class Meter:
    """What the streams that were given it have done so far."""

    def __init__(self) -> None: ...
    @property
    def rows(self) -> int:
        """Rows that came out."""

    @property
    def batches(self) -> int:
        """Batches that came out."""

    @property
    def cpu(self) -> int:
        """Nanoseconds of CPU time, without those of metered streams that were read meanwhile by the same thread."""

    @property
    def wall(self) -> int:
        """Nanoseconds that the reader waited for batches."""

    @property
    def peak(self) -> int:
        """Bytes of rows that a sweep held at once, at most."""

def metered(stream: _ArrowStream, meter: Meter) -> Stream:
    """Count what comes out of a stream, and what that takes."""

class Spool:
    """A stream that is computed once and read several times, by readers that may be at different places.

    What some reader still needs is kept in memory up to `limit` bytes, and in a file in `folder` beyond it. `readers`
    is how many will be opened; one more than that may have to compute the stream anew.
    """

    def __init__(
        self, source: _Source, *, readers: int, limit: int, folder: str, cancel: Cancel | None = None
    ) -> None: ...
    def open(self) -> Stream:
        """Return one more reader, which begins at the first row."""

    def close(self) -> None:
        """Let go of the source; nothing can be opened any more."""

    @property
    def peak(self) -> int:
        """Bytes that were kept in memory at once, at most."""

    @property
    def spilled(self) -> int:
        """Bytes that were written to disk."""

    @property
    def rows(self) -> int:
        """Rows that were kept."""

class Counter:
    """A number that a running kernel counts up; it is final once its stream has ended."""

    @property
    def value(self) -> int:
        """The count so far."""

class Rows(Iterator[list[list[Any]]]):
    """Iterates over the batches of a stream: for each batch one list of Python values per column."""

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
    """Join spans: `_ts: int64[n] ns, ascending, _duration: int64[n] ns, P keys, payload` twice -> spans, ascending.

    Output: `_ts`, `_duration`, keys, left payload, right payload. `inner` gives the intersections; `outer` cuts at
    every boundary and gives what either side covers, `left` and `right` what that side covers, with NULL for the
    missing payload. `broadcast` names a side without keys, whose spans meet every partition of the other; it goes with
    `inner` and with `how` naming the other side.

    Raises:
        ValueError: The columns, names or options do not fit; while reading, the stream fails with its own error.
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
    """Look up spans: `_ts: int64[n] ns, ascending, P keys, payload` and spans -> events with span payload, ascending.

    Output: `_ts`, keys, event payload, span payload. `left` keeps events that no span covers. `broadcast="right"`:
    the spans have no keys; `broadcast="left"`: the events have none and meet every partition (only with `inner`).

    Raises:
        ValueError: The columns, names or options do not fit.
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
    """Cut by groups: spans or events with P keys and a grouper without -> the pieces of each partition and group.

    Output: `group: int64` (the grouper's row, from 0), grouper `_ts`, `_duration` and payload, keys, `present: bool`,
    piece `_ts`, piece `_duration` (not for events), input payload. A group without a piece of a partition that occurs
    in the input gives one row that is not present. With `intersect`, a stream of all key tuples, only time at which
    each of them has a span counts. Rows are in no promised order, but the pieces of a partition in a group are in order
    of time, and every run gives the same order.

    Raises:
        ValueError: The columns, names or options do not fit.
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
    """Cut at all boundaries: `_ts: int64[n] ns, ascending, _duration, P keys, payload` -> rows by interval.

    Output: `interval: int64` from 0, `_ts` and `_duration` of the interval, keys, payload; one row for each span that
    covers the interval. Boundaries count within each combination of the kept keys, which `keep` names by number. With
    `intersect`, a stream of all key tuples, only intervals that all of them (of the same kept keys) cover. Rows come in
    order of the intervals' ends.

    Raises:
        ValueError: The columns, names or options do not fit.
    """

def departition(
    spans: _ArrowStream,
    *,
    partitions: int,
    keep: Sequence[int],
    aggregates: Sequence[tuple[Literal["sum", "count", "min", "max", "avg"], int | None]],
    names: Sequence[str],
    intersect: _ArrowStream | None = None,
    cancel: Cancel | None = None,
) -> Stream:
    """Aggregate over partitions: as `partition_pieces`, but one row per interval.

    Output: `_ts`, `_duration`, the kept keys in the order of `keep`, one column per aggregate. An aggregate names its
    payload column by number (None: `count` counts rows): integers up to int64 or floats; `count` takes any type. Sums
    of integers are int64, means float64.

    Raises:
        ValueError: The columns, names or options do not fit; while reading, also where a sum exceeds int64.
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
    """Make spans of events: `_ts: int64[n] ns, ascending, P keys, payload` for each source -> spans, ascending.

    Output: `_ts`, `_duration`, keys, one column for each (source, payload column, edge). An event of a source that
    starts closes its partition's open span and opens one, any other closes; at equal times those that do not start
    come first, then sources and rows in order. Spans without length are left out. `rising` takes the opening event's
    value, `falling` the closing one's, NULL if that is another source's. What is open at the end is dropped, or ends
    at `close_at` if that is later than its start. Output waits for the earliest open span.

    Raises:
        ValueError: The columns, names or options do not fit.
    """

def nest(
    calls: _ArrowStream,
    *,
    partitions: int,
    names: Sequence[str],
    cancel: Cancel | None = None,
) -> tuple[Stream, Counter]:
    """Nest calls: `_ts: int64[n] ns, ascending, P keys, kind: int8, duration: int64, payload` -> calls, ascending.

    `kind` is 1 for a begin, -1 for an end, 0 for a complete call of `duration`. Output: `_ts`, `_duration` (NULL if it
    never ended), keys, `id: int64` from 1, `parent_id` (NULL for a root), `depth: int32`, payload of the begin. An end
    closes the innermost open begin; one without is counted. A complete call's parent is the innermost open call that
    ends no earlier; its depth is one below the innermost open call. Output waits for the earliest open call.

    Returns:
        The stream and the counter of ends without a begin.

    Raises:
        ValueError: The columns or names do not fit.
    """

def rows(stream: _ArrowStream) -> Rows:
    """Read a stream as Python values: numbers, bool, str, bytes, Decimal, lists, dicts; times as the engine's text.

    Raises:
        ValueError: While iterating, when the stream fails.
    """

def schema(source: _ArrowSchema) -> list[tuple[str, str]]:
    """Name the columns of anything with an Arrow schema, with their types' texts."""

def decode_ftrace(
    paths: list[str], threads: int, progress: Callable[[int, int], object] | None = None
) -> dict[str, Any]:
    """Read ftrace text: `tables` of typed columns by event, `files` with what was skipped, `start` and `last` in ns."""

def decode_pfw(
    paths: list[str],
    threads: int = 1,
    progress: Callable[[int, int], object] | None = None,
    *,
    block_size: int = ...,
    line_limit: int = ...,
) -> Any:
    """Read DFTracer's JSON lines: tables of typed columns by event name, metadata, files with what was skipped."""
