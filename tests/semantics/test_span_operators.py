"""Random nestings of the span operators give what brute force gives, with one thread and with two."""

from __future__ import annotations

import pytest
from dctv.session import Session
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from oracle import in_order
from plans import Query, queries

_settings = settings(
    max_examples=50, deadline=None, derandomize=True, database=None, suppress_health_check=list(HealthCheck)
)


def _check(session: Session, query: Query) -> None:
    found = session.sql(query.sql).fetchall()
    assert in_order(found) == query.table.rows()
    assert [row[0] for row in found] == sorted(row[0] for row in found)


@pytest.mark.parametrize("partitions", [(), ("p",), ("p", "q")], ids=["none", "one", "two"])
@_settings
@given(data=st.data())
def test_one_operator(one: Session, partitions: tuple[str, ...], data: st.DataObject) -> None:
    _check(one, data.draw(queries(partitions, 1)))


@_settings
@given(data=st.data())
def test_nested_operators(one: Session, data: st.DataObject) -> None:
    partitions = data.draw(st.sampled_from([(), ("p",), ("p", "q")]))
    _check(one, data.draw(queries(partitions, 3)))


@_settings
@given(data=st.data())
def test_threads_change_nothing(one: Session, two: Session, data: st.DataObject) -> None:
    query = data.draw(queries(data.draw(st.sampled_from([(), ("p",)])), 2))
    assert one.sql(query.sql).fetchall() == two.sql(query.sql).fetchall()
