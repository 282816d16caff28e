"""Random nestings of the span operators give what brute force gives, with one thread and with two."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.semantics.oracle import in_order
from tests.semantics.plans import POSSIBLE, Query, queries, shaped

_settings = bounded(40)


def _check(session: Session, query: Query) -> None:
    found = session.sql(query.sql).fetchall()
    assert in_order(found) == query.table.rows()
    times = [row[:1] for row in found]
    assert times == in_order(times)


@pytest.mark.parametrize("shape", sorted(POSSIBLE))
@_settings
@given(data=st.data())
def test_one_operator(one: Session, shape: str, data: st.DataObject) -> None:
    _check(one, data.draw(shaped(shape, data.draw(st.sampled_from(POSSIBLE[shape])), 0)))


@_settings
@given(data=st.data())
def test_nested_operators(one: Session, data: st.DataObject) -> None:
    partitions = data.draw(st.sampled_from([(), ("p",), ("p", "q")]))
    _check(one, data.draw(queries(partitions, 3)))


@_settings
@given(data=st.data())
def test_the_number_of_threads_does_not_change_results(one: Session, two: Session, data: st.DataObject) -> None:
    query = data.draw(queries(data.draw(st.sampled_from([(), ("p",)])), 2))
    assert one.sql(query.sql).fetchall() == two.sql(query.sql).fetchall()
