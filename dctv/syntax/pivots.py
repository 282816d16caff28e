"""Nodes of tables whose values become columns, and whose columns become values."""

from __future__ import annotations

from dctv.record import record
from dctv.syntax.node import Alias, Expr, Name, Node, Table
from dctv.syntax.stars import ResultColumn


@record(eq=False, text=False)
class PivotChoice(Node):
    """A pivoted column, and the values that become columns; None for all."""

    expr: Expr
    values: tuple[tuple[Expr, Name | None], ...] | None = None


@record(eq=False, text=False)
class Pivot(Table):
    """`PIVOT table ON ... USING ... GROUP BY ...`, or `table PIVOT (... FOR x IN (...) GROUP BY ...)`."""

    table: Table
    aggregates: tuple[ResultColumn, ...]
    choices: tuple[PivotChoice, ...]
    group: tuple[Expr, ...] | None = None
    """None groups by all columns that are not named in it."""
    alias: Alias | None = None


@record(eq=False, text=False)
class Unpivot(Table):
    """`UNPIVOT table ON ... INTO NAME x VALUE y`, or `table UNPIVOT (y FOR x IN (...))`."""

    table: Table
    columns: tuple[ResultColumn, ...]
    name: Name
    values: tuple[Name, ...]
    include_nulls: bool = False
    alias: Alias | None = None
