"""Numbers and units are exact; plain SQL agrees with the engine used directly."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.semantics.oracle import in_order
from tests.semantics.plans import outcome

_settings = bounded(60)
LIMIT = 2**63
NEAR = st.one_of(
    st.integers(-3, 3), st.integers(LIMIT - 4, LIMIT - 1), st.integers(-LIMIT, -LIMIT + 4), st.integers(-(2**33), 2**33)
)
TIMES = {"ns": 1, "us": 1000, "ms": 10**6, "s": 10**9, "min": 60 * 10**9, "h": 3600 * 10**9}
SIZES = {"bit": 1, "B": 8, "kB": 8000, "KiB": 8192, "MB": 8 * 10**6, "MiB": 8 * 2**20}


def _truncated(a: int, b: int) -> int:
    return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


_EXACT: dict[str, Callable[[int, int], int | None]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "//": lambda a, b: _truncated(a, b) if b else None,
    "%": lambda a, b: a - b * _truncated(a, b) if b else None,
}


@_settings
@given(a=NEAR, b=NEAR, operator=st.sampled_from(sorted(_EXACT)))
def test_integers_are_exact_or_an_error(one: Session, a: int, b: int, operator: str) -> None:
    expected = _EXACT[operator](a, b)
    sql = f"SELECT a::BIGINT {operator} b::BIGINT FROM (VALUES (?, ?)) AS t(a, b)"
    found = outcome(one, sql, [a, b])
    if isinstance(found, str):
        assert "overflow" in found
        # The engine refuses the remainder of this one division together with its quotient.
        assert expected is not None
        assert not -LIMIT <= expected < LIMIT or (a, b) == (-LIMIT, -1)
    else:
        assert found == [(expected,)]


@_settings
@given(a=NEAR, b=NEAR)
def test_integers_compare_exactly(one: Session, a: int, b: int) -> None:
    sql = "SELECT a < b, a <= b, a = b, a <=> b, a != b, a > b FROM (VALUES (?::BIGINT, ?::BIGINT)) AS t(a, b)"
    assert one.sql(sql, [a, b]).fetchall() == [(a < b, a <= b, a == b, a == b, a != b, a > b)]


@_settings
@given(data=st.data(), family=st.sampled_from([TIMES, SIZES]))
def test_units_are_exact(one: Session, data: st.DataObject, family: dict[str, int]) -> None:
    unit = st.sampled_from(sorted(family))
    a, b = data.draw(st.integers(0, 10**6)), data.draw(st.integers(0, 10**6))
    u, v = data.draw(unit), data.draw(unit)
    left, right = Fraction(a * family[u]), Fraction(b * family[v])
    finer = min(family[u], family[v])
    sql = f"SELECT {a}{u} < {b}{v}, {a}{u} = {b}{v}, {a}{u} + {b}{v}, {a}{u} - {b}{v}"
    less, equal, *sums = one.sql(sql).fetchall()[0]
    assert (less, equal) == (left < right, left == right)
    expected = [(left + right) / finer, (left - right) / finer]
    assert sums == (expected if max(family[u], family[v]) % finer == 0 else pytest.approx([float(x) for x in expected]))


@_settings
@given(data=st.data(), family=st.sampled_from([TIMES, SIZES]))
def test_conversion_and_ratio(one: Session, data: st.DataObject, family: dict[str, int]) -> None:
    unit = st.sampled_from(sorted(family))
    a, b = data.draw(st.integers(0, 10**6)), data.draw(st.integers(1, 10**6))
    u, v = data.draw(unit), data.draw(unit)
    sql = f"SELECT {a}{u} IN {v}, {a}{u} / {b}{v}, {a}{u} // {b}{v}, x IN {u} IN {v} FROM (VALUES ({a})) AS t(x)"
    converted, ratio, quotient, column = one.sql(sql).fetchall()[0]
    assert converted == pytest.approx(float(Fraction(a * family[u], family[v])), rel=1e-12)
    assert column == pytest.approx(float(Fraction(a * family[u], family[v])), rel=1e-12)
    assert ratio == pytest.approx(float(Fraction(a * family[u], b * family[v])), rel=1e-12)
    assert quotient == a * family[u] // (b * family[v])


ROWS = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(-4, 4)), st.one_of(st.none(), st.integers(-4, 4))),
    min_size=1,
    max_size=8,
)
ATOMS = st.sampled_from(["a", "b", "1", "2", "-3", "NULL"])
NUMBERS = st.recursive(
    ATOMS, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*"]), inner), max_leaves=4
)
_COMPARED = st.builds("({} {} {})".format, NUMBERS, st.sampled_from(["<", "<=", "=", "<>", ">", ">="]), NUMBERS)
_TESTED = st.builds(
    "({} {})".format, NUMBERS, st.sampled_from(["IS NULL", "IS NOT NULL", "IN (1, 2)", "BETWEEN 0 AND 3"])
)
CONDITIONS = st.recursive(
    st.one_of(_COMPARED, _TESTED),
    lambda inner: st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["AND", "OR"]), inner),
        st.builds("(NOT {})".format, inner),
    ),
    max_leaves=4,
)
SHAPES = st.sampled_from(
    [
        "SELECT {n} AS x, {m} AS y FROM {t} WHERE {c}",
        "SELECT k, COUNT(*) AS c, SUM(b) AS s, MIN(a) AS m FROM (SELECT {n} AS k, a, b FROM {t}) AS i "
        "GROUP BY k HAVING COUNT(*) > 1",
        "SELECT DISTINCT {n} AS x FROM {t} WHERE {c}",
        "SELECT u.a AS x, v.b AS y FROM {t} AS u JOIN {t} AS v ON u.a = v.b WHERE u.b IS NOT NULL",
        "SELECT u.a AS x, v.b AS y FROM {t} AS u LEFT JOIN {t} AS v ON u.a = v.b AND v.a > 0",
        "SELECT a FROM {t} WHERE {c} UNION SELECT {n} FROM {t}",
        "SELECT a, SUM(b) OVER (PARTITION BY a) AS s, RANK() OVER (ORDER BY a) AS r FROM {t}",
        "SELECT a, CASE WHEN {c} THEN {n} ELSE {m} END AS x, COALESCE(b, {n}) AS y FROM {t}",
        "SELECT a FROM {t} AS u WHERE EXISTS (SELECT 1 FROM {t} AS v WHERE v.b = u.a) OR {c}",
    ]
)


@_settings
@given(rows=ROWS, shape=SHAPES, n=NUMBERS, m=NUMBERS, c=CONDITIONS)
def test_plain_sql_agrees_with_the_engine(
    one: Session, rows: list[tuple[int | None, ...]], shape: str, n: str, m: str, c: str
) -> None:
    body = ", ".join(f"({', '.join('NULL' if v is None else str(v) for v in row)})" for row in rows)
    table = f"(SELECT a::BIGINT AS a, b::BIGINT AS b FROM (VALUES {body}) AS t(a, b))"
    text = shape.format(n=n, m=m, c=c, t="t")
    expected = duckdb.execute(f"WITH t AS {table} {text}").fetchall()
    found = one.sql(f"WITH t AS {table} {text}").fetchall()
    assert in_order(found) == in_order(expected)
