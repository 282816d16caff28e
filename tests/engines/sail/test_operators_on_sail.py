"""Each operator, cast and clause gives on Sail what DuckDB gives, for values at the edges of their types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.connection import Connection
from dctv.errors import NotOnThisEngine
from dctv.plan.build import select
from dctv.plan.expressions import Cast
from dctv.plan.queries import GroupingSets, Item
from dctv.plan.walk import walk
from tests.engines.edges import S, computed, differences
from tests.engines.operator_samples import CASTS, INTEGERS, ODD, OPERATORS, TEXTS
from tests.engines.query_samples import QUERIES
from tests.engines.sail.compared import differing, on_sail


@pytest.fixture
def texts(table: pa.Table) -> pa.Table:
    written = pa.table({"id": list(range(len(TEXTS))), "s": TEXTS})
    return (
        table.slice(0, len(TEXTS)).drop(["id", "s"]).append_column("id", written["id"]).append_column("s", written["s"])
    )


@pytest.mark.parametrize("name", OPERATORS)
def test_operators(name: str, spark: Connection, engine: DuckDB, table: pa.Table) -> None:
    for sample in OPERATORS[name]:
        assert differing(spark, engine, sample, table) == [], sample


@pytest.mark.parametrize("name", CASTS)
def test_casts(name: str, spark: Connection, engine: DuckDB, table: pa.Table) -> None:
    for sample in CASTS[name]:
        assert differing(spark, engine, sample, table) == [], sample


@pytest.mark.parametrize("how", ["leniently", "strictly"])
@pytest.mark.parametrize("kind", [*INTEGERS, "DOUBLE", "BOOLEAN"])
def test_texts_that_are_cast(kind: str, how: str, spark: Connection, engine: DuckDB, texts: pa.Table) -> None:
    odd = [] if kind in ("DOUBLE", "BOOLEAN") else ODD
    plain = texts.filter(pa.array([text not in odd for text in texts["s"].to_pylist()]))
    assert differing(spark, engine, Cast(S, kind, lenient=how == "leniently"), plain) == []


@pytest.mark.parametrize("text", ["12.5", "1e3", "1_000", "0x1f", ".5"])
def test_texts_that_only_duckdb_reads_stop_the_query(text: str, spark: Connection, texts: pa.Table) -> None:
    one = texts.slice(0, 1).drop(["s"]).append_column("s", pa.array([text]))
    with pytest.raises(Exception, match="is a BIGINT for DuckDB"):
        on_sail(spark, select("id", Item(Cast(S, "BIGINT", lenient=True), "value"), source="edges"), one)


@pytest.mark.parametrize("name", QUERIES)
def test_queries(name: str, spark: Connection, engine: DuckDB, table: pa.Table) -> None:
    query = QUERIES[name]
    if any(isinstance(node, GroupingSets) for node in walk(query)):
        with pytest.raises(NotOnThisEngine, match="CUBE and its like is not on Spark"):
            on_sail(spark, query, table)
        return
    expected, found = computed(engine, query, table), on_sail(spark, query, table)
    if not getattr(query, "order_by", ()):
        expected, found = sorted(expected, key=repr), sorted(found, key=repr)
    assert differences(expected, found) == []
    assert expected or name == "not in a query"
