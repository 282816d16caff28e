"""Bind parameters stand for values, numbered from 0 or named."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from math import inf
from typing import Any

import numpy as np
import pandas
import pytest

from dctv.errors import BindError, UsageError
from dctv.session import Session


def _row(session: Session, sql: str, params: Any = None) -> tuple[object, ...]:
    (row,) = session.sql(sql, params).fetchall()
    return row


def test_positions_count_from_zero(one: Session) -> None:
    assert _row(one, "SELECT ?, ?", [7, "x"]) == (7, "x")
    assert _row(one, "SELECT ?1, ?0", [7, "x"]) == ("x", 7)


def test_numbered_ones_do_not_move_the_count(one: Session) -> None:
    assert _row(one, "SELECT ?, ?0, ?, ?1, ?", ["a", "b", "c"]) == ("a", "a", "b", "b", "c")


def test_dollars_count_from_one_and_mean_given_numbers(one: Session) -> None:
    assert _row(one, "SELECT $2, $1, ?, ?1", [7, "x"]) == ("x", 7, 7, "x")
    assert _row(one, "SELECT $1, ?1", {1: 5}) == (5, 5)


@pytest.mark.parametrize(
    ("sql", "params", "asked"),
    [
        ("SELECT 1", [7], "no bind parameters"),
        ("SELECT ?", [7, 8], "1 bind parameter,"),
        ("SELECT ?; SELECT $2", (7, 8, 9), "2 bind parameters"),
        ("SELECT ?1 + 1", [7, 8, 9], "2 bind parameters"),
        ("SELECT :x", [7], "no bind parameters"),
    ],
)
def test_values_in_order_are_all_asked_for(one: Session, sql: str, params: Any, asked: str) -> None:
    with pytest.raises(UsageError, match=f"the text has {asked}"):
        one.sql(sql, params)


def test_values_by_name_may_be_for_other_texts(one: Session) -> None:
    assert _row(one, "SELECT :low", {"low": 1, "high": 2}) == (1,)


def test_names(one: Session) -> None:
    assert _row(one, "SELECT :low + :high AS s, :low AS l", {"low": 1, "high": 2}) == (3, 1)


def test_values_of_every_type(one: Session) -> None:
    values = [None, True, -5, 2**62, 1.5, "it's", ""]
    assert _row(one, "SELECT ?, ?, ?, ?, ?, ?, ?", values) == tuple(values)


def test_a_string_is_data_and_not_text(one: Session) -> None:
    text = "'; DROP ALL x; -- `\" \\ \n"
    assert _row(one, "SELECT ? AS t, length(?) AS n", [text, text]) == (text, len(text))


def test_in_table_function_arguments_limit_and_views(one: Session) -> None:
    sql = "SELECT SPAN * FROM dctv.generate_sequential_spans(?, :stop, 5ns) LIMIT :n"
    params: dict[int | str, object] = {0: timedelta(microseconds=1), "stop": np.timedelta64(30, "us"), "n": np.int64(2)}
    found = one.sql(sql, params).fetchall()
    assert found == [(1000, 5), (1005, 5)]


@pytest.mark.parametrize(
    ("given", "value", "unit"),
    [
        (np.int64(5), 5, ""),
        (np.uint8(5), 5, ""),
        (np.float32(0.5), 0.5, ""),
        (np.bool_(1), True, ""),
        (np.str_("x"), "x", ""),
        (np.timedelta64(3, "us"), 3000, "ns"),
        (np.timedelta64("NaT", "ns"), None, ""),
        (pandas.NaT, None, ""),
        (pandas.NA, None, ""),
        (Decimal("-1.10"), Decimal("-1.10"), ""),
        (Decimal("0.001"), Decimal("0.001"), ""),
        (Decimal("12e3"), Decimal(12_000), ""),
        (Decimal("-Infinity"), -inf, ""),
        (timedelta(days=-1, microseconds=1), -86_399_999_999_000, "ns"),
        (pandas.Timedelta("7ns"), 7, "ns"),
        (date(2026, 1, 2), "2026-01-02", ""),
        (datetime(2026, 1, 2, 3, 4, 5, 6), "2026-01-02 03:04:05.000006", ""),
        (datetime(2026, 1, 2, tzinfo=UTC), "2026-01-02 00:00:00+00", ""),
        (np.datetime64("2026-01-02T00:00:00.123456789"), "2026-01-02 00:00:00.123456789", ""),
        (pandas.Timestamp("2026-01-02 00:00:00.123456789"), "2026-01-02 00:00:00.123456789", ""),
        (pandas.Timestamp("2026-01-02 00:00:00.123456", tz="UTC"), "2026-01-02 00:00:00.123456+00", ""),
    ],
)
def test_values_of_other_packages(one: Session, given: object, value: object, unit: str) -> None:
    result = one.sql("SELECT ? AS v", [given])
    assert [str(column.unit) for column in result.schema.columns] == [unit]
    assert result.fetchall() == [(value,)]


def test_the_sign_of_a_zero_is_kept(one: Session) -> None:
    values = [-0.0, 0.0, np.float64(-0.0), 0]
    assert _row(one, "SELECT ?::STRING, ?::STRING, ?::STRING, ?::STRING", values) == ("-0.0", "0.0", "-0.0", "0")
    assert _row(one, "SELECT 5ms > ? AS longer", [-0.0]) == (True,)


def test_a_time_with_a_zone_has_no_ns(one: Session) -> None:
    with pytest.raises(BindError, match=r"found the time `2026-01-02 00:00:00.* which has ns beside"):
        _row(one, "SELECT ?", [pandas.Timestamp("2026-01-02 00:00:00.000001001", tz="Europe/Berlin")])


def test_a_decimal_comes_back_as_it_went_in(one: Session) -> None:
    (exact,) = _row(one, "SELECT 1234567890123456789012345678901234.5678::DECIMAL(38,4)", [])
    assert _row(one, "SELECT ?, ? = 1.5, ? + 1", [exact, Decimal("1.5"), Decimal("0.25")]) == (
        exact,
        True,
        Decimal("1.25"),
    )
    with pytest.raises(BindError, match="found Decimal of 41 digits"):
        _row(one, "SELECT ?", [Decimal("1e40")])


def test_integers_may_be_of_any_size(one: Session) -> None:
    assert _row(one, "SELECT ?::STRING", [-(10**400)]) == (f"-1{'0' * 400}",)


def test_a_duration_is_compared_with_times(one: Session) -> None:
    assert _row(one, "SELECT 5ms > ? AS longer", [timedelta(milliseconds=4)]) == (True,)


def test_a_bare_number_is_no_time(one: Session) -> None:
    with pytest.raises(BindError, match="`stop` is a time, found the number 30") as caught:
        one.sql("SELECT SPAN * FROM dctv.generate_sequential_spans(0, ?, 5ns)", [30])
    assert caught.value.hint == "give it a unit: `30ns`"


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
