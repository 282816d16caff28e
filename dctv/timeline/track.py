"""A track of a timeline: its name, its kind, and its place in the tree."""

from __future__ import annotations

from enum import Enum

from dctv.record import record


class TrackKind(Enum):
    """The kind of a track's rows."""

    GROUP = "group"
    """No rows: it holds other tracks."""
    SLICES = "slices"
    """Spans with names, on lanes: nested ones below each other."""
    STATES = "states"
    """Named spans that do not overlap: a state at each time."""
    COUNTER = "counter"
    """Values over time."""
    INSTANTS = "instants"
    """Named points in time."""


@record
class Track:
    """One track, or a group of tracks."""

    id: int
    """Its place in the tree, from the top: a parent comes before its children."""
    parent: int | None
    name: str
    kind: TrackKind
    depth: int
    """The number of groups around it."""
    lanes: int
    rows: int
    first: int | None
    """The begin of its first row, in ns; None if it has no rows."""
    last: int | None
    """The end of its last row."""
    unit: str | None
    """The unit of a counter's values."""
    source: str
    """The origin of its rows: the name of a view, or a SELECT."""
