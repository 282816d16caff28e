"""Columns of expected events that are more than a cast."""

from __future__ import annotations

from pathlib import Path

import dctv
from dctv.catalog.expected import EventSource, expected_events
from dctv.engines.sql.duckdb import write
from dctv.plan.build import select, where
from dctv.plan.expressions import FALSE, NULL
from dctv.plan.nodes import Relation
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

DATA = Path(__file__).parents[1] / "data"


def test_arguments_of_system_calls_are_columns() -> None:
    query = "SELECT name, fd, count, filename FROM k._events.syscall_enters ORDER BY _ts LIMIT 3"
    with dctv.Session() as session:
        session.mount(str(DATA / "stdlib" / "kernel.trace.txt"), "k")
        assert session.sql(query).fetchall() == [
            ("openat", None, None, "/data/in"),
            ("read", 5, 4096, None),
            ("pwrite64", 5, 100, None),
        ]


def test_numbers_are_hexadecimal_where_they_are_text() -> None:
    columns = (ColumnType(TS, "BIGINT", parse_unit("ns")), ColumnType("fd", "UBIGINT", NO_UNIT))
    schema = Schema(Kind.EVENT, (*columns, ColumnType("count", "VARCHAR", NO_UNIT)))
    nothing = where(select(*(Item(NULL, one.name) for one in schema.columns)), FALSE)
    raw = Relation(schema, RowOrder.TIME, nothing)
    plan = expected_events()["syscall_enters"].plan([EventSource("sys_enter_read", None, lambda: raw)])
    assert isinstance(plan, Relation)
    made = write(plan.query)
    assert 'TRY_CAST("fd" AS BIGINT)' in made
    assert "'0x' || REPLACE(\"count\", '0x', '')" in made
