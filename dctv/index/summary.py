"""Combine the statistics of a trace's chunks into those of the whole trace."""

from __future__ import annotations

import json
import math
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Protocol

from dctv.errors import IndexUnusable
from dctv.index.records import ChunkSummary, DimensionStatistics
from dctv.patterns import pattern
from dctv.record import field, record

if TYPE_CHECKING:
    from dctv._kernels import Sketch

QUANTILES = (0.5, 0.9, 0.99)
"""The quantiles of a summary."""

BINS = 65
"""Bins of a histogram: the first counts zeros, the k-th numbers of k bits, from 2^(k-1) to 2^k - 1."""

_MOST_BYTES = 256 << 20
"""The maximum size of a chunk's decompressed sketches."""


_INTEGER = pattern("-?[0-9]{1,18}")
"""Texts that always fit into 64 bits."""


class IndexStatistics(Protocol):
    """The statistics of an index that a summary needs."""

    @property
    def summaries(self) -> Sequence[ChunkSummary]:
        """One per chunk."""
        ...

    def dimension(self, name: str) -> Sequence[DimensionStatistics] | None:
        """Return one per chunk, None if the dimension is not indexed."""
        ...

    def event_counts(self) -> Mapping[tuple[str, str], int]:
        """Count events by category and name, without chunks of too many names; a missing category is empty."""
        ...


@record
class DurationSummary:
    """Durations of some events, in ns; events without one are ignored."""

    count: int = 0
    total: int = 0
    squares: Fraction | float = 0.0
    """Sum of the squared distances from the mean; a fraction if it is exact."""
    least: int | None = None
    most: int | None = None
    quantiles: tuple[float | None, ...] = (None,) * len(QUANTILES)
    """At `QUANTILES`; integers if they are exact, else within 1 %."""
    histogram: tuple[int, ...] = (0,) * BINS

    @property
    def mean(self) -> Fraction | None:
        """The exact mean; None without durations."""
        return Fraction(self.total, self.count) if self.count else None

    @property
    def variance(self) -> Fraction | float | None:
        """The variance of the whole population; None without durations."""
        return self.squares / self.count if self.count else None

    @property
    def deviation(self) -> float | None:
        """The standard deviation of the whole population; None without durations."""
        variance = self.variance
        return None if variance is None else math.sqrt(variance)


@record
class NamedEvents:
    """Events of one name, or without one."""

    name: str | None
    category: str | None
    """The category of most of them, the first in alphabetical order among equals."""
    events: int
    durations: DurationSummary


@record
class Summary:
    """The summary of a whole trace."""

    events: int
    first: int | None
    """Absolute time of the first event in ns; None without events."""
    last: int | None
    """Absolute start time of the last event."""
    end: int | None
    """Absolute time at which the last event ends."""
    durations: DurationSummary
    categories: Mapping[str | None, int]
    names: Sequence[NamedEvents]
    """By event name."""
    processes: Mapping[int | None, int] | None
    """Counts of events by process; None if unknown."""
    exact: bool
    """Whether the quantiles are exact."""


@record(frozen=False)
class Sums:
    """Sums of durations, accumulated over chunks."""

    count: int = 0
    total: int = 0
    squares: int = 0
    least: int | None = None
    most: int | None = None
    sketches: list[bytes] = field(default_factory=list)

    def add(self, count: int, total: int, squares: int) -> None:
        """Add sums of a chunk."""
        self.count += count
        self.total += total
        self.squares += squares

    def widen(self, least: int, most: int) -> None:
        """Extend the range of durations by that of a chunk."""
        self.least = least if self.least is None else min(self.least, least)
        self.most = most if self.most is None else max(self.most, most)

    def sketch(self) -> Sketch:
        """Merge the sketches."""
        from dctv._kernels import Sketch

        merged = Sketch()
        for blob in self.sketches:
            merged.merge(Sketch.from_bytes(blob))
        if merged.count != self.count:
            raise ValueError("a sketch has another number of durations than its chunk")
        return merged

    def durations(self, sketch: Sketch) -> DurationSummary:
        """Return the summary."""
        if not self.count:
            return DurationSummary()
        return DurationSummary(
            self.count,
            self.total,
            self.squares - Fraction(self.total * self.total, self.count),
            self.least,
            self.most,
            tuple(sketch.quantile(q) for q in QUANTILES),
            tuple(sketch.histogram()),
        )


def knows_names(index: IndexStatistics) -> bool:
    """Whether the events of all chunks are counted by name: those of a chunk with too many names are not."""
    return all(row.name_duration_sketches is not None for row in index.summaries)


def summarize(index: IndexStatistics, *, categories: bool = True, pid: str | None = "pid") -> Summary | None:
    """Combine the statistics of an index; `pid` is the dimension of processes, None if events have none.

    Without `categories` no event has one, whatever the index says. The result is None if some chunk has too many names
    for statistics by name.

    Raises:
        IndexUnusable: the statistics contradict themselves.
    """
    if not knows_names(index):
        return None
    try:
        return _summarize(index, index.event_counts(), pid, categories=categories)
    except (ValueError, KeyError, TypeError, AttributeError, struct.error, zlib.error) as error:
        raise IndexUnusable(f"the statistics of the index are damaged: {error}") from None


def _summarize(
    index: IndexStatistics, counts: Mapping[tuple[str, str], int], pid: str | None, *, categories: bool
) -> Summary:
    rows = index.summaries
    names = sums_by_name(rows)
    by_category: Counter[str | None] = Counter()
    by_name: dict[str, Counter[str | None]] = {}
    for (category, name), number in counts.items():
        known = category if categories and category else None
        by_category[known] += number
        by_name.setdefault(name, Counter())[known] += number
    events = sum(row.total_events for row in rows)
    if events != by_category.total() or not names.keys() <= by_name.keys():
        raise ValueError("events are counted differently by their names")
    return Summary(
        events=events,
        first=min((row.min_timestamp_ns for row in rows if row.min_timestamp_ns is not None), default=None),
        last=max((row.max_timestamp_ns for row in rows if row.max_timestamp_ns is not None), default=None),
        end=max((row.max_end_ns for row in rows if row.max_end_ns is not None), default=None),
        durations=_all(names),
        categories=dict(by_category),
        names=[_named(name, by_name[name], names.get(name, Sums())) for name in sorted(by_name)],
        processes=({None: events} if events else {}) if pid is None else _processes(index.dimension(pid)),
        exact=False,
    )


def _named(name: str, categories: Counter[str | None], sums: Sums) -> NamedEvents:
    return NamedEvents(name, main_category(categories), categories.total(), sums.durations(sums.sketch()))


def main_category(categories: Mapping[str | None, int]) -> str | None:
    """Return the most frequent category, the first in alphabetical order among equals."""
    return min(categories, key=lambda category: (-categories[category], category or ""))


def sums_by_name(rows: Sequence[ChunkSummary]) -> dict[str, Sums]:
    """Add up durations by name."""
    names: dict[str, Sums] = {}
    for row in rows:
        totals, squares = json.loads(row.name_duration_sums), json.loads(row.name_duration_sum_sqs)
        for name, count in json.loads(row.name_duration_counts).items():
            names.setdefault(name, Sums()).add(int(count), int(totals[name]), int(squares[name]))
        for name, (least, most) in json.loads(row.name_duration_ranges).items():
            names[name].widen(least, most)
        for name, sketch in _sketches(row.name_duration_sketches or b""):
            names[name].sketches.append(sketch)
    return names


def _all(names: Mapping[str, Sums]) -> DurationSummary:
    """Add up the durations of all names."""
    everything = added(names.values())
    return everything.durations(everything.sketch())


def added(some: Iterable[Sums]) -> Sums:
    """Add up durations of several groups of events."""
    everything = Sums()
    for sums in some:
        everything.add(sums.count, sums.total, sums.squares)
        everything.sketches += sums.sketches
        if sums.least is not None and sums.most is not None:
            everything.widen(sums.least, sums.most)
    return everything


def _sketches(blob: bytes) -> Iterator[tuple[str, bytes]]:
    """Parse the sketches of a chunk's names: a count, then each name and its sketch, prefixed by their lengths."""
    raw = _unpacked(blob)
    (number,) = struct.unpack_from("<I", raw)
    at = 4
    for _ in range(number):
        parts = []
        for _ in range(2):
            (size,) = struct.unpack_from("<I", raw, at)
            parts.append(raw[at + 4 : at + 4 + size])
            at += 4 + size
        yield parts[0].decode(), parts[1]
    if at != len(raw):
        raise ValueError("the sketches of names are cut off")


def _unpacked(blob: bytes) -> bytes:
    unpacking = zlib.decompressobj()
    raw = unpacking.decompress(blob, _MOST_BYTES)
    if not unpacking.eof:
        raise ValueError("packed statistics are cut off")
    return raw


def _processes(chunks: Sequence[DimensionStatistics] | None) -> Mapping[int | None, int] | None:
    """Count the values of a dimension; None if some chunk has no counts, or if values are not process ids."""
    if chunks is None or any(chunk.counts is None and chunk.distinct for chunk in chunks):
        return None
    processes: Counter[int | None] = Counter()
    for chunk in chunks:
        if chunk.nulls:
            processes[None] += chunk.nulls
        for text, count in read_counts(chunk.counts) if chunk.counts is not None else ():
            if not _INTEGER.fullmatch(text):
                return None
            processes[int(text)] += count
    return dict(processes)


def read_counts(blob: bytes) -> Iterator[tuple[str, int]]:
    """Yield values and their counts from `value_counts` of a chunk.

    Raises:
        ValueError, struct.error, zlib.error: the bytes are malformed.
    """
    raw = _unpacked(blob)
    (number,) = struct.unpack_from("<I", raw)
    at = 4
    for _ in range(number):
        (size,) = struct.unpack_from("<H", raw, at)
        (count,) = struct.unpack_from("<Q", raw, at + 2 + size)
        yield raw[at + 2 : at + 2 + size].decode(), count
        at += 10 + size
    if at != len(raw):
        raise ValueError("the dictionary of a chunk is cut off")
