"""The rows of a timeline's tracks as a table that reads only the parts that a query needs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from typing import Any

from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.states import DeferredRows
from dctv.contracts.streams import reopened
from dctv.plan import predicate as p
from dctv.plan.nodes import Scan
from dctv.plan.order import RowOrder
from dctv.plan.source import PlanRun
from dctv.record import record, replace
from dctv.timeline.lanes import EVERYTHING, TimeWindow
from dctv.timeline.table import COLUMNS, SCHEMA, table_of
from dctv.timeline.timeline import Timeline
from dctv.types.schema import DURATION, TS

ROWS = "rows"
_TRACK = "track"
_FIRST, _LAST = -(2**63), 2**63 - 1
Ranges = tuple[tuple[int, int], ...]
"""Numbers of tracks: from one to another, that included; ascending."""
_EVERY: Ranges = ((_FIRST, _LAST),)


@record(eq=False)
class TimelineRows(DeferredRows):
    """Rows of some tracks and times."""

    timeline: Callable[[], Timeline] = Timeline
    columns: frozenset[str] = frozenset(COLUMNS)
    tracks: Ranges = _EVERY
    window: TimeWindow = EVERYTHING

    def narrowed(self, predicate: p.Predicate) -> TimelineRows:
        """Return a source that leaves out tracks and times in which nothing can match."""
        tracks = _common(self.tracks, _tracks(predicate))
        return replace(self, tracks=tracks, window=_within(self.window, _window(predicate)))

    def reading(self, columns: Collection[str]) -> TimelineRows:
        """Return a source that reads only these columns."""
        return replace(self, columns=frozenset(columns))

    def prepare(self, run: PlanRun) -> None:
        """Build the timeline if it is missing."""
        run.kept[self] = self.timeline()

    def open(self, run: PlanRun) -> Any:
        """Return the rows, which are put together as they are read, again for each place that reads them."""
        timeline = run.kept[self]
        behind = len(timeline.tracks)
        ranges = [range(max(low, 0), min(high + 1, behind)) for low, high in self.tracks]
        tracks = [track for one in ranges for track in one]
        return reopened(lambda: table_of(timeline, self.columns, tracks, self.window), lambda rows: rows.schema)

    def lines(self) -> list[str]:
        """Return the tracks and times to read."""
        window, lines = self.window, []
        if self.tracks and self.tracks[0][0] != _FIRST and self.tracks[-1][1] != _LAST:
            count = sum(high - low + 1 for low, high in self.tracks)
            lines = ["of 1 track" if count == 1 else f"of {count:,} tracks"]
        lines += [] if window.earliest_end is None else [f"from {window.earliest_end} ns"]
        lines += [] if window.until is None else [f"until {window.until} ns"]
        return [f"rows {', '.join(lines)}"] if lines else []


def show_rows(catalog: Catalog, parts: tuple[str, ...], timeline: Callable[[], Timeline]) -> None:
    """Put the table of a timeline's rows below that of its tracks."""
    scan = Scan(SCHEMA, order=RowOrder.STABLE, name=ROWS, source=TimelineRows(None, lambda: None, timeline=timeline))
    catalog.add((*parts, ROWS), StoredTable(lambda: scan, "the rows of a timeline's tracks"))


def _parts(predicate: p.Predicate) -> tuple[p.Predicate, ...]:
    return predicate.parts if isinstance(predicate, p.And) else (predicate,)


def _tracks(predicate: p.Predicate) -> Ranges:
    """Return the tracks that may match."""
    match predicate:
        case p.And(parts):
            ranges = _EVERY
            for part in parts:
                ranges = _common(ranges, _tracks(part))
            return ranges
        case p.Or(parts):
            return _united(one for part in parts for one in _tracks(part))
        case p.In(column, values) if column == _TRACK:
            return _united((one, one) for one in values if isinstance(one, int))
        case p.Compare((column,), operator, int(value)) if column == _TRACK:
            low, high = _bounds(operator, value)
            return ((_FIRST if low is None else low, _LAST if high is None else high),)
        case _:
            return _EVERY


def _united(ranges: Iterable[tuple[int, int]]) -> Ranges:
    found: list[tuple[int, int]] = []
    for low, high in sorted(ranges):
        if found and low <= found[-1][1] + 1:
            found[-1] = (found[-1][0], max(found[-1][1], high))
        else:
            found.append((low, high))
    return tuple(found)


def _common(some: Ranges, others: Ranges) -> Ranges:
    if _EVERY in (some, others):
        return others if some == _EVERY else some
    overlaps = [(max(a, c), min(b, d)) for a, b in some for c, d in others]
    return tuple((low, high) for low, high in overlaps if low <= high)


def _window(predicate: p.Predicate) -> TimeWindow:
    match predicate:
        case p.And(parts):
            window = EVERYTHING
            for part in parts:
                window = _within(window, _window(part))
            return window
        case p.Or(parts) if parts:
            return _around([_window(part) for part in parts])
        case p.Compare((column,), operator, int(value)) if column == TS:
            return TimeWindow(*_bounds(operator, value))
        case p.Compare(columns, operator, int(value)) if set(columns) == {TS, DURATION}:
            low, high = _bounds(operator, value)
            return TimeWindow(None, high, low)
        case _:
            return EVERYTHING


def _bounds(operator: str, value: int) -> tuple[int | None, int | None]:
    """Return the least and the greatest value for which a comparison may be true."""
    low = {"=": value, ">=": value, ">": value + 1}
    high = {"=": value, "<=": value, "<": value - 1}
    return low.get(operator), high.get(operator)


def _within(one: TimeWindow, other: TimeWindow) -> TimeWindow:
    return TimeWindow(
        _least(max, one.begin, other.begin), _least(min, one.until, other.until), _least(max, one.end, other.end)
    )


def _least(of: Callable[..., int], *values: int | None) -> int | None:
    return of((value for value in values if value is not None), default=None)


def _around(windows: list[TimeWindow]) -> TimeWindow:
    """Return a window that has the rows of all."""

    def bound(of: Callable[..., int], values: list[int | None]) -> int | None:
        return None if None in values else of(values)

    return TimeWindow(
        bound(min, [one.begin for one in windows]),
        bound(max, [one.until for one in windows]),
        bound(min, [one.earliest_end for one in windows]),
    )
