"""Sides for tests: results of runs from rows of Python."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa

from dctv.comparison.sides import Side, Sides, TraceRun
from dctv.types.schema import ColumnType
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

Rows = Sequence[Sequence[object]]
TYPES = {
    "VARCHAR": pa.string(),
    "BIGINT": pa.int64(),
    "UBIGINT": pa.uint64(),
    "DOUBLE": pa.float64(),
    "DECIMAL(18,3)": pa.decimal128(18, 3),
    '"NULL"': pa.null(),
}


def run(name: str, columns: str, rows: Rows) -> TraceRun:
    """Make a run of columns such as `name VARCHAR, total BIGINT ns`."""
    words = [one.split() for one in columns.split(", ")]
    column_types = tuple(
        ColumnType(name, kind, parse_unit(unit[0]) if unit else NO_UNIT) for name, kind, *unit in words
    )
    arrays = [pa.array([row[i] for row in rows], TYPES[one.type]) for i, one in enumerate(column_types)]
    return TraceRun(name, column_types, pa.table(arrays, names=[one.name for one in column_types]))


def sides(columns: str, a: Sequence[Rows], b: Sequence[Rows]) -> Sides:
    """Make two sides of runs with the same columns."""
    first, second = (
        Side(label, tuple(run(f"{label}{number}", columns, rows) for number, rows in enumerate(runs)))
        for label, runs in (("A", a), ("B", b))
    )
    return first, second
