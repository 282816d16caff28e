"""The table on the terminal, byte by byte."""

from __future__ import annotations

import io

import pytest

from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit
from dctv.writers.aligned import SAMPLE
from dctv.writers.table import write
from tests.writers.listed import Listed


def shown(rows: Listed) -> str:
    out = io.BytesIO()
    write(rows, out)
    return out.getvalue().decode()


def test_manual_count() -> None:
    assert shown(Listed({"COUNT()": "BIGINT"}, [[32362]])) == "COUNT()\n-------\n32362\n"


def test_manual_units() -> None:
    schema = Schema(Kind.REGULAR, (ColumnType("4 IN cm", "DOUBLE", parse_unit("cm")),))
    assert shown(Listed({}, [[10.16]], schema=schema)) == "4 IN cm [cm]\n------------\n10.16\n"
    schema = Schema(Kind.REGULAR, (ColumnType("(4 * 2)", "DOUBLE", parse_unit("mi")),))
    assert shown(Listed({}, [[192.0]], schema=schema)) == "(4 * 2) [mi]\n------------\n192\n"


def test_several_columns() -> None:
    rows = Listed({"_ts": "BIGINT", "comm": "VARCHAR", "x": "DOUBLE"}, [[1, 1000], ["init", "sh"], [0.5, None]])
    assert shown(rows) == (
        " _ts  comm     x\n"
        "----  ----  ----\n"
        "   1  init   0.5\n"
        "1000  sh    NULL\n"
    )  # fmt: skip


def test_no_rows() -> None:
    assert shown(Listed({"a": "BIGINT", "long name": "VARCHAR"})) == "a  long name\n-  ---------\n"


def test_widths_come_from_the_first_rows() -> None:
    many: list[object] = [1] * SAMPLE
    rows = Listed({"a": "BIGINT", "b": "VARCHAR"}, [many, many], [[123456], ["late"]])
    lines = shown(rows).splitlines()
    assert lines[:3] == ["a  b", "-  -", "1  1"]
    assert lines[-1] == "123456  late"


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("\x1b]0;owned\x07", r"\x1b]0;owned\x07"),
        ("\x9b31m", r"\x9b31m"),
        ("a\u202eb", r"a\u202eb"),
        ("\U000e0041", r"\U000e0041"),
        ("\ud800", r"\ud800"),
        ("naïve 日本 \u00a0x", "naïve 日本 \u00a0x"),
    ],
)
def test_no_control_characters_reach_the_terminal(text: str, printed: str) -> None:
    assert shown(Listed({"t": "VARCHAR"}, [[text]])).splitlines()[2] == printed
    heads = shown(Listed({text: "VARCHAR"}))
    assert heads.splitlines()[0] == printed


def test_wide_and_combining_characters_keep_columns_straight() -> None:
    rows = Listed({"t": "VARCHAR", "n": "BIGINT"}, [["日本", "e\u0301", "abcd"], [1, 2, 3]])
    assert shown(rows).splitlines()[2:] == ["日本  1", "e\u0301     2", "abcd  3"]


@pytest.mark.parametrize(
    ("kind", "value", "printed"),
    [
        ("DOUBLE", 1e300, "1e+300"),
        ("DOUBLE", 0.1 + 0.2, "0.30000000000000004"),
        ("DOUBLE", -0.0, "-0"),
        ("DOUBLE", float("nan"), "NaN"),
        ("DOUBLE", float("-inf"), "-Infinity"),
        ("FLOAT", 0.10000000149011612, "0.1"),
        ("FLOAT", 3.4028234663852886e38, "3.4028235e+38"),
        ("HUGEINT", 2**100, str(2**100)),
        ("BOOLEAN", True, "true"),
        ("BLOB", b"a\\\x00\xff", r"a\x5c\x00\xff"),
        ("BIGINT[]", [1, None], "[1,null]"),
        ("STRUCT(a VARCHAR)", {"a": "x\x1b"}, r'{"a":"x\u001b"}'),
    ],
)
def test_values(kind: str, value: object, printed: str) -> None:
    assert shown(Listed({"v": kind}, [[value]])).splitlines()[2] == printed
