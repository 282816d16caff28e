"""The rows of a view as a table, which are computed once and read by many queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dctv.contracts.lazy import Lazy
from dctv.plan.source import PlanRun, RunCost, WholeSource
from dctv.record import record


@record
class ComputedRows:
    """The rows of a view, with the cost of computing them."""

    table: Any
    """A pyarrow Table, in memory or mapped."""
    cost: RunCost | None = None
    """None if it was not metered, or if they were stored already."""


@record(eq=False)
class MaterializedRows(WholeSource):
    """The rows of a view, which are computed when they are first read."""

    rows: Lazy[ComputedRows]

    def prepare(self, run: PlanRun) -> None:
        """Compute the rows if they are not there: no other query can begin while this one runs."""
        made = self.rows.made
        found = self.rows.value()
        if not made and found.cost is not None:
            run.beside.append(found.cost)
        run.kept[self] = found.table

    def open(self, run: PlanRun) -> Any:
        """Return the rows."""
        return run.kept[self]

    def stored_rows(self) -> int | None:
        """Return how many there are, if they are there."""
        rows: int | None = self.rows.value().table.num_rows if self.rows.made else None
        return rows

    def lines(self) -> Sequence[str]:
        """Return whether the rows are there."""
        rows = self.stored_rows()
        return ("materialized: not read yet" if rows is None else f"materialized: {rows:,} rows",)
