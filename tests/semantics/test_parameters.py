"""Bind parameters stand for values, numbered from 0 or named."""

from __future__ import annotations

from typing import Any

import pytest

from dctv.errors import BindError
from dctv.session import Session


def _row(session: Session, sql: str, params: Any = None) -> tuple[object, ...]:
    (row,) = session.sql(sql, params).fetchall()
    return row


def test_positions_count_from_zero(one: Session) -> None:
    assert _row(one, "SELECT ?, ?", [7, "x"]) == (7, "x")
    assert _row(one, "SELECT ?1, ?0", [7, "x"]) == ("x", 7)


def test_numbered_ones_do_not_move_the_count(one: Session) -> None:
    assert _row(one, "SELECT ?, ?0, ?, ?1, ?", ["a", "b", "c"]) == ("a", "a", "b", "b", "c")


def test_names(one: Session) -> None:
    assert _row(one, "SELECT :low + :high AS s, :low AS l", {"low": 1, "high": 2}) == (3, 1)


def test_values_of_every_type(one: Session) -> None:
    values = [None, True, -5, 2**62, 1.5, "it's", ""]
    assert _row(one, "SELECT ?, ?, ?, ?, ?, ?, ?", values) == tuple(values)


def test_a_string_is_data_and_not_text(one: Session) -> None:
    text = "'; DROP ALL x; -- `\" \\ \n"
    assert _row(one, "SELECT ? AS t, length(?) AS n", [text, text]) == (text, len(text))


def test_in_table_function_arguments_limit_and_views(one: Session) -> None:
    sql = "SELECT SPAN * FROM dctv.generate_sequential_spans(?, :stop, 5) LIMIT :n"
    params: dict[int | str, object] = {0: 10, "stop": 30, "n": 2}
    found = one.sql(sql, params).fetchall()
    assert found == [(10, 5), (15, 5)]


def test_unit_of_a_parameter(one: Session) -> None:
    assert _row(one, "SELECT ? IN ms > 1s", [1001]) == (True,)


@pytest.mark.parametrize(
    ("sql", "params", "message"),
    [
        ("SELECT ?", None, "no value for the bind parameter `?0`"),
        ("SELECT ?, ?", [1], "no value for the bind parameter `?1`"),
        ("SELECT :low", {"lo": 1}, "no value for the bind parameter `:low`"),
    ],
)
def test_missing_values(one: Session, sql: str, params: Any, message: str) -> None:
    with pytest.raises(BindError) as caught:
        _row(one, sql, params)
    assert caught.value.message == message
