"""Entries in lists of mounts and tables."""

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
    """A name that may be used in FROM, or a scalar macro."""

    name: str
    kind: str
    """`event`, `span`, `regular`, `view`, `function`, `table macro`, or `macro`, which is used in expressions."""
    doc: str
