"""Every aggregate of the engine that takes one argument works in a span group, as it does over the same pieces."""

from __future__ import annotations

from functools import cache

import duckdb
import pytest

from dctv.session import Session
from tests.semantics.oracle import in_order

ROWS = "(0, 4, 0, 1), (4, 2, 0, 2), (6, 4, 0, 1), (1, 3, 1, 3), (5, 2, 1, NULL), (8, 4, 1, 5)"
COLUMNS = {"n": "n::BIGINT", "d": "n::DOUBLE", "x": "n::TEXT", "b": "n > 2", "m": "n::DECIMAL(9, 2)"}
SPANS = f"""dctv.as_spans((SELECT _ts, _duration, cpu, {", ".join(f"{e} AS {c}" for c, e in COLUMNS.items())}
    FROM (VALUES {ROWS}) AS v(_ts, _duration, cpu, n)), partition=>'cpu')"""
WINDOWS = "dctv.as_spans((SELECT * FROM (VALUES (0, 5, 'a'), (7, 5, 'b'), (20, 1, 'c')) AS v(_ts, _duration, w)))"
FORMS = ["{f}({c})", "{f}(DISTINCT {c})", "{f}({c}) FILTER (WHERE d > 1)", "{f}(DISTINCT {c}) FILTER (WHERE d > 1)"]
BY_ORDER = (
    "first",
    "last",
    "any_value",
    "arbitrary",
    "list",
    "array_agg",
    "string_agg",
    "group_concat",
    "mode",
    "reservoir",
)
"""Aggregates whose result depends on an order of rows, which a group has none of."""


@cache
def calls(column: str) -> list[str]:
    """Return every call of an aggregate that the engine takes for a column."""
    names = duckdb.execute(
        """SELECT DISTINCT function_name FROM duckdb_functions()
        WHERE function_type = 'aggregate' AND regexp_matches(function_name, '^[a-z]')
        AND function_name <> 'bitstring_agg' -- which reads the statistics of a table of the engine's own
        ORDER BY 1"""
    ).fetchall()
    table = f"(SELECT {', '.join(f'{e} AS {c}' for c, e in COLUMNS.items())} FROM (VALUES (1)) AS v(n))"
    found = []
    for (name,) in names:
        for form in FORMS:
            call = form.format(f=name, c=column)
            try:
                duckdb.execute(f"SELECT {call} FROM {table} AS t")
            except duckdb.Error:
                continue
            found.append(call)
    return found


def shown(call: str, value: object) -> object:
    """Return what of a value is promised."""
    return None if call.startswith(BY_ORDER) else repr(value)


def listed(column: str) -> str:
    return ", ".join(f"{call} AS r{number}" for number, call in enumerate(calls(column)))


def promised(column: str, rows: list[tuple[object, ...]], keys: int) -> list[tuple[object, ...]]:
    return in_order(
        (*row[:keys], *(shown(call, v) for call, v in zip(calls(column), row[keys:], strict=True))) for row in rows
    )


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_in_spans(one: Session, column: str) -> None:
    pieces = f"SELECT SPAN w, {', '.join(COLUMNS)} FROM {SPANS} AS t SPAN BROADCAST FROM {WINDOWS} AS g"
    plain = one.sql(f"SELECT cpu, w, {listed(column)} FROM ({pieces}) GROUP BY cpu, w").fetchall()
    grouped = f"SELECT SPAN w, {listed(column)} FROM {SPANS} AS t GROUP USING SPANS FROM {WINDOWS} AS g"
    found = [row[2:] for row in one.sql(grouped).fetchall()]
    assert len(calls(column)) > 40
    assert promised(column, [row for row in found if row[1] != "c"], 2) == promised(column, plain, 2)
    ((*nothing,),) = one.sql(f"SELECT {listed(column)} FROM ({pieces}) WHERE false").fetchall()
    empty = [(cpu, "c", *nothing) for cpu in (0, 1)]
    assert promised(column, [row for row in found if row[1] == "c"], 2) == promised(column, empty, 2)


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_in_partitions(one: Session, column: str) -> None:
    cuts = f"SELECT SPAN COUNT(*) AS c FROM {SPANS} AS t GROUP USING PARTITION"
    pieces = f"SELECT SPAN {', '.join(COLUMNS)} FROM {SPANS} AS t SPAN BROADCAST FROM ({cuts}) AS c"
    plain = one.sql(f"SELECT _ts, _duration, {listed(column)} FROM ({pieces}) GROUP BY _ts, _duration").fetchall()
    grouped = one.sql(f"SELECT SPAN {listed(column)} FROM {SPANS} AS t GROUP USING PARTITION").fetchall()
    assert promised(column, grouped, 2) == promised(column, plain, 2)
    both = one.sql(f"SELECT SPAN {listed(column)} FROM {SPANS} AS t GROUP AND INTERSECT USING PARTITION").fetchall()
    covered = [row for row in plain if 1 <= row[0] < 4 or 5 <= row[0] < 7 or 8 <= row[0] < 10]
    assert promised(column, both, 2) == promised(column, covered, 2)
