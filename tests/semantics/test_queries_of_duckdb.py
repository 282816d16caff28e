"""What the dialect shares with DuckDB's gives the rows that DuckDB gives for the same text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import datetime
from random import Random
from typing import Any

import duckdb
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv import Session
from tests.bounds import bounded, chosen
from tests.semantics.random_queries import TABLES, RandomQueries

_TYPES: Mapping[str, tuple[pa.DataType, Sequence[Any]]] = {
    "BIGINT": (pa.int64(), [None, 0, 1, 2, 3, -1]),
    "VARCHAR": (pa.string(), [None, "a", "b", "ab", "", "B", "1", "\u00e9"]),
    "DOUBLE": (pa.float64(), [None, 0.5, 1.0, 1.5, -2.25]),
    "BOOLEAN": (pa.bool_(), [None, True, False]),
    "TIMESTAMP": (
        pa.timestamp("us"),
        [None, datetime(2024, 1, 1), datetime(2023, 6, 1, 1), datetime(1969, 12, 31, 23)],
    ),
    "BIGINT[]": (pa.list_(pa.int64()), [None, [], [1], [2, 1], [None, 3], [1, 1, 0]]),
}
"""Arrow types by those of the queries, with values."""
_EACH = 5
"""Queries over the same tables."""


@bounded(120)
@given(st.integers(0, 2**32))
def test_rows_are_those_of_duckdb(seed: int) -> None:
    random = Random(seed)
    tables = {name: _table(columns, random, random.choice((0, 1, 3, 6, 9))) for name, columns in TABLES.items()}
    with Session(index=False) as session, duckdb.connect(config={"threads": 1}) as engine:
        for name, table in tables.items():
            session.add_table(name, table)
            engine.register(name, table)
        chosen(session, "kernel")
        queries = RandomQueries(random)
        for _ in range(_EACH):
            text, _ = queries.query()
            try:
                expected = engine.execute(text).fetchall()
            except duckdb.Error:
                continue
            assert _rows(session.sql(text).fetchall()) == _rows(expected), text


def test_most_queries_run_in_duckdb_and_have_rows() -> None:
    random = Random(0)
    ran = found = 0
    with duckdb.connect(config={"threads": 1}) as engine:
        for name, columns in TABLES.items():
            engine.register(name, _table(columns, random, 6))
        queries = RandomQueries(random)
        for _ in range(100):
            try:
                found += bool(engine.execute(queries.query()[0]).fetchall())
                ran += 1
            except duckdb.Error:
                continue
    assert ran >= 90
    assert found >= 50


def _table(columns: Mapping[str, str], random: Random, rows: int) -> pa.Table:
    return pa.table(
        {name: pa.array(random.choices(_TYPES[kind][1], k=rows), _TYPES[kind][0]) for name, kind in columns.items()}
    )


def _rows(rows: Sequence[tuple[Any, ...]]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(map(_value, row)) for row in rows)


def _value(value: Any) -> Any:
    """Return a value that can be compared: sums of doubles differ in their last digits, times are texts here."""
    if isinstance(value, float):
        return float(f"{round(value, 9) + 0.0:.9g}")
    if isinstance(value, datetime):
        return f"{value}".rstrip("0").rstrip(".") if value.microsecond else f"{value}"
    return tuple(map(_value, value)) if isinstance(value, list) else value
