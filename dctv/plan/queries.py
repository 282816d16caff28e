"""Queries of the plan: selects and compounds of them, over tables that are named, computed in place or listed.

A select is one block: sources are joined, filtered, grouped, filtered again, sorted and cut, in this order. Queries are
frozen, as expressions are.
"""

from __future__ import annotations

from typing import Literal

from dctv.plan.expressions import Call, Column, Expression, Ordered, Star
from dctv.plan.node import Node, Query
from dctv.record import field, record


@record
class Item(Node):
    """A column of a select's result."""

    value: Expression
    name: str | None = None
    """None where the value is a column that keeps its name, or a star."""

    @property
    def output(self) -> str:
        """The name that the column has; empty where it has none of its own."""
        return self.name or (self.value.name if isinstance(self.value, Column) else "")

    @property
    def is_star(self) -> bool:
        """Whether it expands to several columns."""
        return isinstance(self.value, Star)


class FromItem(Node):
    """An item of FROM: a table, a query, rows or a function."""

    __slots__ = ()

    alias: str | None
    columns: tuple[str, ...]

    @property
    def called(self) -> str:
        """The qualifier of its columns."""
        return self.alias or ""


@record
class TableName(FromItem):
    """A table of the region: a leaf of the relation, or a common table."""

    name: str
    alias: str | None = None
    columns: tuple[str, ...] = ()
    """Aliases of its columns, if any."""
    recurring: bool = False
    """Whether it reads all rows of a recursive common table so far, rather than those of the last iteration."""

    @property
    def called(self) -> str:
        """The qualifier of its columns."""
        return self.alias or self.name


@record
class Derived(FromItem):
    """A subquery in FROM."""

    query: Query
    alias: str | None = None
    columns: tuple[str, ...] = ()


@record
class Rows(FromItem):
    """Rows that are listed."""

    rows: tuple[tuple[Expression, ...], ...]
    alias: str | None = None
    columns: tuple[str, ...] = ()


@record
class TableCall(FromItem):
    """A call of a table function of the engine."""

    call: Call
    alias: str | None = None
    columns: tuple[str, ...] = ()


JoinKind = Literal["INNER", "LEFT", "RIGHT", "FULL", "CROSS", "SEMI", "ANTI"]


@record
class Join(Node):
    """A source that is joined to those before it."""

    source: FromItem
    kind: JoinKind = "INNER"
    on: Expression | None = None
    asof: bool = False
    """Whether only the nearest matching row is joined, by the last comparison of `on`."""


@record
class GroupingSets(Node):
    """Several ways to group at once."""

    kind: Literal["GROUPING SETS", "ROLLUP", "CUBE"]
    sets: tuple[tuple[Expression, ...], ...]


@record
class Group(Node):
    """A GROUP BY clause."""

    keys: tuple[Expression | GroupingSets, ...] = ()
    all: bool = False
    """Whether it is by all results that are no aggregates."""


@record
class CommonTable(Node):
    """A query that others of a query read by name."""

    name: str
    query: Query
    columns: tuple[str, ...] = ()
    materialized: bool | None = None
    """Whether it is computed once and kept; None leaves that to the engine."""
    keys: tuple[Item, ...] = ()
    """USING KEY of a recursive one: key columns (later rows replace earlier ones with the same key), and aggregates."""


@record
class Select(Query):
    """One block of a query."""

    items: tuple[Item, ...] = ()
    source: FromItem | None = None
    joins: tuple[Join, ...] = ()
    where: Expression | None = None
    group: Group | None = None
    having: Expression | None = None
    qualify: Expression | None = None
    distinct: bool = False
    order_by: tuple[Ordered, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None
    steps: tuple[CommonTable, ...] = field(default=(), kw_only=True)
    """Common tables that it reads."""
    recursive: bool = field(default=False, kw_only=True)
    """Whether one of these reads itself."""

    def __hash__(self) -> int:
        return Query.__hash__(self)

    @property
    def sources(self) -> tuple[FromItem, ...]:
        """Its sources: the item of FROM, then the joined ones."""
        return () if self.source is None else (self.source, *(join.source for join in self.joins))


@record
class Compound(Query):
    """The rows of two or more queries together; EXCEPT and INTERSECT go from left to right."""

    operator: Literal["UNION", "INTERSECT", "EXCEPT"]
    parts: tuple[Query, ...]
    all: bool = False
    """Whether equal rows stay several."""
    order_by: tuple[Ordered, ...] = ()
    limit: Expression | None = None
    offset: Expression | None = None
    steps: tuple[CommonTable, ...] = field(default=(), kw_only=True)
    recursive: bool = field(default=False, kw_only=True)

    def __hash__(self) -> int:
        return Query.__hash__(self)
