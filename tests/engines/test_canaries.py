"""The answers that engines are compared with are those that DuckDB gives; another answer is caught."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.canaries import CANARIES, COLUMNS, ROWS, TABLE, Canary, Rows, found_gaps, rows_equal
from dctv.engines.sql.spark import vet
from dctv.engines.sql.vetted.gaps import OTHERWISE, REFUSED
from dctv.errors import EngineError, NotOnThisEngine, Unanswered
from dctv.plan.node import Query
from tests.engines.edges import duckdb


@pytest.fixture(scope="module")
def engine() -> Iterator[DuckDB]:
    with duckdb() as opened:
        yield opened


@pytest.fixture(scope="module")
def ask(engine: DuckDB) -> Callable[[Query], Rows]:
    columns = zip(*ROWS, strict=True)
    table = pa.table({name: pa.array(values) for (name, _), values in zip(COLUMNS, columns, strict=True)})

    def asked(query: Query) -> Rows:
        try:
            stream = engine.stream(query, {TABLE: table}, serial=True)
            found = pa.RecordBatchReader.from_stream(stream).read_all()
        except engine.failures as error:
            raise engine.failure(error) from None
        return list(zip(*(one.to_pylist() for one in found.columns), strict=True))

    return asked


def test_duckdb_has_no_gaps(ask: Callable[[Query], Rows]) -> None:
    assert found_gaps(ask) == frozenset()


def test_every_gap_has_a_canary() -> None:
    assert {one.gap for one in CANARIES} == OTHERWISE | REFUSED.keys()


@pytest.mark.parametrize("canary", [one for one in CANARIES if one.expected], ids=lambda one: one.gap)
def test_another_answer_is_caught(canary: Canary, ask: Callable[[Query], Rows]) -> None:
    def otherwise(query: Query) -> Rows:
        found = ask(query)
        return [(*found[0][:-1], "other"), *found[1:]] if query is canary.query else found

    assert found_gaps(otherwise) == {canary.gap}
    assert found_gaps(lambda query: [] if query is canary.query else ask(query)) == {canary.gap}


def test_an_engine_that_fails_has_a_gap_and_one_that_is_gone_has_none() -> None:
    def fails(_: Query) -> Rows:
        raise EngineError("there is no such function")

    def gone(_: Query) -> Rows:
        raise Unanswered("nobody is there")

    assert found_gaps(fails) >= REFUSED.keys()
    with pytest.raises(Unanswered):
        found_gaps(gone)


def test_order_counts_where_a_query_sorts() -> None:
    cube = next(one for one in CANARIES if "CUBE" in one.gap)
    assert cube.expected is not None
    assert rows_equal(cube, cube.expected)
    assert not rows_equal(cube, cube.expected[::-1])
    other = next(one for one in CANARIES if one.gap == "UNION")
    assert other.expected is not None
    assert rows_equal(replace(other, expected=other.expected[::-1]), other.expected)


@pytest.mark.parametrize("canary", [one for one in CANARIES if one.gap in REFUSED], ids=lambda one: one.gap)
def test_what_an_engine_does_otherwise_is_refused_by_name(canary: Canary) -> None:
    tables = {TABLE: COLUMNS}
    vet(canary.query, tables)
    with pytest.raises(NotOnThisEngine) as caught:
        vet(canary.query, tables, frozenset([canary.gap]))
    assert caught.value.message == f"{canary.gap} is not on Spark: this engine is known to answer differently"
