"""Entries in lists of mounts and tables."""

from __future__ import annotations

from dctv.record import record
from dctv.syntax.write.writer import dotted


@record
class MountInfo:
    """A mounted trace."""

    name: str
    path: str
    format: str
    number: int
    """No other mount has it, not even one that has taken over its name."""


@record
class TableInfo:
    """A name that may be used in FROM, or a scalar macro."""

    parts: tuple[str, ...]
    """Its name, without quotes."""
    kind: str
    """`event`, `span`, `regular`, `view`, `function`, `table macro`, or `macro`, which is used in expressions."""
    doc: str

    @property
    def name(self) -> str:
        """The parts, joined by dots."""
        return ".".join(self.parts)

    @property
    def written(self) -> str:
        """The name as in a query: parts that are not plain words are in backticks."""
        return dotted(self.parts)
