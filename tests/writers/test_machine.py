"""The formats that programs read: exact values, units, NULL apart from the empty string."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterator
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dctv.writers
from dctv import _kernels
from dctv.contracts.registry import scan
from dctv.contracts.writer import Writer
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit
from dctv.writers import cells
from tests.writers.listed import Listed

WRITERS = scan(dctv.writers, Writer)
SPANS = Schema(Kind.SPAN, (ColumnType("_ts", "BIGINT", parse_unit("ns")), ColumnType("name", "VARCHAR")))


def written(name: str, rows: Listed) -> bytes:
    out = io.BytesIO()
    WRITERS[name].write(rows, out)
    return out.getvalue()


def test_the_shelf() -> None:
    assert sorted(WRITERS) == [
        *("arrow", "arrows", "box", "csv", "json", "jsonl", "line", "markdown", "parquet", "table", "tsv")
    ]
    suffixes = [suffix for writer in WRITERS.values() for suffix in writer.suffixes]
    assert len(suffixes) == len(set(suffixes))


def test_csv() -> None:
    rows = Listed({}, [[1, None, 3], ["", None, 'a "b", c\nd']], schema=SPANS)
    assert written("csv", rows) == b'_ts [ns],name\n1,""\n,\n3,"a ""b"", c\nd"\n'


def texts() -> Iterator[object]:
    yield from ("", "a", " a ", 'a"', "a,b", "a\nb", "a\r\nb", "\x00", "日本")


@given(st.lists(st.tuples(st.sampled_from(list(texts())), st.text(st.characters(exclude_categories=["Cs"])))))
def test_csv_is_read_back(pairs: list[tuple[object, str]]) -> None:
    rows = Listed({"a": "VARCHAR", "b": "VARCHAR"}, [[a for a, _ in pairs], [b for _, b in pairs]])
    text = written("csv", rows).decode()
    assert list(csv.reader(io.StringIO(text, newline=""), strict=True))[1:] == [list(pair) for pair in pairs]


ANY = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**70), 2**70),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.sampled_from(["\\", "\t", "\r", "\n", "\b\f\x00\x1f", "\x7f\x85", "\u061c\u200f\u2028\u2066", "\ufeff", "é😀"]),
    st.decimals(allow_nan=False, allow_infinity=False),
    st.binary(max_size=3),
    st.lists(st.integers() | st.text('a\n"\u2028'), max_size=2),
)


@given(st.lists(st.tuples(ANY, ANY), min_size=1))
def test_cells_are_those_that_python_writes(rows: list[tuple[object, object]]) -> None:
    listed = Listed({"a": "VARIANT", 'b"\n\x9b': "VARIANT"}, [list(column) for column in zip(*rows, strict=True)])
    texts = [[None if cell is None else cells.plain_text(cell) for cell in row] for row in rows]
    lines = [",".join("" if t is None else _quoted(t) for t in row) for row in texts]
    assert written("csv", listed).decode() == "\n".join(['a,"b""\n\x9b"', *lines, ""])
    escapes = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
    lines = ["\t".join(r"\N" if t is None else t.translate(escapes) for t in row) for row in texts]
    assert written("tsv", listed).decode() == "\n".join(['a\tb"\\n\x9b', *lines, ""])
    values = zip(*(cells.json_values("VARIANT", list(column)) for column in zip(*rows, strict=True)), strict=True)
    objects = [cells.json_text(dict(zip(("a", 'b"\n\x9b'), row, strict=True))) for row in values]
    assert written("jsonl", listed).decode() == "".join(f"{one}\n" for one in objects)


def _quoted(text: str) -> str:
    if text and not set(text) & set('",\r\n'):
        return text
    return '"' + text.replace('"', '""') + '"'


def test_half_a_pair_of_surrogates() -> None:
    rows = Listed({"a": "VARCHAR"}, [["\udc80,", "\ud83d"]])
    assert written("csv", rows) == b'a\n"\\udc80,"\n\\ud83d\n'
    assert written("jsonl", rows) == b'{"a":"\\udc80,"}\n{"a":"\\ud83d"}\n'


def test_columns_that_differ_in_length() -> None:
    with pytest.raises(ValueError, match="differ in length"):
        _kernels.delimited_lines([[1], []], "", quotes=True, convert=str)
    with pytest.raises(ValueError, match="differ in length"):
        _kernels.json_lines([[1], []], ["", ""], ("", ""), str)
    with pytest.raises(ValueError, match="a key for each column"):
        _kernels.json_lines([[1]], [], ("", ""), str)


def test_json() -> None:
    rows = Listed({}, [[2**62 + 1], ["x"]], [[None], [None]], schema=SPANS)
    assert written("json", rows).decode() == (
        '{"columns":[{"name":"_ts","type":"INT64","unit":"ns"},{"name":"name","type":"STRING","unit":null}],"rows":[\n'
        '[4611686018427387905,"x"],\n'
        "[null,null]\n"
        "]}\n"
    )


def test_json_without_rows() -> None:
    assert json.loads(written("json", Listed({"a": "BIGINT"}, [[]]))) == {
        "columns": [{"name": "a", "type": "INT64", "unit": None}],
        "rows": [],
    }


@pytest.mark.parametrize(
    ("kind", "value", "stored"),
    [
        ("DOUBLE", math.nan, "NaN"),
        ("DOUBLE", -math.inf, "-Infinity"),
        ("FLOAT", 0.10000000149011612, 0.1),
        ("BLOB", b"\x00\xff", "AP8="),
        ("DECIMAL(38,0)", Decimal(10**30), 10**30),
        ("DECIMAL(5,2)", Decimal("1.50"), "1.50"),
        ("STRUCT(x DOUBLE)", {"x": [math.inf, b"a"]}, {"x": ["Infinity", "YQ=="]}),
    ],
)
def test_json_values(kind: str, value: object, stored: object) -> None:
    assert json.loads(written("json", Listed({"v": kind}, [[value]])))["rows"] == [[stored]]
    assert json.loads(written("jsonl", Listed({"v": kind}, [[value]]))) == {"v": stored}


def test_json_is_safe_to_show() -> None:
    text = written("json", Listed({"v\x9b": "VARCHAR"}, [["\x1b\x7f\x9b\u202e\u2028 é"]])).decode()
    assert json.loads(text)["rows"] == [["\x1b\x7f\x9b\u202e\u2028 é"]]
    assert not set("\x1b\x7f\x9b\u202e\u2028") & set(text)
    assert "é" in text


def test_jsonl() -> None:
    rows = Listed({"a": "BIGINT", "a_2": "BIGINT", "b": "VARCHAR"}, [[1, 2], [3, None], ["x", ""]])
    assert written("jsonl", rows) == b'{"a":1,"a_2":3,"b":"x"}\n{"a":2,"a_2":null,"b":""}\n'


def test_jsonl_numbers_columns_of_one_name() -> None:
    columns = tuple(ColumnType(name, "BIGINT") for name in ("a", "a", "a_2", "a"))
    rows = Listed({}, [[1], [2], [3], [4]], schema=Schema(Kind.REGULAR, columns))
    assert written("jsonl", rows) == b'{"a":1,"a_3":2,"a_2":3,"a_4":4}\n'


def test_markdown() -> None:
    rows = Listed({}, [[1, None], ["a|b\\<i>", "_x_\n`y`"]], schema=SPANS)
    assert written("markdown", rows).decode() == (
        "| \\_ts [ns] | name |\n| ---: | :--- |\n| 1 | a\\|b\\\\\\<i> |\n| NULL | \\_x\\_\\\\n\\`y\\` |\n"
    ).replace("[ns]", "\\[ns\\]")


@pytest.mark.parametrize(("name", "opener"), [("arrow", pa.ipc.open_file), ("arrows", pa.ipc.open_stream)])
def test_arrow(name: str, opener: object) -> None:
    assert callable(opener)
    table = opener(pa.BufferReader(written(name, Listed({}, [[1, 2], ["a", None]], schema=SPANS)))).read_all()
    assert table.to_pydict() == {"_ts": [1, 2], "name": ["a", None]}
    assert table.schema.field("_ts").metadata == {b"unit": b"ns"}
    assert table.schema.field("name").metadata is None


def test_parquet() -> None:
    table = pq.read_table(pa.BufferReader(written("parquet", Listed({}, [[1], ["a"]], [[2], [None]], schema=SPANS))))
    assert table.to_pydict() == {"_ts": [1, 2], "name": ["a", None]}
    assert table.schema.field("_ts").metadata[b"unit"] == b"ns"


@pytest.mark.parametrize("name", sorted(WRITERS))
def test_equal_results_give_equal_bytes(name: str) -> None:
    first, second = (written(name, Listed({}, [[1, 2], ["a", None]], schema=SPANS)) for _ in range(2))
    assert first == second
