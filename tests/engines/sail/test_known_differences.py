"""What Sail is known to do otherwise without a word; where one of these tests fails, it does so no longer."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.connection import Connection
from dctv.engines.sql.vetted.gaps import EXTREMES, LETTERS, OVERFLOW
from dctv.errors import EngineError, NotOnThisEngine
from dctv.plan.build import by_names, call, select
from dctv.plan.expressions import Binary, Column, Number, Text
from dctv.plan.node import Query
from dctv.plan.queries import Group, GroupingSets, Item, Select, TableName
from tests.engines.edges import rows_of
from tests.engines.sail.served import run

X, Y = Column("x"), Column("y")
SUCCESSOR = select(Item(Binary("+", X, Number("1")), "v"), source="t")
LEAST = Select((Item(call("min", X), "v"), Item(call("max", X), "w")), TableName("t"), group=Group((Y,)))
UPPER = select(Item(call("upper", X), "v"), source="t")
CUBE = Select(
    (Item(X), Item(Y)),
    TableName("t"),
    where=Binary("=", X, Text("a")),
    group=Group((GroupingSets("CUBE", ((X,), (Y,))),)),
    order_by=by_names(("x", "y")),
)
INFINITY, NAN = float("inf"), float("nan")
FAILURES: tuple[type[BaseException], ...] = (*DuckDB.failures, EngineError)
"""Of the engine, of Arrow, or what we make of one."""


def test_the_gaps_that_are_found(spark: Connection) -> None:
    assert spark.gaps == {OVERFLOW, EXTREMES, LETTERS, "GROUP BY CUBE and its like"}


def test_integers_that_overflow_stop_the_query(spark: Connection, engine: DuckDB) -> None:
    """By itself it begins again at the other end."""
    table = pa.table({"x": [2**63 - 1]})
    with pytest.raises(Exception, match=r"[Oo]verflow"):
        on_duckdb(engine, SUCCESSOR, table)
    with pytest.raises(EngineError, match="out of range"):
        on_sail(spark, SUCCESSOR, table, {"x": "BIGINT"})
    narrow = pa.table({"x": pa.array([127], pa.int8())})
    product = select(Item(Binary("*", X, X), "v"), source="t")
    for one in (engine_fails(engine, product, narrow), sail_fails(spark, product, narrow, {"x": "TINYINT"})):
        assert one


def engine_fails(engine: DuckDB, query: Query, table: pa.Table) -> bool:
    try:
        on_duckdb(engine, query, table)
    except FAILURES:
        return True
    return False


def sail_fails(spark: Connection, query: Query, table: pa.Table, types: dict[str, str]) -> bool:
    try:
        on_sail(spark, query, table, types)
    except EngineError:
        return True
    return False


@pytest.mark.parametrize(
    "values", [[INFINITY, 1.0], [INFINITY], [-INFINITY], [NAN], [NAN, 2.5], [NAN, -INFINITY], [None]]
)
def test_the_least_and_greatest_of_infinities(spark: Connection, engine: DuckDB, values: list[float]) -> None:
    table = pa.table({"x": pa.array(values, pa.float64()), "y": [1] * len(values)})
    found = on_sail(spark, LEAST, table, {"x": "DOUBLE", "y": "BIGINT"})
    assert repr(found) == repr(on_duckdb(engine, LEAST, table))


def test_a_key_that_a_condition_fixes_does_not_sort_a_cube(spark: Connection) -> None:
    with pytest.raises(NotOnThisEngine, match=r"CUBE .* not on Spark: this engine is known to answer differently"):
        on_sail(spark, CUBE, pa.table({"x": ["a"], "y": [1]}), {"x": "VARCHAR", "y": "BIGINT"})


def test_some_letters_become_two(spark: Connection, engine: DuckDB) -> None:
    assert on_sail(spark, UPPER, pa.table({"x": ["a b", None]}), {"x": "VARCHAR"}) == [("A B",), (None,)]
    table = pa.table({"x": ["ß"]})
    assert on_duckdb(engine, UPPER, table) == [("ẞ",)]
    with pytest.raises(EngineError, match="letters beyond ASCII"):
        on_sail(spark, UPPER, table, {"x": "VARCHAR"})


def on_duckdb(engine: DuckDB, query: Query, table: pa.Table) -> list[tuple[object, ...]]:
    stream = engine.stream(query, {"t": table}, serial=True)
    return rows_of(pa.RecordBatchReader.from_stream(stream).read_all())


def on_sail(spark: Connection, query: Query, table: pa.Table, types: dict[str, str]) -> list[tuple[object, ...]]:
    return rows_of(run(spark, query, {"t": (table, list(types.items()))}))
