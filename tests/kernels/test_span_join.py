"""The span join against an oracle that looks at every nanosecond, the manual's diagrams and hostile inputs."""

from __future__ import annotations

import decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import HORIZON, KEY_SETS, UNTIMED, Row, Table, covering, make, rows, span_tables


def oracle(left: Table, right: Table, how: str, parts: int, broadcast: str | None) -> list[Row]:
    """Look at each nanosecond of each partition and join neighbours that show the same two rows."""
    own = {"left": [right], "right": [left], None: [left, right]}[broadcast]
    keys = {row[2 : 2 + parts] for table in own for row in table.rows}
    a_parts, b_parts = (0 if broadcast == side else parts for side in ("left", "right"))
    out: list[Row] = []
    for key in keys:
        seen: Any = None
        for t in range(HORIZON):
            a = covering(left, a_parts, key if a_parts else (), t)
            b = covering(right, b_parts, key if b_parts else (), t)
            wanted = {"inner": a and b, "outer": a or b, "left": a, "right": b}[how]
            if wanted and seen == (a, b):
                out[-1] = (out[-1][0], out[-1][1] + 1, *out[-1][2:])
            elif wanted:
                out.append((t, 1, *key, a and a[-1], b and b[-1]))
            seen = (a, b) if wanted else None
    return out


def names(parts: int) -> list[str]:
    return ["_ts", "_duration", *(f"k{number}" for number in range(parts)), "left", "right"]


def join(left: Any, right: Any, how: Any, parts: int, broadcast: Any = None) -> list[Row]:
    stream = kernels.span_join(left, right, how=how, partitions=parts, broadcast=broadcast, names=names(parts))
    return rows(stream)


FORMS = [("inner", None), ("outer", None), ("left", None), ("right", None)]
BROADCASTS = [("inner", "right"), ("left", "right"), ("inner", "left"), ("right", "left")]


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.sampled_from(FORMS + BROADCASTS))
def test_oracle(data: st.DataObject, keys: list[str], form: tuple[str, str | None]) -> None:
    how, broadcast = form
    keys = keys or (["int"] if broadcast else [])
    left = data.draw(span_tables([] if broadcast == "left" else keys, "left"))
    right = data.draw(span_tables([] if broadcast == "right" else keys, "right"))
    found = join(left.whole(), right.whole(), how, len(keys), broadcast)
    assert found == join(left.cut(), right.cut(), how, len(keys), broadcast)
    assert [row[0] for row in found] == sorted(row[0] for row in found)
    assert sorted(found, key=repr) == sorted(oracle(left, right, how, len(keys), broadcast), key=repr)


def pair(first: str, second: str, left: list[Row], right: list[Row]) -> tuple[pa.Table, pa.Table]:
    kinds = {first: pa.string(), second: pa.string()}
    return make(f"_ts _duration {first}", left, **kinds).whole(), make(
        f"_ts _duration {second}", right, **kinds
    ).whole()


def test_diagram_of_the_span_join() -> None:
    size, species = pair("size", "species", [(1, 2, "tiny"), (3, 1, "giant")], [(1, 1, "fish"), (2, 2, "squirrel")])
    wanted = [(1, 1, "tiny", "fish"), (2, 1, "tiny", "squirrel"), (3, 1, "giant", "squirrel")]
    for how, _ in FORMS:
        assert join(size, species, how, 0) == wanted


def test_diagrams_of_inner_and_outer() -> None:
    breath, color = pair("breath", "color", [(1, 1, "fire"), (3, 1, "ice")], [(1, 1, "red"), (2, 2, "green")])
    assert join(breath, color, "inner", 0) == [(1, 1, "fire", "red"), (3, 1, "ice", "green")]
    wanted = [(1, 1, "fire", "red"), (2, 1, None, "green"), (3, 1, "ice", "green")]
    assert join(breath, color, "outer", 0) == wanted
    assert join(breath, color, "right", 0) == wanted
    assert join(breath, color, "left", 0) == [wanted[0], wanted[2]]


def test_diagram_of_holes_in_the_outer_join() -> None:
    breath, color = pair("breath", "color", [(3, 1, "ice")], [(1, 1, "red"), (3, 1, "green")])
    assert join(breath, color, "outer", 0) == [(1, 1, None, "red"), (3, 1, "ice", "green")]


def test_diagrams_of_the_broadcast() -> None:
    size = make(
        "_ts _duration animal size", [(1, 1, 0, "tiny"), (1, 3, 1, "tiny"), (2, 2, 0, "giant")], size=pa.string()
    )
    color = make("_ts _duration color", [(1, 1, "red"), (3, 2, "green")], color=pa.string())
    inner = join(size.whole(), color.whole(), "inner", 1, "right")
    assert sorted(inner, key=lambda row: (row[2], row[0])) == [
        (1, 1, 0, "tiny", "red"),
        (3, 1, 0, "giant", "green"),
        (1, 1, 1, "tiny", "red"),
        (3, 1, 1, "tiny", "green"),
    ]
    outer = join(size.whole(), color.whole(), "left", 1, "right")
    assert sorted(outer, key=lambda row: (row[2], row[0])) == [
        (1, 1, 0, "tiny", "red"),
        (2, 1, 0, "giant", None),
        (3, 1, 0, "giant", "green"),
        (1, 1, 1, "tiny", "red"),
        (2, 1, 1, "tiny", None),
        (3, 1, 1, "tiny", "green"),
    ]


BIG = 1 << 62
BAD: list[tuple[list[Row], str]] = [
    ([(10, 10, 3, 0), (15, 15, 3, 0)], "spans overlap: [10, 20) and [15, 30) in partition k0=3 (left input)"),
    ([(10, 10, None, 0), (10, 1, None, 0)], "spans overlap: [10, 20) and [10, 11) in partition k0=NULL (left input)"),
    (
        [(10, 10, 3, 0), (9, 1, 4, 0)],
        "the rows are not in order of time: 9 in partition k0=4 comes after 10 (left input)",
    ),
    ([(10, 0, 3, 0)], "the duration of a span is positive, found 0 at _ts 10 in partition k0=3 (left input)"),
    ([(10, -1, 3, 0)], "the duration of a span is positive, found -1 at _ts 10 in partition k0=3 (left input)"),
    (
        [(BIG, BIG, 3, 0)],
        f"the end of a span is beyond the end of time: duration {BIG} at _ts {BIG} in partition k0=3 (left input)",
    ),
    ([(None, 1, 3, 0)], "the start of a span is NULL: duration 1 in partition k0=3 (left input)"),
    ([(7, None, 3, 0)], "the duration of a span is positive, found NULL at _ts 7 in partition k0=3 (left input)"),
]


@pytest.mark.parametrize(("bad", "message"), BAD)
@pytest.mark.parametrize("how", ["inner", "outer"])
def test_bad_rows_are_named(bad: list[Row], message: str, how: str) -> None:
    good = make("_ts _duration k0 right", [(0, 1, 3, 0)]).whole()
    for cuts in ((), (1,)):
        table = make("_ts _duration k0 left", bad)
        with pytest.raises(pa.ArrowInvalid) as caught:
            join(Table(table.fields, table.rows, cuts).cut(), good, how, 1)
        assert str(caught.value) == f"Invalid argument error: {message}"


def test_partitions_of_several_columns_and_hostile_names_are_shown_whole() -> None:
    table = make("_ts _duration k0 k1 left", [(0, 2, 1, "a\0b", 0), (1, 2, 1, "a\0b", 0)], k1=pa.string()).whole()
    with pytest.raises(pa.ArrowInvalid, match=r"spans overlap: \[0, 2\) and \[1, 3\) in partition k0=1, k1=a\\0b"):
        join(table, table, "inner", 2)


def test_partitions_meet_whatever_their_storage() -> None:
    left = make("_ts _duration k0 left", [(0, 4, "a", 1), (1, 3, None, 2)], k0=pa.dictionary(pa.int8(), pa.string()))
    for kind in (pa.string(), pa.large_string(), pa.string_view()):
        right = make("_ts _duration k0 right", [(2, 4, None, 3), (3, 3, "a", 4)], k0=kind)
        assert join(left.whole(), right.whole(), "inner", 1) == [(2, 2, None, 2, 3), (3, 1, "a", 1, 4)]
    other = make("_ts _duration k0 right", [])
    with pytest.raises(
        ValueError, match=r"^partition column `k0` is Dictionary\(Int8, Utf8\), but Int64 in the right input$"
    ):
        join(left.whole(), other.whole(), "inner", 1)


def test_wrong_columns_are_refused() -> None:
    table = make("_ts _duration left", []).whole()
    with pytest.raises(ValueError, match=r"^right input has 1 columns, expected at least 2$"):
        join(table, make("_ts", []).whole(), "inner", 0)
    with pytest.raises(ValueError, match=r"^`_ts` of the right input is Utf8, expected Int64$"):
        join(table, make("_ts _duration right", [], _ts=pa.string()).whole(), "inner", 0)
    with pytest.raises(ValueError, match=r"^3 names given for 4 output columns$"):
        kernels.span_join(table, table, how="inner", partitions=0, names=["_ts", "_duration", "x"])


PAYLOADS: list[tuple[pa.DataType, list[Any]]] = [
    (pa.string_view(), ["a", "a text that is longer than twelve bytes", None]),
    (pa.dictionary(pa.int8(), pa.string()), ["a", None, "b"]),
    (pa.list_(pa.int64()), [[1, 2], None, []]),
    (pa.struct([("x", pa.int8()), ("y", pa.string())]), [{"x": 1, "y": "z"}, None, {"x": None, "y": ""}]),
    (pa.map_(pa.string(), pa.int8()), [[("a", 1)], None, []]),
    (pa.decimal128(20, 3), [None, decimal.Decimal("1.500"), None]),
    (pa.bool_(), [True, None, False]),
    (pa.null(), [None, None, None]),
]


@pytest.mark.parametrize(("kind", "values"), PAYLOADS, ids=lambda value: str(value)[:30])
@pytest.mark.parametrize("cuts", [(), (1, 2, 2)])
def test_payload_of_any_type(kind: pa.DataType, values: list[Any], cuts: tuple[int, ...]) -> None:
    made = make("_ts _duration left", [(10 * n, 10, value) for n, value in enumerate(values)], left=kind)
    right = make("_ts _duration right", [(5, 30, 1)]).whole()
    found = join(Table(made.fields, made.rows, cuts).cut(), right, "outer", 0)
    shown = [row[2] for row in found]
    assert shown == [values[0], values[0], values[1], values[2], None]


def test_setting_cancel_ends_the_stream() -> None:
    cancel = kernels.Cancel()
    schema = make("_ts _duration left", []).whole().schema

    def batches() -> Any:
        for number in range(10):
            if number == 5:
                cancel.set()
            yield pa.record_batch([[number], [1], [number]], schema=schema)
        message = "the stream was read to its end"
        raise AssertionError(message)

    left = pa.RecordBatchReader.from_batches(schema, batches())
    right = make("_ts _duration right", [(0, 10, 1)]).whole()
    stream = kernels.span_join(left, right, how="inner", partitions=0, names=names(0), cancel=cancel)
    with pytest.raises(pa.ArrowInvalid, match=r"interrupted$"):
        rows(stream)
    assert cancel.is_set()


def test_an_input_that_fails_is_reported_in_its_words() -> None:
    bad = make("_ts _duration k0 left", BAD[0][0]).whole()
    good = make("_ts _duration k0 right", [(0, 100, 3, 0)]).whole()
    first = kernels.span_join(bad, good, how="inner", partitions=1, names=names(1))
    last = ["_ts", "_duration", "k0", "a", "b", "c"]
    with pytest.raises(pa.ArrowInvalid) as caught:
        rows(kernels.span_join(first, good, how="inner", partitions=1, names=last))
    assert str(caught.value) == f"Invalid argument error: {BAD[0][1]}"
