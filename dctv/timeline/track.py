"""A track of a timeline: what it is called, what it is of, and where it stands in the tree."""

from __future__ import annotations

from enum import Enum

from dctv.record import record


class TrackKind(Enum):
    """What a track is made of."""

    GROUP = "group"
    """Nothing: it holds other tracks."""
    SLICES = "slices"
    """Spans with names, on lanes: nested ones below each other."""
    STATES = "states"
    """Spans with names of which none overlap: what something is in at any time."""
    COUNTER = "counter"
    """Values that last."""
    INSTANTS = "instants"
    """Moments with names."""


@record
class Track:
    """One track, or a group of tracks."""

    id: int
    """Its place in the tree, read from above: a parent comes before its children."""
    parent: int | None
    name: str
    kind: TrackKind
    depth: int
    """How many groups it is in."""
    lanes: int
    rows: int
    first: int | None
    """When its first row begins, in ns; None if it has no rows."""
    last: int | None
    """When its last row ends."""
    unit: str | None
    """Of the values of a counter."""
    source: str
    """What gave its rows: the name of a view, or a SELECT."""
