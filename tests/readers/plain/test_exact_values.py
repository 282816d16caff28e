"""Values of plain tables are what the file says: numbers of any size, times in zones, names, and rows that are lost."""

from __future__ import annotations

import gzip
import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import TraceError
from dctv.session import Session
from tests.bounds import bounded


@pytest.fixture(params=["UTC", "America/New_York"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", request.param)
        time.tzset()
        yield
    time.tzset()


def rows(path: Path, table: str = "t.x", **options: object) -> list[dict[str, Any]]:
    with Session(index=False) as session:
        session.mount(str(path), "t", **options)
        found: list[dict[str, Any]] = session.sql(f"SELECT * FROM {table}").arrow().to_pylist()
        return found


def reasons(path: Path, **options: object) -> dict[str, int]:
    with Session(index=False) as session:
        session.mount(str(path), "t", **options)
        found = session.sql("SELECT reason, count FROM t.diagnostics").arrow().to_pylist()
        return {row["reason"]: row["count"] for row in found}


def written(path: Path, text: str) -> Path:
    path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ("9007199254740993 -9223372036854775808", [9007199254740993, -9223372036854775808]),
        ("18446744073709551615 1", [18446744073709551615, 1]),
        ("18446744073709551615 -1", ["18446744073709551615", "-1"]),
        ("123456789012345678901234567890 5", ["123456789012345678901234567890", "5"]),
        ("1.5 2", [1.5, 2.0]),
        ("true null false", [True, None, False]),
    ],
)
@pytest.mark.parametrize("kind", ["csv", "jsonl"])
def test_numbers_of_any_size(kind: str, values: str, expected: list[object], tmp_path: Path) -> None:
    if kind == "csv":
        text = "a,b\n" + "".join(f"{'' if value == 'null' else value},x\n" for value in values.split())
    else:
        text = "".join(f'{{"a": {value}, "b": "x"}}\n' for value in values.split())
    assert [row["a"] for row in rows(written(tmp_path / f"x.{kind}", text))] == expected


def test_large_whole_numbers_beside_fractions_in_a_database(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "x.db")) as database:
        database.execute("CREATE TABLE x (a)")
        database.executemany("INSERT INTO x VALUES (?)", [(9007199254740993,), (1.5,), (None,)])
        database.commit()
    assert [row["a"] for row in rows(tmp_path / "x.db")] == [9007199254740992.0, 1.5, None]


def test_codes_in_csv_stay_texts(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "a,b,c\n1_000,nan,0x10\n2_000,Infinity,7\n")
    assert [(row["a"], row["c"]) for row in rows(path)] == [("1_000", "0x10"), ("2_000", "7")]
    assert rows(path)[1]["b"] == float("inf")


SCALARS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(1 << 70), 1 << 70),
    st.floats(allow_nan=False, width=64),
    st.text(max_size=5),
)
VALUES = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
)
NAMES = st.text(min_size=1, max_size=4).filter(lambda name: "\0" not in name and name == name.lower() and name != "_ts")


@given(objects=st.lists(st.dictionaries(NAMES, VALUES, min_size=1, max_size=4), min_size=1, max_size=6))
@bounded(60)
def test_json_lines_are_what_json_says(objects: list[dict[str, Any]], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("json") / "x.jsonl"
    path.write_text("".join(json.dumps(one) + "\n" for one in objects))
    with Session(index=False) as session:
        session.mount(str(path), "t")
        schema = session.columns("t.x")
        assert schema is not None
        kinds = {column.name: str(column.type) for column in schema.columns}
        found = session.sql("SELECT * FROM t.x")
        for one, row in zip(objects, found.arrow().to_pylist(), strict=True):
            for name, value in row.items():
                expected = one.get(name)
                is_json = kinds[name] == "JSON" and value is not None
                assert (json.loads(value) if is_json else value) == _shown(expected, value)


def _shown(expected: object, value: object) -> object:
    """Whole numbers are rounded beside fractions, and texts where some have more than 64 bits."""
    if isinstance(expected, int) and not isinstance(expected, bool):
        return float(expected) if isinstance(value, float) else str(expected) if isinstance(value, str) else expected
    return expected


def test_texts_of_json_lines_are_not_rewritten(tmp_path: Path) -> None:
    values = ["2024-01-02T00:00:00.123456789Z", "2024-01-02T00:00:00Z"]
    more = ["01-02-2024", "03-02-2024"]
    text = "".join(
        json.dumps({"a": a, "b": b, "c": {"x": a, "y": 1, "Y": 2}}) + "\n" for a, b in zip(values, more, strict=True)
    )
    found = rows(written(tmp_path / "x.jsonl", text))
    assert [(row["a"], row["b"]) for row in found] == list(zip(values, more, strict=True))
    assert json.loads(found[0]["c"]) == {"x": values[0], "y": 1, "Y": 2}


def test_odd_names_of_json_members(tmp_path: Path) -> None:
    text = json.dumps({"a b": 1, "": 2, "A": 3, "a": 4, "x/y~z": 5, 'q"': 6, "_ts": 7}) + "\n"
    found = rows(written(tmp_path / "x.jsonl", text), "t.raw_events.x")
    assert found == [{"_ts": 0, "a b": 1, "_": 2, "A": 3, "a_1": 4, "x/y~z": 5, 'q"': 6}]


def test_many_members_of_json_lines(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonl", "".join(f'{{"k{n}": {n}}}\n' for n in range(300)))
    assert rows(path)[299]["k299"] == 299
    path = written(tmp_path / "x.jsonl", "".join(f'{{"k{n}": {n}}}\n' for n in range(1001)))
    assert rows(path)[1000] == {"json": '{"k1000": 1000}'}
    assert reasons(path) == {"objects have more than 1000 different members, read as one column": 1}


def test_members_that_occur_twice_in_json_lines_are_counted(tmp_path: Path) -> None:
    path = written(
        tmp_path / "x.jsonl", '{"a": 1, "a": 2, "b": null, "b": 1}\n{"a": null}\n{"A": 3, "c": {"d": 1, "d": 2}}\n'
    )
    assert [row["a"] for row in rows(path)] == [1, None, None]
    assert reasons(path) == {"member of an object is given twice, the first one is taken": 2}


def test_zeros_in_members_of_json_lines_are_replaced(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonl", '{"a\\u0000": {"b\\u0000": 1}}\n{"a\\u0000": null, "a\\ufffd": 2}\n')
    first = {"a\ufffd": '{"b\\u0000":1}', "a\ufffd_1": None}
    assert rows(path) == [first, {"a\ufffd": None, "a\ufffd_1": 2}]


def test_half_of_a_surrogate_pair_is_no_json(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonl", '{"a": "\\ud83d\\ude00"}\n{"a": "/x/\\udce9y"}\n{"a": "b"}\n')
    assert rows(path) == [{"a": "\U0001f600"}, {"a": "b"}]
    assert reasons(path) == {"line is not JSON": 1}


def test_lines_that_are_no_objects_are_counted_and_not_shown(tmp_path: Path) -> None:
    path = written(tmp_path / "x.jsonl", '{"ts": 1}\n{"ts": 2}\n[3]\n4\nno\n{"ts": 5}\n{"ts": 6}\n{"ts": 7}\n')
    assert reasons(path, timestamp="ts") == {"line is not JSON": 1, "line is not an object": 2}
    assert len(rows(path, "t.events", timestamp="ts")) == 5


TIMES = [
    ("2024-01-01T00:00:00Z", 0),
    ("2024-01-01 00:00:00", 0),
    ("2024-01-01T02:00:00.000000001+02:00", 1),
    ("2024-01-01T00:00:00.000000002", 2),
    ("2023-12-31T16:00:00.123456789-08:00", 123456789),
    ("2024-01-01T05:30:00.999999999+0530", 999999999),
]


@pytest.mark.parametrize("kind", ["csv", "jsonl"])
@pytest.mark.usefixtures("zone")
def test_texts_of_times_with_zones(kind: str, tmp_path: Path) -> None:
    if kind == "csv":
        text = "ts,k\n" + "".join(f"{one},{expected}\n" for one, expected in TIMES)
    else:
        text = "".join(json.dumps({"ts": one, "k": expected}) + "\n" for one, expected in TIMES)
    found = rows(written(tmp_path / f"x.{kind}", text), "t.raw_events.x", timestamp="ts")
    assert [row["_ts"] for row in found] == [row["k"] for row in found]
    assert len(found) == len(TIMES)


@pytest.mark.usefixtures("zone")
def test_times_with_zones_do_not_depend_on_the_machine(tmp_path: Path) -> None:
    summer = 182 * 86_400 * 10**6
    table = pa.table({"ts": pa.array([0, summer], pa.timestamp("us", "Europe/Berlin")), "k": [0, 1]})
    pq.write_table(table, tmp_path / "x.parquet")
    found = rows(tmp_path / "x.parquet", "t.raw_events.x", timestamp="ts")
    assert [row["_ts"] for row in found] == [0, summer * 1000]


@pytest.mark.parametrize("kind", ["parquet", "arrow"])
def test_durations_have_their_own_unit(kind: str, tmp_path: Path) -> None:
    path = tmp_path / f"x.{kind}"
    table = pa.table(
        {
            "ts": pa.array([1, 2], pa.int64()),
            "took": pa.array([timedelta(microseconds=1), timedelta(seconds=1)], pa.duration("us")),
            "exact": pa.array([1, 1500], pa.duration("ns")),
        }
    )
    if kind == "parquet":
        pq.write_table(table, path)
    else:
        with pa.ipc.new_file(str(path), table.schema) as file:
            file.write_table(table)
    found = rows(path, "t.raw_events.x", timestamp="ts", duration="took", unit="ms")
    assert [(row["_ts"], row["dur"], row["exact"]) for row in found] == [(0, 1000, 1), (10**6, 10**9, 1500)]


def test_types_of_arrow_that_the_engine_lacks(tmp_path: Path) -> None:
    digits = "-99999999999999999999999999999999999999999.99"
    table = pa.table(
        {
            "half": pa.array([1.5, None], pa.float16()),
            "wide": pa.array([Decimal(digits), Decimal("1.10")], pa.decimal256(50, 2)),
        }
    )
    with pa.ipc.new_stream(str(tmp_path / "x.arrows"), table.schema) as file:
        file.write_table(table)
    assert rows(tmp_path / "x.arrows") == [{"half": 1.5, "wide": digits}, {"half": None, "wide": "1.10"}]


NUMBERS = [(row, "x") for row in range(3000)]
SEVERAL_ENDS: list[tuple[str, list[tuple[int, Any]], dict[str, int]]] = [
    ("a,b\r\n1,x\r\n2,007\n3,\r\n", [(1, "x"), (2, "007"), (3, None)], {}),
    ("a,b\r\n1,x\n2,y\n", [(1, "x"), (2, "y")], {}),
    ("a,b\n1,x\r2,y\n", [(1, "x"), (2, "y")], {}),
    ('a,b\r\n1,"x"\r\n2,"y"\n', [(1, "x"), (2, "y")], {}),
    ('a,b\n1,"x\r\ny"\n2,"y"z\n', [(1, "x\r\ny")], {"quotes of a row do not match": 1}),
    ('a,b\r\n1,"x\r\ny"\n\r\n2,"p""q\n,"\n3,""\n', [(1, "x\r\ny"), (2, 'p"q\n,'), (3, None)], {}),
    ("a,b\n" + "".join(f"{row},x\n" for row, _ in NUMBERS) + "3000,x\r\n", [*NUMBERS, (3000, "x")], {}),
    (
        "a,b\r\n1,x\n2\n3,y,z\r\n4,w\r\n5,v\r\n",
        [(1, "x"), (4, "w"), (5, "v")],
        {"row has other columns than the header": 2},
    ),
]
"""Texts of CSV whose lines end in several ways, their rows, and what is lost."""


@pytest.mark.parametrize(
    ("text", "found", "lost"),
    [
        ("a,b\r1,x\r2,y\r", [(1, "x"), (2, "y")], {}),
        ('a,b\r\n1,"x\r\ny"\r\n2,z\r\n', [(1, "x\r\ny"), (2, "z")], {}),
        ("a,b\n1,x\u2028y\n2,z\x0c\n", [(1, "x\u2028y"), (2, "z\x0c")], {}),
        ('a,b\n1,x"y\n2,"x"y\n3,z\n4,w\n', [(1, 'x"y'), (3, "z"), (4, "w")], {"quotes of a row do not match": 1}),
        ('a,b\n1,x\n2,w\n3,"y\n4,z\n', [(1, "x"), (2, "w")], {"quotes of a row do not match": 1}),
        (f"a,b\n1,x\n2,{'y' * 2_100_000}\n3,z\n", [(1, "x"), (3, "z")], {"row is longer than 2 MB": 1}),
        *SEVERAL_ENDS,
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_ends_of_lines_and_quotes_of_csv(
    text: str, found: list[tuple[int, str]], lost: dict[str, int], *, packed: bool, tmp_path: Path
) -> None:
    path = tmp_path / ("x.csv.gz" if packed else "x.csv")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    assert [(row["a"], row["b"]) for row in rows(path)] == found
    assert reasons(path) == lost


def test_damage_in_csv_whose_lines_end_in_several_ways(tmp_path: Path) -> None:
    (tmp_path / "x.csv").write_bytes(b"a,b\r\n1,x\n2,\xff\n")
    with pytest.raises(TraceError, match=r"cannot read `.*x\.csv`, whose lines end in several ways: "):
        rows(tmp_path / "x.csv")


def test_a_column_of_row_numbers_may_have_no_name(tmp_path: Path) -> None:
    assert rows(written(tmp_path / "x.csv", ",a,A\n0,1,2\n")) == [{"_": 0, "a": 1, "A_1": 2}]


def test_durations_that_are_no_numbers_are_counted(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "ts,took\n1,2\n2,soon\n3,\n4,-1\n5,inf\n")
    assert reasons(path, timestamp="ts", duration="took") == {
        "duration of a row of x is not a number, read as NULL": 2,
        "duration of a row of x is negative or too long, read as NULL": 1,
    }


@pytest.mark.parametrize(("name", "text"), [("x.csv", "a,b\n1,2\n"), ("x.jsonl", '{"a": 1, "b": 2}\n')])
def test_packed_files_are_known_by_their_content(name: str, text: str, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(gzip.compress(text.encode()))
    assert rows(tmp_path / name) == [{"a": 1, "b": 2}]
    (tmp_path / f"{name}.gz").write_bytes(text.encode())
    assert rows(tmp_path / f"{name}.gz") == [{"a": 1, "b": 2}]


@pytest.mark.parametrize(("ending", "text"), [("csv", "ts,b\n1,2\n"), ("jsonl", '{"ts": 1}\n')])
def test_empty_files_of_a_folder_are_counted(ending: str, text: str, tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        written(tmp_path / f"{name}.{ending}", "" if name == "b" else text)
    assert reasons(tmp_path, timestamp="ts") == {"file is empty": 1}
    assert len(rows(tmp_path, "t.events", timestamp="ts")) == 2


def test_members_of_several_types_that_options_name(tmp_path: Path) -> None:
    values = [("5", 1), (6, "x"), ("2024-01-01T00:00:00Z", 2), (7.5, None), (True, 3)]
    path = written(tmp_path / "x.jsonl", "".join(json.dumps({"ts": ts, "n": n, "k": n}) + "\n" for ts, n in values))
    found = rows(path, "t.events", timestamp="ts", name="n")
    shown = [(row["_ts"], row["name"], row["args"]) for row in found]
    assert shown == [
        (0, "1", '{"k":1}'),
        (1, "x", '{"k":"x"}'),
        (3, None, "{}"),
        (1704067200 * 10**9 - 5, "2", '{"k":2}'),
    ]
    rounded = "time of a row of x has a fraction of a ns, rounded"
    assert reasons(path, timestamp="ts", name="n") == {"row of x has no time": 1, rounded: 1}


@pytest.mark.parametrize("name", ["x.csv", "x.jsonl"])
def test_times_with_fractions_need_a_unit(name: str, tmp_path: Path) -> None:
    lines = {"x.csv": "ts,n\n0.5,1\n2.25,2\n", "x.jsonl": '{"ts":0.5,"n":1}\n{"ts":2.25,"n":2}\n'}
    path = written(tmp_path / name, lines[name])
    with pytest.raises(TraceError, match="times in `ts` have fractions, and no unit") as raised:
        rows(path, "t.events", timestamp="ts")
    assert raised.value.hint == "name it: WITH (unit => 's'), or 'ms', 'us' or 'ns'"
    assert [row["_ts"] for row in rows(path, "t.events", timestamp="ts", unit="us")] == [0, 1750]
    assert [row["_ts"] for row in rows(path, "t.events", timestamp="ts", unit="ns")] == [0, 1]


def test_threads_that_are_not_whole_numbers_stay_among_the_arguments(tmp_path: Path) -> None:
    path = written(tmp_path / "x.csv", "ts,who,p\n1,main,1\n2,io,2\n")
    found = rows(path, "t.events", timestamp="ts", tid="who", pid="p")
    assert [(row["pid"], row["tid"], row["args"]) for row in found] == [
        (1, None, '{"who":"main"}'),
        (2, None, '{"who":"io"}'),
    ]
    reason = "column who of x is not BIGINT, so tid is NULL"
    assert reasons(path, timestamp="ts", tid="who", pid="p") == {reason: 1}
