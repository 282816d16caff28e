"""Run an operator as a sweep and as a query of the engine over the same Arrow tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any

import duckdb
import pyarrow as pa

from dctv.contracts.span_operator import Input, SpanOperator
from dctv.engines.sql.duckdb import write
from dctv.types.schema import ColumnType, Kind, Schema

Rows = list[tuple[Any, ...]]


@cache
def _engine() -> duckdb.DuckDBPyConnection:
    return duckdb.connect(config={"threads": 2})


def as_query(operator: SpanOperator, inputs: Sequence[pa.Table], options: Mapping[str, Any]) -> Rows:
    """Return the rows of the relational form."""
    with _engine().cursor() as engine:
        tables = []
        for number, table in enumerate(inputs):
            name = f"input{number}"
            engine.register(name, table)
            described = engine.execute(f"DESCRIBE {name}").fetchall()
            schema = Schema(Kind.REGULAR, tuple(ColumnType(row[0], row[1]) for row in described))
            tables.append(Input(name, tuple(table.column_names), schema))
        assert operator.relational is not None
        query = operator.relational(tables, options, Schema(Kind.REGULAR, ()))
        found = engine.sql(write(query)).to_arrow_table()
    assert found.column_names == list(options["names"])
    return [tuple(row.values()) for row in found.to_pylist()]


def as_sweep(operator: SpanOperator, inputs: Sequence[pa.Table], options: Mapping[str, Any]) -> Rows:
    """Return the rows of the sweep."""
    stream = operator.run(list(inputs), options, None)
    found = pa.RecordBatchReader.from_stream(stream).read_all()
    return [tuple(row.values()) for row in found.to_pylist()]


def in_order(rows: Rows) -> Rows:
    """Sort rows whose values may be NULL or of any type."""
    return sorted(rows, key=repr)


def both_agree(operator: SpanOperator, inputs: Sequence[pa.Table], options: Mapping[str, Any], skip: int = 0) -> None:
    """Compare the rows in any order, without the first columns if they only number groups."""
    sweep = [row[skip:] for row in as_sweep(operator, inputs, options)]
    query = [row[skip:] for row in as_query(operator, inputs, options)]
    assert in_order(query) == in_order(sweep)
