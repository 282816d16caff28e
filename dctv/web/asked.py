"""Tracks and times to the texts of queries about them, and what came of a query to JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

from dctv.record import record
from dctv.syntax.write.writer import quote
from dctv.types.schema import ColumnType
from dctv.web.host import Host
from dctv.web.queries import described, exact
from dctv.web.shown_track import Shown
from dctv.writers.cells import json_values

MOST_ROWS = 1_000
"""Of a table that is shown beside a selection."""


@record
class Answer:
    """The first rows of a query."""

    columns: Sequence[ColumnType]
    rows: list[list[Any]]
    """Values as JSON has them."""
    complete: bool

    def dicts(self) -> list[dict[str, Any]]:
        """Return the rows with the names of their columns."""
        names = [column.name for column in self.columns]
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def table(self) -> dict[str, Any]:
        """Return columns and rows as the page has them."""
        return {"columns": described(self.columns), "rows": self.rows, "complete": self.complete}


def answered(host: Host, sql: str, limit: int = MOST_ROWS) -> Answer:
    """Run a query and return its first rows."""
    result = host.sql(sql)
    columns = result.schema.columns
    rows: list[list[Any]] = []
    chunks = result.chunks()
    for chunk in chunks:
        values = [
            json_values(column.type, list(islice(given, limit + 1)))
            for column, given in zip(columns, chunk, strict=True)
        ]
        rows += [[exact(value) for value in row] for row in zip(*values, strict=True)]
        if len(rows) > limit:
            chunks.close()  # type: ignore[attr-defined]  # a generator, which ends the query
            return Answer(columns, rows[:limit], complete=False)
    return Answer(columns, rows, complete=True)


def by_timeline(tracks: Iterable[Shown]) -> list[list[Shown]]:
    """Return tracks by the timeline that they are of, each in order of their numbers."""
    found: dict[str, dict[int, Shown]] = {}
    for one in tracks:
        found.setdefault(one.name, {})[one.number] = one
    return [[own[number] for number in sorted(own)] for own in found.values()]


def dotted(name: str, *below: str) -> str:
    """Write the name of a table that is below a mount or a state system."""
    return ".".join((*(quote(part) for part in name.split(".")), *below))


def rows_of(tracks: Sequence[Shown]) -> str:
    """Write the table of the rows of tracks, which are of one timeline."""
    return dotted(tracks[0].name, "timeline", "rows")


def in_tracks(tracks: Sequence[Shown]) -> str:
    """Write the condition that rows are of tracks, which are of one timeline."""
    numbers = ", ".join(str(one.number) for one in tracks)
    return f"track = {numbers}" if len(tracks) == 1 else f"track IN ({numbers})"


def touching(start: int, stop: int) -> str:
    """Write the condition that rows last, or begin, between two times."""
    return f"_ts < {stop}ns AND (_ts >= {start}ns OR _ts + _duration > {start}ns)"


def clipped(start: int, stop: int) -> str:
    """Write how long rows last between two times."""
    return f"LEAST(_ts + _duration, {stop}ns) - GREATEST(_ts, {start}ns)"
