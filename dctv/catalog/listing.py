"""What lists tell of mounts and tables."""

from __future__ import annotations

from dctv.record import record


@record
class MountInfo:
    """A mounted trace."""

    name: str
    path: str
    format: str


@record
class TableInfo:
    """One name that can stand in FROM, or the macro of values that it means."""

    name: str
    kind: str
    """`event`, `span`, `regular`, `view`, `function`, `table macro`, or `macro`, which stands in expressions."""
    doc: str
