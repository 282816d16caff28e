"""Stored tables with the rows of many traces, each of which can run a plan by itself."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from dctv.plan.expressions import Expression
from dctv.plan.source import TableSource
from dctv.record import record
from dctv.types.schema import Schema

TRACE = "_trace"
"""The column that says which of many traces a row is of."""


@runtime_checkable
class FleetSource(TableSource, Protocol):
    """The rows of a table of many traces."""

    @property
    def fleet(self) -> Any:
        """The traces; tables of the same ones have the same object."""
        ...

    @property
    def trace_column(self) -> str:
        """The column that identifies a row's trace; it is never NULL."""
        ...

    @property
    def fixed_columns(self) -> Collection[str]:
        """The columns that are the same in all rows of a trace, that one among them."""
        ...

    @property
    def read_schema(self) -> Schema:
        """Its schema without columns that are not read, as the engine calls them; regular if a time or partition is."""
        ...

    @property
    def tests(self) -> tuple[Expression, ...]:
        """Conditions on the fixed columns: a trace for which any of these is not true has no rows."""
        ...

    @property
    def rows(self) -> Any:
        """The plan of its rows in one trace, if it was computed; None for others."""
        ...

    def computed(self, name: str, rows: Any, shown: Collection[str], tests: Sequence[Expression], /) -> Any:
        """Return the plan of the rows that a plan over tables of these traces has in each of them, run by itself.

        Each row has the name of its trace, and those of the fixed columns that are to be shown.
        """
        ...

    def in_each(self, plan: Any, tests: Sequence[Expression], /, *, warns: bool, combines: bool) -> TableSource:
        """Return a source of the rows of a plan over tables of these traces, run in each trace by itself.

        A trace has rows only if all tests, which are about the fixed columns, are true. `warns` is False for a plan
        that runs before another one over the same rows, which gives the same warnings. `combines` is True for a plan of
        partial aggregates that the reader combines: they may be those of several traces together.
        """
        ...

    def together(self, tests: Sequence[Expression], /, *, ordered: bool) -> TableSource | None:
        """Return a source of the rows of all traces that pass some tests, which the engine reads at once.

        None if that is not possible; if `ordered`, rows have to come trace by trace, as otherwise.
        """
        ...

    def in_two_passes(self, first: Any, second: Callable[[TableSource], Any], otherwise: Any, /) -> TableSource:
        """Return a source of the rows of a plan that needs to know those of another, which are found first.

        `second` returns the plan, given a source of these rows, and `otherwise` is the plan if there are none.
        """
        ...

    def either(self, test: Any, plan: Any, otherwise: Any, /) -> TableSource:
        """Return a source of the rows of a plan if a plan of one truth value finds it true, otherwise of another."""
        ...

    def is_in_sample(self, plan: Any, tests: Sequence[Expression], /) -> Expression:
        """Return a test that is true for a trace of middle size that may have rows of a plan, or for small ones."""
        ...

    def size(self, plan: Any, tests: Sequence[Expression], /) -> tuple[int, int]:
        """Return how many traces may have rows of a plan, and how many events they have, as far as that is known."""
        ...


@record
class PerTracePlan:
    """What is known of a plan whose rows are those of each trace."""

    source: FleetSource
    """One of the tables that it reads."""
    fixed: Mapping[str, str]
    """Its columns that are constant in each trace, with their names in the tables."""
    tests: tuple[Expression, ...] = ()
    """Conditions on such columns, under the tables' names: a trace that fails one has no rows."""

    @property
    def traces(self) -> frozenset[str]:
        """Its columns that identify a row's trace."""
        return frozenset(name for name, one in self.fixed.items() if one == self.source.trace_column)
