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
    """One name that can stand in FROM."""

    name: str
    kind: str
    """`event`, `span`, `regular`, `view` or `function`."""
    doc: str
