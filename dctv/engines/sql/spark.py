"""Write queries of the plan as Spark's SQL, limited to the subset that means the same as DuckDB's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from dctv.engines.sql import trees
from dctv.engines.sql.vetted.queries import vetted
from dctv.engines.sql.vetted.types import named
from dctv.plan.node import Query

# The library rewrites these to convert queries from other dialects, and writes TRY_CAST as CAST for types that it does
# not know.
_REWRITTEN = (exp.Select, exp.Table, exp.From, exp.TryCast)


class _Writer(SparkGenerator):
    """The library's generator, without its rewrites."""

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        kind: made for kind, made in SparkGenerator.TRANSFORMS.items() if kind not in _REWRITTEN
    }


Tables = Mapping[str, Sequence[tuple[str, str]]]
"""Columns of tables with their types, as DuckDB names them."""


def write(query: Query, tables: Tables | None = None, gaps: frozenset[str] = frozenset()) -> str:
    """Write a query over tables; `gaps` are the deviations of an engine that speaks Spark's SQL.

    The meaning of a cast, a sum or a division depends on types, so without those of the tables much is refused.

    Raises:
        NotOnThisEngine: Spark has no equivalent.
    """
    return text_of(vet(query, tables, gaps))


def text_of(query: Query) -> str:
    """Write a query that was vetted."""
    written: str = _Writer(dialect="spark").generate(trees.query(query), copy=False)
    return written


def vet(query: Query, tables: Tables | None = None, gaps: frozenset[str] = frozenset()) -> Query:
    """Return an equivalent query for Spark, ready to be written.

    Raises:
        NotOnThisEngine: Spark has no equivalent.
    """
    named_columns = {
        name: tuple((one, named(kind)) for one, kind in columns) for name, columns in (tables or {}).items()
    }
    return vetted(query, named_columns, gaps)
