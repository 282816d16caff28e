"""Turns the events of a trace that match a filter into results: records, rows, or how many there are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from dctv.bind.matching import Matching
from dctv.plan.nodes import Plan
from dctv.run.result import Result


@dataclass(frozen=True, slots=True)
class Matches:
    """Matching events; nothing is read before a result is."""

    matching: Matching
    head: tuple[str, ...]
    """Lines that stand before the records, so that they can be read as a trace again."""
    run: Callable[[Plan], Result]

    def records(self, limit: int | None = None) -> Result:
        """Return a result of one column of JSON texts, one per event, in order of time."""
        return self.run(self.matching.lines(limit))

    def rows(self, limit: int | None = None) -> Result:
        """Return the events with the columns of `events`, in order of time."""
        return self.run(self.matching.events(limit))

    def count(self) -> Result:
        """Return a result of one row and column: how many there are."""
        return self.run(self.matching.count())
