"""Stored tables with the rows of many traces, each of which can run a plan by itself."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Protocol, runtime_checkable

from dctv.plan.expressions import Expression
from dctv.plan.source import TableSource


@runtime_checkable
class OfTraces(TableSource, Protocol):
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

    def in_each(self, plan: Any, tests: Sequence[Expression], /) -> TableSource:
        """Return a source of the rows of a plan over tables of these traces, run in each trace by itself.

        A trace has rows only if all tests, which are about the fixed columns, are true.
        """
        ...
