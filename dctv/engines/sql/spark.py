"""Queries of the plan -> Spark's SQL, in the part of it that means the same as DuckDB's."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from sqlglot import exp
from sqlglot.generators.spark import SparkGenerator

from dctv.engines.sql import trees
from dctv.engines.sql.vetted.queries import vetted
from dctv.engines.sql.vetted.types import named
from dctv.plan.node import Query

# The library rewrites these for people who bring queries of other dialects, and writes TRY_CAST as CAST for types that
# it does not know.
_REWRITTEN = (exp.Select, exp.Table, exp.From, exp.TryCast)


class _Writer(SparkGenerator):
    """The library's writer, which writes what it is given."""

    TRANSFORMS: ClassVar[dict[type[exp.Expr], Callable[..., str]]] = {
        kind: made for kind, made in SparkGenerator.TRANSFORMS.items() if kind not in _REWRITTEN
    }


Tables = Mapping[str, Sequence[tuple[str, str]]]
"""Columns of tables with their types, as DuckDB names them."""


def write(query: Query, tables: Tables | None = None, gaps: frozenset[str] = frozenset()) -> str:
    """Write a query over some tables; `gaps` are what an engine that speaks Spark's SQL does otherwise.

    What a cast, a sum or a division is on Spark depends on types, so without those of the tables much is refused.

    Raises:
        NotOnThisEngine: Spark has nothing that means the same.
    """
    tree = trees.query(vet(query, tables, gaps))
    written: str = _Writer(dialect="spark").generate(tree, copy=False)
    return written


def vet(query: Query, tables: Tables | None = None, gaps: frozenset[str] = frozenset()) -> Query:
    """Return a query that means the same on Spark, to be written.

    Raises:
        NotOnThisEngine: Spark has nothing that means the same.
    """
    known = {name: tuple((one, named(kind)) for one, kind in columns) for name, columns in (tables or {}).items()}
    return vetted(query, known, gaps)
