"""States of every aggregate give the values that the aggregates give: at once, kept in a table, and put together."""

from __future__ import annotations

import pytest

from dctv.engines.allowed import KINDS
from dctv.errors import BindError, DctvError
from dctv.session import Session
from tests.bounds import LEFT_TO_CI

ARGUMENTS = (
    *("i", "x", "s", "b", "d", "h", "l", "i % 3", "1", "i, x", "x, i", "s, '-'", "i, 0.25", "x, [0.5, 0.25]", "i, 2"),
    *("i ORDER BY -i", "s ORDER BY i", "s, '-' ORDER BY i DESC", "x, i ORDER BY x, -i", "d ORDER BY d"),
)
ROWS = """SELECT range AS i, range % 7 / 4.0 AS x, 's' || range % 5 AS s, range % 2 = 0 AS b, range % 2 AS half,
  DATE '2024-01-01' + (range * 17 % 30)::INT32 AS d, range::INT128 AS h, [range % 3] AS l FROM range(40)"""
FEW = 5
ROUNDED = 9
"""Digits of floating point, which is added in another order."""


@pytest.fixture(scope="module")
def session() -> Session:
    made = Session(index=False)
    list(made.execute(f"CREATE TABLE t AS {ROWS}"))
    return made


def value(session: Session, query: str) -> object:
    ((found,),) = session.sql(query).fetchall()
    return rounded(found)


def rounded(found: object) -> object:
    if isinstance(found, float):
        return f"{found:.{ROUNDED}g}"
    return [rounded(one) for one in found] if isinstance(found, list) else found


def binds(session: Session, statement: str) -> bool:
    """Carry out a statement, and return whether it did not refuse to be bound."""
    try:
        list(session.execute(statement))
    except BindError:
        return False
    return True


@pytest.mark.parametrize("name", sorted(one for one, kind in KINDS.items() if kind == "aggregate"))
def test_states_give_values(session: Session, name: str) -> None:
    """But for CI, with the first arguments that the aggregate takes."""
    checked = 0
    for arguments in ARGUMENTS:
        if LEFT_TO_CI and checked == FEW:
            break
        called = f"{name}({arguments})"
        try:
            expected = value(session, f"SELECT {called} FROM t")
        except DctvError:
            continue
        kept = f"CREATE OR REPLACE TABLE kept AS SELECT {called} EXPORT_STATE AS s FROM t"
        if not binds(session, kept):
            continue
        checked += 1
        assert value(session, f"SELECT finalize({called} EXPORT_STATE) FROM t") == expected, called
        assert value(session, "SELECT finalize(s) FROM kept") == expected, called
        alone = value(session, "SELECT finalize(combine_aggr(s)) FROM kept")
        assert alone == expected, called
        halves = f"SELECT half, {called} EXPORT_STATE AS s FROM t GROUP BY half"
        list(session.execute(f"CREATE OR REPLACE TABLE halves AS {halves}"))
        once = value(session, f"SELECT finalize(combine_aggr(s ORDER BY half)) FROM ({halves})")
        assert value(session, "SELECT finalize(combine_aggr(s ORDER BY half)) FROM halves") == once, called
        if "ORDER BY" in arguments or name in ("sum", "avg", "count", "min", "max", "quantile_cont", "var_pop"):
            assert once == expected, called


def test_most_aggregates_have_states(session: Session) -> None:
    for name in ("sum", "avg", "count", "min", "max", "first", "list", "quantile_cont", "stddev", "corr", "arg_max"):
        arguments = {"quantile_cont": "i, 0.5", "corr": "x, i", "arg_max": "s, i"}.get(name, "i")
        assert value(session, f"SELECT typeof({name}({arguments}) EXPORT_STATE) FROM t") == "AGGREGATE_STATE"
