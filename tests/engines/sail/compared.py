"""What queries over the edges give on Sail, and where that is not what DuckDB gives."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.connection import Connection
from dctv.plan.build import select
from dctv.plan.expressions import Expression
from dctv.plan.node import Query
from dctv.plan.queries import Item
from tests.engines.edges import TYPES, differences, rows_of, values_of
from tests.engines.sail.served import run


def on_sail(spark: Connection, query: Query, table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a query on Sail."""
    columns = [(name, TYPES[name]) for name in table.column_names]
    return rows_of(run(spark, query, {"edges": (table, columns)}))


def differing(
    spark: Connection, engine: DuckDB, expression: Expression, table: pa.Table, *, near: bool = False
) -> list[tuple[Any, ...]]:
    """Return rows for which an expression is something else on Sail: the row's number, and the two values."""
    kept, expected = values_of(engine, expression, table)
    assert any(value is not None for _, value in expected), "DuckDB computes it for no row"
    found = on_sail(spark, select("id", Item(expression, "value"), source="edges"), kept)
    return differences(sorted(expected, key=_id), sorted(found, key=_id), near=near)


def _id(row: tuple[Any, ...]) -> Any:
    return row[0]
