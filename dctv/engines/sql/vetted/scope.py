"""Resolve names within a query: columns of its sources and of outer queries, steps, windows."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.engines.sql.vetted.refusal import refused
from dctv.plan.expressions import Column, Expression
from dctv.plan.node import Query
from dctv.record import field, record, replace
from dctv.signatures.types import Type

Columns = tuple[tuple[str, Type | None], ...]
"""Names and types of a query's columns; None for an unknown type."""


@record
class Typed:
    """A value as Spark computes it, and its type in the plan; None if unknown."""

    value: Expression
    type: Type | None


@record(eq=False)
class VettedScope:
    """The names that an expression may refer to."""

    nested: Callable[[Query, VettedScope], tuple[Query, Columns | None]]
    """Converts a subquery."""
    tables: Mapping[str, Columns | None]
    """Tables and steps by their lower-case names."""
    sources: tuple[tuple[str, Columns | None], ...] = ()
    """Sources by their qualifiers; with columns if these are known."""
    parameters: Mapping[str, Type | None] = field(default_factory=dict)
    """Parameters of lambdas, by name."""
    results: Mapping[str, Type | None] = field(default_factory=dict)
    """Results of the query by lower-case name: ORDER BY and GROUP BY may refer to them."""
    outer: VettedScope | None = None
    gaps: frozenset[str] = frozenset()
    """The known deviations of the engine from Spark."""

    def type_of(self, column: Column) -> Type | None:
        """Return the type of a column, if it is known.

        Raises:
            NotOnThisEngine: it belongs to a source that only DuckDB can refer to from here.
        """
        found = [one for called, columns in self.sources for one in _matching(column, called, columns)]
        if len(found) == 1:
            return found[0]
        name = column.name.lower()
        if column.table is None and column.name in self.parameters:
            return self.parameters[column.name]
        if column.table is None and name in self.results:
            return self.results[name]
        if found or (column.table is not None and any(_same(called, column.table) for called, _ in self.sources)):
            return None
        if self.outer is not None:
            return self.outer.type_of(column)
        if column.table is not None:
            raise refused(
                f"the column `{column.table}.{column.name}` of a source beside the query that reads it",
                "a query in FROM cannot refer to others there",
                "join the sources on a condition",
            )
        return None

    def within(self) -> VettedScope:
        """Return the outer scope of a subquery."""
        return VettedScope(self.nested, self.tables, outer=self, gaps=self.gaps)

    def beside(self) -> VettedScope:
        """Return the outer scope of a query in FROM: that of the whole query, without its other sources."""
        return VettedScope(self.nested, self.tables, outer=self.outer, gaps=self.gaps)

    def with_parameters(self, parameters: Mapping[str, Type | None]) -> VettedScope:
        """Return the scope within a lambda."""
        return replace(self, parameters={**self.parameters, **parameters})


def _matching(column: Column, called: str, columns: Columns | None) -> list[Type | None]:
    if columns is None or (column.table is not None and not _same(called, column.table)):
        return []
    return [kind for name, kind in columns if _same(name, column.name)]


def _same(one: str, other: str) -> bool:
    return one.lower() == other.lower()
