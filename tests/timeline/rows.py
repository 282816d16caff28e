"""Rows of tracks as batches, as providers give them, and timelines made of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import gettempdir

import pyarrow as pa

from dctv.timeline.gathering import GatheredRows, Gathering
from dctv.timeline.indexed import Indexed, index
from dctv.timeline.space import Space
from dctv.timeline.timeline import Timeline

SCHEMA = pa.schema(
    [
        ("_ts", pa.int64()),
        ("_duration", pa.int64()),
        ("path", pa.list_(pa.string())),
        ("ranks", pa.list_(pa.int64())),
        ("kind", pa.string()),
        ("depth", pa.int64()),
        ("name", pa.string()),
        ("value", pa.float64()),
        ("unit", pa.string()),
    ]
)


@dataclass(frozen=True, slots=True)
class Row:
    """One row of a provider."""

    ts: int
    duration: int | None = 0
    path: tuple[str, ...] = ("track",)
    kind: str = "slices"
    name: str | None = "name"
    depth: int | None = None
    value: float | None = None
    ranks: tuple[int | None, ...] | None = None
    unit: str | None = None

    def values(self) -> tuple[object, ...]:
        """Return its values in the order of the columns."""
        first = (self.ts, self.duration, self.path, self.ranks)
        return *first, self.kind, self.depth, self.name, self.value, self.unit


def indexed(
    rows: Sequence[Row],
    *cuts: int,
    end: int = 1000,
    source: str = "source",
    space: Space | None = None,
    before: GatheredRows | None = None,
) -> Indexed:
    """Index rows that come in several batches, and are appended to others."""
    space = space or Space(Path(gettempdir()))
    gathering = Gathering(source, end, space, before)
    ordered = sorted(rows, key=lambda row: row.ts)
    for first, last in zip((0, *cuts), (*cuts, len(rows)), strict=True):
        columns = zip(*(row.values() for row in ordered[first:last]), strict=True) if first < last else [()] * 9
        arrays = [pa.array(list(column), kind) for column, kind in zip(columns, SCHEMA.types, strict=True)]
        gathering.add(pa.record_batch(arrays, schema=SCHEMA))
    return index(gathering.gathered(), space)


def timeline(rows: Sequence[Row], *cuts: int, end: int = 1000) -> Timeline:
    """Make a timeline of rows of one source."""
    return Timeline([indexed(rows, *cuts, end=end)])
