"""Summarize a trace: from the statistics of its index, or exactly, by queries over its events."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import dctv.readers
from dctv.catalog.files import TraceFiles, find_traces
from dctv.contracts.reader_errors import readers_in
from dctv.index.database import Index
from dctv.index.finding import find
from dctv.index.location import configured_folder, subject
from dctv.index.summary import BINS, DurationSummary, NamedEvents, Summary, main_category, summarize
from dctv.record import record
from dctv.session import Session

_HALF = 1 << 32
"""Durations are summed in two halves, and each sum fits into 64 bits for any number of events."""

_EVENTS = "CREATE VIEW numbers AS SELECT *, _duration // 1ns AS d, _ts // 1ns AS t FROM trace.events"

_TIMES = "SELECT MIN(t), MAX(t), MAX(t + COALESCE(d, 0)) FROM numbers"

_COUNTS = "SELECT category, name, COUNT(*) FROM numbers GROUP BY category, name"

_PROCESSES = "SELECT pid, COUNT(*) FROM numbers GROUP BY pid"

_ALL = """
    SELECT COUNT(d), SUM(d // 4294967296), SUM(d % 4294967296), VAR_POP(d), MIN(d), MAX(d),
        QUANTILE_DISC(d, [0.5, 0.9, 0.99])
    FROM numbers"""

_BY_NAME = """
    SELECT name, COUNT(d), SUM(d // 4294967296), SUM(d % 4294967296), VAR_POP(d), MIN(d), MAX(d),
        QUANTILE_DISC(d, [0.5, 0.9, 0.99])
    FROM numbers GROUP BY name"""

_BITS = "SELECT d = 0, LENGTH(BIN(d)), COUNT(*) FROM numbers WHERE d IS NOT NULL GROUP BY 1, 2"


@record
class TraceMeasure:
    """The measured summary of a trace."""

    summary: Summary
    incomplete: list[str]
    """Reasons why the trace was not read completely."""
    properties: Mapping[str, str]


def indexed(texts: Sequence[str], index_dir: Path | None, note: Callable[[str], None]) -> TraceMeasure | None:
    """Summarize a trace by its index; None if there is no usable one, and `note` gets the reason.

    Raises:
        TraceError: the trace does not exist.
        IndexUnusable: the index contradicts itself.
    """
    files = find_traces(texts, readers_in(dctv.readers), None)
    if files.reader.chunks is None:
        return None
    index = find(subject(files.paths, files.reader.name, {}), configured_folder(index_dir), note)
    if index is None:
        return None
    try:
        return summarized(index, files)
    finally:
        index.close()


def summarized(index: Index, files: TraceFiles) -> TraceMeasure | None:
    """Summarize the trace of an open index; None if the index lacks the names or categories of some events."""
    chunks = files.reader.chunks
    assert chunks is not None
    metadata = index.metadata
    events = [table.event for table in chunks.tables(metadata).values() if table.event is not None]
    categories = {event.category for event in events if event.category is not None}
    pids = {event.pid for event in events if event.pid is not None}
    dimensions = {column: dimension for dimension, column in index.layout.dimensions.items()}
    # Categories in the manifest come only from this column, and names are those of tables.
    if not categories <= {"cat"} or any(event.named_by is not None for event in events):
        return None
    pid = dimensions.get(pids.pop(), "") if len(pids) == 1 else "" if pids else None
    summary = summarize(index, categories=bool(categories), pid=pid)
    if summary is None:
        return None
    rest = chunks.rest(metadata)
    trouble = [f"trace: {d.file}: {d.reason}" for d in rest.diagnostics if d.incomplete]
    return TraceMeasure(summary, trouble, rest.properties)


def measured(session: Session) -> Summary:
    """Summarize the trace mounted as `trace`, exactly; the session must have no other mounts."""
    session.sql(_EVENTS)
    properties = dict(_rows(session, "SELECT * FROM trace.properties"))
    start = int(properties.get("start_ns", 0))
    first, last, end = (None if time is None else start + time for time in _rows(session, _TIMES)[0])
    categories: Counter[str | None] = Counter()
    by_name: dict[str | None, Counter[str | None]] = {}
    for category, name, number in _rows(session, _COUNTS):
        categories[category or None] += number
        by_name.setdefault(name, Counter())[category or None] += number
    durations = {name: _durations(row) for name, *row in _rows(session, _BY_NAME)}
    return Summary(
        events=categories.total(),
        first=first,
        last=last,
        end=end,
        durations=_durations(_rows(session, _ALL)[0], _histogram(session)),
        categories=dict(categories),
        names=[
            NamedEvents(name, main_category(found), found.total(), durations[name])
            for name, found in sorted(by_name.items(), key=lambda one: (one[0] is None, one[0]))
        ],
        processes=dict(_rows(session, _PROCESSES)),
        exact=True,
    )


def _durations(row: Sequence[Any], histogram: tuple[int, ...] = ()) -> DurationSummary:
    count, high, low, variance, least, most, quantiles = row
    if not count:
        return DurationSummary()
    total = high * _HALF + low
    return DurationSummary(count, total, variance * count, least, most, tuple(quantiles), histogram)


def _histogram(session: Session) -> tuple[int, ...]:
    bins = [0] * BINS
    for is_zero, length, number in _rows(session, _BITS):
        bins[0 if is_zero else length] += number
    return tuple(bins)


def _rows(session: Session, query: str) -> list[Any]:
    return session.sql(query).fetchall()
