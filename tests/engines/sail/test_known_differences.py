"""What Sail is known to do otherwise without a word; where one of these tests fails, it does so no longer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.sql.spark import write
from dctv.plan.build import by_names, call, select
from dctv.plan.expressions import Binary, Column, Number, Text
from dctv.plan.node import Query
from dctv.plan.queries import Group, GroupingSets, Item, Select, TableName
from tests.engines.edges import rows_of
from tests.engines.sail.served import Sail

X, Y = Column("x"), Column("y")
SUCCESSOR = select(Item(Binary("+", X, Number("1")), "v"), source="t")
LEAST = Select((Item(call("min", X), "v"),), TableName("t"), group=Group((X,)))
UPPER = select(Item(call("upper", X), "v"), source="t")
CUBE = Select(
    (Item(X), Item(Y)),
    TableName("t"),
    where=Binary("=", X, Text("a")),
    group=Group((GroupingSets("CUBE", ((X,), (Y,))),)),
    order_by=by_names(("x", "y")),
)


def test_integers_that_overflow_begin_again_at_the_other_end(spark: Sail, engine: DuckDB) -> None:
    """Sums are computed in 128 bits; single additions are left to the engine, and Spark itself stops as DuckDB does."""
    table = pa.table({"x": [2**63 - 1]})
    with pytest.raises(Exception, match=r"[Oo]verflow"):
        on_duckdb(engine, SUCCESSOR, table)
    assert on_sail(spark, SUCCESSOR, table, {"x": "BIGINT"}) == [(-(2**63),)]


def test_the_least_of_infinities_is_the_largest_number(spark: Sail, engine: DuckDB) -> None:
    table = pa.table({"x": [float("inf")]})
    assert on_duckdb(engine, LEAST, table) == [(float("inf"),)]
    assert on_sail(spark, LEAST, table, {"x": "DOUBLE"}) == [(1.7976931348623157e308,)]


def test_a_key_that_a_condition_fixes_does_not_sort_a_cube(spark: Sail, engine: DuckDB) -> None:
    table = pa.table({"x": ["a", "a"], "y": [1, 2]})
    expected = [("a", 1), ("a", 2), ("a", None), (None, 1), (None, 2), (None, None)]
    assert on_duckdb(engine, CUBE, table) == expected
    found = on_sail(spark, CUBE, table, {"x": "VARCHAR", "y": "BIGINT"})
    assert found != expected
    assert set(found) == set(expected)


def test_some_letters_become_two(spark: Sail, engine: DuckDB) -> None:
    table = pa.table({"x": ["ß"]})
    assert on_duckdb(engine, UPPER, table) == [("ẞ",)]
    assert on_sail(spark, UPPER, table, {"x": "VARCHAR"}) == [("SS",)]


def on_duckdb(engine: DuckDB, query: Query, table: pa.Table) -> list[tuple[object, ...]]:
    stream = engine.stream(query, {"t": table}, serial=True)
    return rows_of(pa.RecordBatchReader.from_stream(stream).read_all())


def on_sail(spark: Sail, query: Query, table: pa.Table, types: dict[str, str]) -> list[tuple[object, ...]]:
    return rows_of(spark.run(write(query, {"t": list(types.items())}), {"t": table}))
