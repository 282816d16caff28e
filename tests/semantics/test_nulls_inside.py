"""IGNORE NULLS may stand inside the parentheses of a window function, as in DuckDB, or behind them."""

from __future__ import annotations

import pytest

from dctv.errors import BindError, ParseError, SourceText
from dctv.session import Session
from dctv.syntax.parse import parse_expression
from dctv.syntax.print import to_sql

ROWS = "FROM (VALUES (1, 5), (2, NULL), (3, 7), (4, NULL)) AS t(i, v)"


@pytest.mark.parametrize(
    "call", ["last_value(v{})", "first_value(v{})", "lag(v, 1{})", "nth_value(v, 2{})", "lead(v{})"]
)
@pytest.mark.parametrize("words", ["IGNORE NULLS", "RESPECT NULLS"])
def test_inside_is_as_behind(one: Session, call: str, words: str) -> None:
    inside, behind = call.format(f" {words}"), f"{call.format('')} {words}"
    found, wanted = (
        one.sql(f"SELECT i, {text} OVER (ORDER BY i) AS x {ROWS} ORDER BY i").fetchall() for text in (inside, behind)
    )
    assert found == wanted


def test_values(one: Session) -> None:
    text = f"SELECT last_value(v IGNORE NULLS) OVER (ORDER BY i) AS x {ROWS} ORDER BY i"
    assert one.sql(text).fetchall() == [(5,), (5,), (7,), (7,)]


def test_the_warning_is_issued_once(one: Session) -> None:
    with pytest.raises(ParseError, match="`IGNORE NULLS` is given twice"):
        one.sql(f"SELECT last_value(v RESPECT NULLS) IGNORE NULLS OVER () {ROWS}")


def test_it_is_written_behind() -> None:
    tree = parse_expression(SourceText("<test>", "last_value(v ORDER BY i IGNORE NULLS) OVER w"))
    assert to_sql(tree) == "last_value(v ORDER BY i) IGNORE NULLS OVER w"


def test_a_column_called_event(one: Session) -> None:
    one.sql("SELECT event FROM dctv.as_events((SELECT 1ns AS _ts, 2 AS `event`))").fetchall()
    assert one.warnings() == ["SELECT EVENT without columns; to select the column `event`, write its name in backticks"]
    one.sql("SELECT EVENT `event` FROM dctv.as_events((SELECT 1ns AS _ts, 2 AS `event`))").fetchall()
    assert one.warnings() == []


def test_a_column_called_event_of_a_regular_table(one: Session) -> None:
    with pytest.raises(BindError, match="expected a span or event table") as caught:
        one.sql("SELECT event FROM (SELECT 1 AS `event`)")
    assert caught.value.hint == "to select the column `event`, write its name in backticks"
