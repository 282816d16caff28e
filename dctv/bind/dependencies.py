"""The tables that a view of the standard library depends on, and which of them a trace lacks."""

from __future__ import annotations

from dctv.catalog.namespace import StoredTable
from dctv.record import field, record

_SHOWN = 8
"""A note names at most this many events."""


@record(frozen=False)
class Dependencies:
    """The tables that a view of the standard library depends on."""

    there: bool = False
    """Whether the trace has one of them."""
    any: bool = False
    """Whether there are any: a view may be made of nothing but constants."""
    missing: dict[str, None] = field(default_factory=dict)
    """Events that would be such tables."""

    def add_table(self, table: StoredTable) -> None:
        """Count a table."""
        self.any = True
        self.there = self.there or table.there
        if table.event is not None and not table.there:
            self.missing[table.event] = None

    def add(self, other: Dependencies) -> None:
        """Count all tables of something that is read."""
        self.any = self.any or other.any
        self.there = self.there or other.there
        self.missing |= other.missing

    @property
    def lacking(self) -> bool:
        """Whether the view has no rows since the trace has none of its inputs."""
        return self.any and not self.there

    def note(self, name: str) -> str:
        """Describe why a view is empty, and which events would fill it."""
        if not self.missing:
            return f"`{name}` is empty: traces of this format have nothing to compute it from"
        events = list(self.missing)
        more = f" and {len(events) - _SHOWN} more" if len(events) > _SHOWN else ""
        lacks = "does not have it" if len(events) == 1 else "has none of them"
        return f"`{name}` is empty: it is computed from {', '.join(events[:_SHOWN])}{more}; the trace {lacks}"
