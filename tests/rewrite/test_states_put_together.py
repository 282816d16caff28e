"""What parts of some rows have gathered makes the values that all rows have, wherever they are cut."""

from __future__ import annotations

import math
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from dctv.signatures.gathered import BESTS, ONES, SHAPES, SPREADS, TOGETHER
from tests.bounds import bounded

PARTS = 3
PICKED = (
    *(f"{name}({one})" for name in ONES for one in ("x", "s", "d", "b", "l")),
    *(f"{name}({one}, {by})" for name in BESTS for one in ("x", "s", "l") for by in ("y", "s", "d")),
    "approx_count_distinct(y)",
)
COMPUTED = (
    *(f"{name}({one})" for name in (*SPREADS, *SHAPES) for one in ("x", "y")),
    *(f"{name}(x, y)" for name in (*TOGETHER, "regr_count")),
)
ROWS = st.lists(
    st.tuples(
        st.integers(0, PARTS - 1),
        st.sampled_from([None, 1, 2, 3, 1000]),
        st.sampled_from([None, 0.5, 1.5, -2.5, 700.25]),
    ),
    max_size=9,
)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(index=False, threads=1) as made:
        yield made


def keep(session: Session, rows: list[tuple[int, int | None, float | None]]) -> None:
    """Make a table of rows, part by part."""
    values = ", ".join(
        f"({part}, {x if x is not None else 'NULL'}, {y if y is not None else 'NULL'})"
        for part, x, y in sorted(rows, key=lambda row: row[0])
    )
    columns = (
        "part, x::INT64 AS x, y::FLOAT64 AS y, 'a text that is not short ' || x AS s, x > 1 AS b, [x] AS l, "
        "DATE '2024-01-01' + x::INT32 AS d"
    )
    given = f"(VALUES {values}) AS v(part, x, y)" if rows else "(VALUES (0, 0, 0)) AS v(part, x, y) WHERE false"
    list(session.execute(f"CREATE OR REPLACE TABLE t AS SELECT {columns} FROM {given}"))


def both(session: Session, called: list[str]) -> zip[tuple[str, object, object]]:
    """Return aggregates of all rows, and the same combined from the states of each part."""
    whole = ", ".join(f"{one} AS a{place}" for place, one in enumerate(called))
    states = ", ".join(f"{one} EXPORT_STATE AS a{place}" for place, one in enumerate(called))
    parts = " UNION ALL ".join(f"SELECT {states} FROM t WHERE part = {part}" for part in range(PARTS))
    made = ", ".join(f"finalize(combine_aggr(a{place})) AS a{place}" for place in range(len(called)))
    (expected,) = session.sql(f"SELECT {whole} FROM t").fetchall()
    (found,) = session.sql(f"SELECT {made} FROM ({parts})").fetchall()
    return zip(called, found, expected, strict=True)


@bounded(100)
@given(rows=ROWS)
def test_the_same_value_is_picked(session: Session, rows: list[tuple[int, int | None, float | None]]) -> None:
    keep(session, rows)
    for called, found, expected in both(session, list(PICKED)):
        assert found == expected, called


@bounded(100)
@given(rows=ROWS)
def test_the_same_number_up_to_rounding(session: Session, rows: list[tuple[int, int | None, float | None]]) -> None:
    keep(session, rows)
    for called, found, expected in both(session, list(COMPUTED)):
        if isinstance(found, float) and isinstance(expected, float):
            alike = math.isclose(found, expected, rel_tol=1e-9, abs_tol=1e-9)
            assert alike or (math.isnan(found) and math.isnan(expected)), (called, found, expected)
        else:
            assert found == expected, called
