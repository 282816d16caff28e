"""The rows of a timeline's tracks as a table, of which no more is read than a query needs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.states import Computed
from dctv.plan.nodes import Scan
from dctv.plan.predicate import And, Compare, In, Or, Predicate
from dctv.plan.source import Run
from dctv.record import record, replace
from dctv.timeline.lanes import EVERYTHING, Window
from dctv.timeline.table import COLUMNS, SCHEMA, table_of
from dctv.timeline.timeline import Timeline
from dctv.types.schema import DURATION, TS

ROWS = "rows"
_TRACK = "track"


@record(eq=False)
class Rows(Computed):
    """Rows of some tracks and times."""

    timeline: Callable[[], Timeline] = Timeline
    columns: frozenset[str] = frozenset(COLUMNS)
    tracks: frozenset[int] | None = None
    """None for all."""
    window: Window = EVERYTHING

    def narrowed(self, predicate: Predicate) -> Rows:
        """Return a source that leaves out tracks and times in which nothing can match."""
        tracks, window = _tracks(predicate), _window(predicate)
        if self.tracks is not None:
            tracks = self.tracks if tracks is None else tracks & self.tracks
        return replace(self, tracks=tracks, window=_within(self.window, window))

    def reading(self, columns: Collection[str]) -> Rows:
        """Return a source of which only these columns are read."""
        return replace(self, columns=frozenset(columns))

    def prepare(self, run: Run) -> None:
        """Make the timeline if it is not there."""
        run.kept[self] = self.timeline()

    def open(self, run: Run) -> Any:
        """Return the rows, which are put together as they are read."""
        timeline = run.kept[self]
        known = None if self.tracks is None else self.tracks & set(range(len(timeline.tracks)))
        return table_of(timeline, self.columns, known, self.window)

    def lines(self) -> list[str]:
        """Return which tracks and times are read."""
        told = [] if self.tracks is None else [f"of {len(self.tracks):,} tracks"]
        window = self.window
        told += [] if window.earliest_end is None else [f"from {window.earliest_end} ns"]
        told += [] if window.until is None else [f"until {window.until} ns"]
        return [f"rows {', '.join(told)}"] if told else []


def show_rows(catalog: Catalog, parts: tuple[str, ...], timeline: Callable[[], Timeline]) -> None:
    """Put the table of a timeline's rows below that of its tracks."""
    scan = Scan(SCHEMA, ordered=False, name=ROWS, source=Rows(None, lambda: None, timeline=timeline))
    catalog.add((*parts, ROWS), StoredTable(lambda: scan, "the rows of a timeline's tracks"))


def _parts(predicate: Predicate) -> tuple[Predicate, ...]:
    return predicate.parts if isinstance(predicate, And) else (predicate,)


def _tracks(predicate: Predicate) -> frozenset[int] | None:
    """Return the tracks that may match, None for all."""
    found: frozenset[int] | None = None
    for part in _parts(predicate):
        match part:
            case Compare((column,), "=", value) if column == _TRACK:
                values = frozenset({value}) if isinstance(value, int) else None
            case In(column, listed) if column == _TRACK:
                values = frozenset(one for one in listed if isinstance(one, int))
            case _:
                values = None
        if values is not None:
            found = values if found is None else found & values
    return found


def _window(predicate: Predicate) -> Window:
    match predicate:
        case And(parts):
            window = EVERYTHING
            for part in parts:
                window = _within(window, _window(part))
            return window
        case Or(parts) if parts:
            return _around([_window(part) for part in parts])
        case Compare((column,), operator, int(value)) if column == TS:
            return Window(*_bounds(operator, value))
        case Compare(columns, operator, int(value)) if set(columns) == {TS, DURATION}:
            low, high = _bounds(operator, value)
            return Window(None, high, low)
        case _:
            return EVERYTHING


def _bounds(operator: str, value: int) -> tuple[int | None, int | None]:
    """Return the least and the greatest value of which a comparison may be true."""
    low = {"=": value, ">=": value, ">": value + 1}
    high = {"=": value, "<=": value, "<": value - 1}
    return low.get(operator), high.get(operator)


def _within(one: Window, other: Window) -> Window:
    return Window(
        _least(max, one.begin, other.begin), _least(min, one.until, other.until), _least(max, one.end, other.end)
    )


def _least(of: Callable[..., int], *values: int | None) -> int | None:
    return of((value for value in values if value is not None), default=None)


def _around(windows: list[Window]) -> Window:
    """Return a window that has the rows of all."""

    def bound(of: Callable[..., int], values: list[int | None]) -> int | None:
        return None if None in values else of(values)

    return Window(
        bound(min, [one.begin for one in windows]),
        bound(max, [one.until for one in windows]),
        bound(min, [one.earliest_end for one in windows]),
    )
