"""The differences between two sides of results, for programs: rows, tables, verdicts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from io import BytesIO
from typing import TYPE_CHECKING, BinaryIO

from dctv.comparison import significance
from dctv.comparison.differences import Certainty, Difference, differences
from dctv.comparison.judging import Direction, Directions, Limit, check_alpha, judge
from dctv.comparison.matching import matched
from dctv.comparison.sides import Sides, layout_of
from dctv.comparison.table import ResultTable, exact, readable
from dctv.contracts.first_rows import FirstRows
from dctv.contracts.writer import ResultRows
from dctv.run.frames import check_installed, pandas_frame, polars_frame
from dctv.writers.first_rows import as_html
from dctv.writers.markdown import MARKDOWN
from dctv.writers.table import TABLE

if TYPE_CHECKING:
    import pyarrow as pa
    from pandas import DataFrame as PandasFrame
    from polars import DataFrame as PolarsFrame

_SHOWN = 20
"""The number of differences of each metric that are printed."""
NO_TESTS = "p-values take scipy, which is not installed: pip install 'dctv[compare]'"


class Comparison:
    """The differences of two sides: a row for each key of the query and each of its metrics, the largest first.

    Columns are the keys, `metric`, `unit`, both sides, `difference`, `change` in percent, and `note`; if both sides
    have several runs, values are medians, `low` and `high` are the 95 % interval of the change, and `p` exists if scipy
    is installed. Printing it shows the first differences of each metric in suitable units. It is an Arrow stream.
    """

    def __init__(self, sides: Sides, by: Sequence[str] = (), better: Mapping[str, Direction] | None = None) -> None:
        self._sides = sides
        self._better = better or {}
        """Which values are better in some columns, by default."""
        repeated = all(len(side.runs) > 1 for side in sides)
        tested = repeated and significance.is_available()
        self._certainty = Certainty.TESTED if tested else Certainty.BOUNDED if repeated else Certainty.NONE
        self._layout = layout_of(sides, by)
        self._rows = differences(sides, self._layout, matched(sides, self._layout), self._certainty)

    def __repr__(self) -> str:
        counts = " and ".join(f"{len(side.runs)} of {side.label}" for side in self._sides)
        return f"<Comparison: {len(self.rows)} differences, traces: {counts}>"

    def __str__(self) -> str:
        text, shown = self._written(TABLE.write, _SHOWN), len(self._first(_SHOWN))
        more = f"(the first {_SHOWN} of each metric, {shown:,} of {len(self.rows):,} differences)"
        return text.rstrip("\n") if shown == len(self.rows) else text + more

    def _repr_html_(self) -> str:
        """Show the differences in a notebook."""
        table = self.table(_SHOWN, for_people=True)
        values = [column.to_pylist() for column in table.arrow.columns]
        return as_html(FirstRows(table.schema, values, len(self.rows), complete=True))

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """Export the rows as an Arrow stream."""
        stream: object = self.arrow().__arrow_c_stream__(requested_schema)
        return stream

    @property
    def rows(self) -> list[Difference]:
        """All differences: column by column, the largest first.

        Each has its `key`, a dict; its `metric`, a column with its `name` and `unit`; the values in the `runs` of both
        sides, and their medians, the `values`; `difference`, `change` (0.05 for 5 %), `low`, `high`, `p` and `note`.
        """
        return self._rows

    @property
    def metrics(self) -> tuple[str, ...]:
        """The columns of the query that are compared."""
        return tuple(column.name for column in self._layout.metrics)

    @property
    def repeated(self) -> bool:
        """Whether both sides have several runs."""
        return self._certainty is not Certainty.NONE

    @property
    def tested(self) -> bool:
        """Whether there are p-values."""
        return self._certainty is Certainty.TESTED

    def table(self, limit: int | None = None, *, for_people: bool = False) -> ResultTable:
        """Return a table for result formats, with at most `limit` differences of each metric.

        Numbers are in the units of the query, or, with `for_people`, in suitable units with six digits.
        """
        make = readable if for_people else exact
        return make(self._sides, self._layout, self._first(limit), self._certainty)

    def arrow(self) -> pa.Table:
        """Return the differences as a pyarrow Table, in the units of the query."""
        return self.table().arrow

    def pandas(self) -> PandasFrame:
        """Return the differences as a pandas DataFrame, in the units of the query.

        Raises:
            UsageError: pandas is not installed.
        """
        check_installed("pandas")
        return pandas_frame(self.arrow())

    def polars(self) -> PolarsFrame:
        """Return the differences as a polars DataFrame, in the units of the query.

        Raises:
            UsageError: polars is not installed.
        """
        check_installed("polars")
        return polars_frame(self.arrow())

    def df(self) -> PandasFrame:
        """Return the result of `pandas`."""
        return self.pandas()

    def pl(self) -> PolarsFrame:
        """Return the result of `polars`."""
        return self.polars()

    def markdown(self, limit: int | None = None) -> str:
        """Return a Markdown table for a pull request, with at most `limit` differences of each metric."""
        return self._written(MARKDOWN.write, limit)

    def regressions(
        self,
        percent: float,
        *,
        better: Direction | Mapping[str, Direction] = "lower",
        alpha: float | None = None,
    ) -> list[Difference]:
        """Return the regressions by more than this percentage; from 0, any change for the worse is one.

        `better` says which values are better: `lower`, `higher` or, to judge none, `none`; for all columns, or for some
        by name. With `alpha`, only changes that are significant at this level count.

        Raises:
            UsageError: `alpha` requires scipy, or more runs; `better` is not a known direction, or names a column
                that is not compared.
        """
        stated = Directions(better) if isinstance(better, str) else Directions("lower", better)
        stated.check(self.metrics)
        if alpha is not None:
            if not significance.is_available():
                raise significance.missing("a level of significance")
            check_alpha(alpha, *(len(side.runs) for side in self._sides))
        directions = Directions(stated.usual, {**self._better, **stated.columns})
        return list(judge(self.rows, Limit(percent / 100, alpha), directions).worse)

    def _first(self, limit: int | None) -> list[Difference]:
        if limit is None:
            return self.rows
        counts: Counter[str] = Counter()
        found: list[Difference] = []
        for one in self.rows:
            counts[one.metric.name] += 1
            if counts[one.metric.name] <= limit:
                found.append(one)
        return found

    def _written(self, write: Callable[[ResultRows, BinaryIO], int], limit: int | None) -> str:
        out = BytesIO()
        write(self.table(limit, for_people=True), out)
        return out.getvalue().decode()
