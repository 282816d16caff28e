"""Stacks and slices in SQL against plain lists: sweeps and relational forms, with any number of threads."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.kernels.tables import Table, make
from tests.kernels.test_stack_sweeps import nested, stacks
from tests.semantics.oracle import in_order
from tests.semantics.plans import values

_settings = bounded(8)


@st.composite
def _events(draw: st.DrawFn, tokens: list[Any]) -> Table:
    """Draw rows in any order: time, two partitions, rank, token; rows of equal time and rank are alike."""
    one = st.tuples(st.integers(0, 9), st.sampled_from([0, 1, None]), st.sampled_from(["", "x", None]))
    rows = [(*row, n, draw(st.sampled_from(tokens))) for n, row in enumerate(draw(st.lists(one, max_size=12)))]
    rows.sort(key=lambda row: (row[0], row[3]))
    return make("_ts p q line token", rows)


def _sql(table: Table, kind: str, data: st.DataObject) -> str:
    rows = data.draw(st.permutations(table.rows))
    return values(["_ts", "p", "q", "line", "token"], list(rows), ["BIGINT", "INT", "TEXT", "INT", kind])


@pytest.mark.parametrize("engine", ["kernel", "relational"])
@pytest.mark.parametrize(("kind", "tokens"), [("TEXT", ["a", "", None]), ("INT", [1, 2, None])])
@_settings
@given(data=st.data())
def test_stacks(one: Session, two: Session, *, engine: str, kind: str, tokens: list[Any], data: st.DataObject) -> None:
    starts, stops = data.draw(_events(tokens)), data.draw(_events(tokens))
    session = data.draw(st.sampled_from([one, two]))
    session.sql(f"SET span_engine = '{engine}'")
    arguments = (
        f"starts=>{_sql(starts, kind, data)}, stops=>{_sql(stops, kind, data)}, token=>'token',"
        " partition=>['p', 'q'], order=>'line'"
    )
    spans, contents, ignored = stacks(starts, stops, ranked=True)
    result = session.sql(f"SELECT * FROM dctv.stack_history({arguments})")
    assert in_order(result.fetchall()) == in_order(spans)
    warnings = [
        (f"{ignored} stop{'s' * (ignored > 1)} on an empty stack {'were' if ignored > 1 else 'was'} ignored", 1)
    ]
    assert result.warnings == (warnings if ignored and engine == "kernel" else [])
    assert session.sql(f"SELECT * FROM dctv.stack_contents({arguments})").fetchall() == contents
    calls, _ = nested(starts, stops, ranked=True)
    found = session.sql(f"SELECT * FROM dctv.slices_from_stack({arguments})").fetchall()
    assert in_order(found) == in_order(calls)


@pytest.mark.parametrize("engine", ["kernel", "relational"])
@_settings
@given(data=st.data())
def test_equal_times_keep_the_order_of_rows(two: Session, *, engine: str, data: st.DataObject) -> None:
    starts, stops = data.draw(_events(["a", "b"])), data.draw(_events(["a", "b"]))
    two.sql(f"SET span_engine = '{engine}'")
    columns, kinds = ["_ts", "p", "q", "line", "token"], ["BIGINT", "INT", "TEXT", "INT", "TEXT"]
    tables = [f"{n}=>{values(columns, list(t.rows), kinds)}" for n, t in (("starts", starts), ("stops", stops))]
    spans, contents, _ = stacks(starts, stops, ranked=False)
    arguments = f"{', '.join(tables)}, token=>'token', partition=>['p', 'q']"
    assert in_order(two.sql(f"SELECT * FROM dctv.stack_history({arguments})").fetchall()) == in_order(spans)
    assert two.sql(f"SELECT * FROM dctv.stack_contents({arguments})").fetchall() == contents


@_settings
@given(data=st.data(), n=st.integers(1, 4), per=st.booleans())
def test_sample(one: Session, *, n: int, per: bool, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(st.integers(0, 9), st.sampled_from([0, 1, None])), max_size=12))
    seen: dict[int | None, int] = {}
    expected = []
    for row in rows:
        value = row[1] if per else None
        seen[value] = seen.get(value, 0) + 1
        expected += [row] if seen[value] % n == 1 % n else []
    table, key = values(["a", "k"], list(rows), ["INT", "INT"]), "'k'" if per else "NULL"
    assert one.sql(f"SELECT * FROM dctv.sample({table}, {n}, per=>{key})").fetchall() == expected
