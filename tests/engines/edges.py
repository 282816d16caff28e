"""Values at the edges of their types, and what DuckDB makes of them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from itertools import product
from math import isclose, isnan
from typing import Any

import pyarrow as pa

from dctv.engines.duckdb import DuckDB
from dctv.errors import DctvError
from dctv.plan.build import select
from dctv.plan.expressions import Column, Expression, Number
from dctv.plan.node import Query
from dctv.plan.queries import Item

_INTEGERS = [None, 0, 1, -1, 2, 7, -7, 2**53 + 1, 2**63 - 1, -(2**63)]
_SMALL = [None, 0, 1, -1, 3, 64, 70, -5, 2**31 - 1, -(2**31)]
_DOUBLES = [None, 0.0, -1.5, 2.5, -2.5, 0.1, 1e300, 7e-5, float("inf"), float("nan")]
_TEXTS = [None, "", "a", "A b ", " é", "añ😀z", "12", "-7.5", "x\\y'%_\n\t\"`", "a,b,,c"]
_TRUTHS = [None, True, False]

TYPES = {
    "id": "BIGINT",
    **dict.fromkeys("ij", "BIGINT"),
    **dict.fromkeys("nm", "INTEGER"),
    **dict.fromkeys("df", "DOUBLE"),
    **dict.fromkeys("sr", "VARCHAR"),
    **dict.fromkeys("bc", "BOOLEAN"),
    "t": "TINYINT",
    "u": "UBIGINT",
    "v": "UINTEGER",
    "h": "HUGEINT",
    "p": "DECIMAL(9,2)",
    "y": "DATE",
}
"""Columns of `edges` with their types; those of one type make all pairs."""


K, J, N, M, D, F, S, R, B, C, T, U, V, H, P, Y = map(Column, "ijnmdfsrbctuvhpy")
ONE, TWO = Number("1"), Number("2")


def edges() -> pa.Table:
    """Return the table of edges: a row for each pair of values."""
    rows: list[dict[str, Any]] = [dict.fromkeys(TYPES) for _ in range(len(_INTEGERS) ** 2)]
    pairs: dict[str, list[Any]] = {"ij": _INTEGERS, "nm": _SMALL, "df": _DOUBLES, "sr": _TEXTS}
    for names, values in pairs.items():
        for row, pair in zip(rows, product(values, values), strict=True):
            row.update(zip(names, pair, strict=True))
    for at, row in enumerate(rows):
        row["id"] = at
        row.update(b=_TRUTHS[at % 3], c=_TRUTHS[at // 3 % 3])
        row.update(t=[None, 0, 1, -1, 127, -128][at % 6], u=[None, 0, 1, 2**64 - 1, 2**63][at % 5])
        row.update(v=[None, 0, 2**32 - 1][at % 3], h=[None, 0, 5, -(10**30), 10**33][at % 5])
        row.update(p=[None, Decimal("0.00"), Decimal("2.50"), Decimal("-2.50"), Decimal("1234567.89")][at % 5])
        row.update(y=[None, 0, -1, 20000, 2**15][at % 5])
    schema = pa.schema([(name, _ARROW[kind]) for name, kind in TYPES.items()])
    return pa.Table.from_pylist(rows, schema=schema)


_ARROW = {
    "BIGINT": pa.int64(),
    "INTEGER": pa.int32(),
    "DOUBLE": pa.float64(),
    "VARCHAR": pa.string(),
    "BOOLEAN": pa.bool_(),
    "TINYINT": pa.int8(),
    "UBIGINT": pa.uint64(),
    "UINTEGER": pa.uint32(),
    "HUGEINT": pa.decimal128(38, 0),
    "DECIMAL(9,2)": pa.decimal128(9, 2),
    "DATE": pa.date32(),
}


@contextmanager
def duckdb() -> Iterator[DuckDB]:
    """Open DuckDB as sessions do."""
    engine = DuckDB(threads=1, memory_limit=None, on_zero_division=lambda _: None)
    try:
        yield engine
    finally:
        engine.close()


def computed(engine: DuckDB, query: Query, table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a query on DuckDB."""
    stream = engine.stream(query, {"edges": table}, serial=True)
    return rows_of(pa.RecordBatchReader.from_stream(stream).read_all())


def rows_of(table: pa.Table) -> list[tuple[Any, ...]]:
    """Return the rows of a table."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


def values_of(engine: DuckDB, expression: Expression, table: pa.Table) -> tuple[pa.Table, list[tuple[Any, ...]]]:
    """Return the rows for which DuckDB computes an expression without an error, and its values with their numbers."""
    query = select("id", Item(expression, "value"), source="edges")
    refusals: tuple[type[BaseException], ...] = (DctvError, *engine.failures)
    try:
        return table, computed(engine, query, table)
    except refusals:
        if len(table) == 1:
            return table.slice(0, 0), []
    half = len(table) // 2
    parts = [values_of(engine, expression, one) for one in (table.slice(0, half), table.slice(half))]
    return pa.concat_tables([one for one, _ in parts]), [row for _, rows in parts for row in rows]


def differences(
    expected: Sequence[tuple[Any, ...]], found: Sequence[tuple[Any, ...]], *, near: bool = False
) -> list[tuple[Any, ...]]:
    """Return what differs of rows in the same order."""
    if len(expected) != len(found):
        return [(len(expected), len(found))]
    return [pair for pair in zip(expected, found, strict=True) if not all_same(*pair, near=near)]


def all_same(some: Sequence[Any], others: Sequence[Any], *, near: bool) -> bool:
    """Whether all of some values are equal to others."""
    return len(some) == len(others) and all(same(one, two, near=near) for one, two in zip(some, others, strict=True))


def same(one: Any, two: Any, *, near: bool) -> bool:
    """Whether two values are equal; a decimal holds what is an integer elsewhere."""
    if isinstance(one, float) and isinstance(two, float):
        if isnan(one) or isnan(two):
            return isnan(one) and isnan(two)
        return one == two or (near and isclose(one, two, rel_tol=1e-12, abs_tol=1e-12))
    if isinstance(one, list) and isinstance(two, list):
        return all_same(one, two, near=near)
    if isinstance(one, Decimal | int) and isinstance(two, Decimal | int):
        return isinstance(one, bool) == isinstance(two, bool) and one == two
    return type(one) is type(two) and bool(one == two)
