"""Tables and boxes that have only so much room."""

from __future__ import annotations

import io

import pytest

from dctv.writers import box, line, table
from dctv.writers.aligned import Fit
from tests.writers.listed import Listed

ROWS = Listed(
    {"n": "BIGINT", "text": "VARCHAR", "more": "VARCHAR"},
    [[12345678], ["x" * 30], ["日本" * 10]],
    [[1], [None], ["NULL"]],
)


def fitted(rows: Listed, room: int) -> tuple[str, list[str]]:
    out, fit = io.BytesIO(), Fit(room)
    table.write(rows, out, fit)
    return out.getvalue().decode(), fit.left_out


def test_texts_are_cut_and_numbers_are_not() -> None:
    assert fitted(ROWS, 40) == (
        "       n  text            more\n"
        "--------  --------------  --------------\n"
        "12345678  xxxxxxxxxxxxx…  日本日本日本…\n"
        "       1  NULL            'NULL'\n",
        [],
    )


def test_columns_without_room_are_left_out() -> None:
    assert fitted(ROWS, 20) == (
        "       n  text\n--------  ----------\n12345678  xxxxxxxxx…\n       1  NULL\n",
        ["more"],
    )
    assert fitted(ROWS, 3)[1] == ["text", "more"]


def test_a_single_column_is_not_shortened() -> None:
    rows = Listed({"plan": "VARCHAR"}, [["a long line of a plan"]])
    assert fitted(rows, 10) == ("plan\n----------\na long line of a plan\n", [])


@pytest.mark.parametrize("room", [30, 40, 55, 200])
def test_no_line_is_longer_than_the_room(room: int) -> None:
    out = io.BytesIO()
    box.write(Listed({"a": "VARCHAR", "b": "VARCHAR"}, [["x" * 90], ["y" * 60]]), out, Fit(room))
    lines = out.getvalue().decode().splitlines()
    assert max(map(len, lines)) <= room
    assert len({len(one) for one in lines}) == 1
    assert len(lines) == 5


def test_box() -> None:
    out = io.BytesIO()
    assert box.write(Listed({"n": "BIGINT", "text": "VARCHAR"}, [[1, 20], ["a", None]]), out) == 2
    assert out.getvalue().decode() == (
        "┌────┬──────┐\n│  n │ text │\n├────┼──────┤\n│  1 │ a    │\n│ 20 │ NULL │\n└────┴──────┘\n"
    )


def test_lines() -> None:
    out = io.BytesIO()
    assert line.write(Listed({"n": "BIGINT", "text": "VARCHAR"}, [[1], ["a\nb"]], [[2], [None]]), out) == 2
    assert out.getvalue().decode() == "   n = 1\ntext = a\\nb\n\n   n = 2\ntext = NULL\n"
