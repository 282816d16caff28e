"""Plain tables as traces: times in units, partitions, types, what is counted, and damaged files."""

from __future__ import annotations

import gzip
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Literal

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.contracts.reader import Reader
from dctv.errors import DctvError
from dctv.readers import arrow, csv, json_lines, parquet, sqlite
from dctv.session import Session
from tests.bounds import bounded
from tests.damage import flipped, survives, truncated

ROWS = [(1.5, 0, "a", 7), (2.25, 1, "b", 8), (1.75, 0, "c", None)]

TABLE = pa.table(
    {
        "time": pa.array([row[0] for row in ROWS], pa.float64()),
        "cpu": pa.array([row[1] for row in ROWS], pa.int64()),
        "what": pa.array([row[2] for row in ROWS], pa.string()),
        "size": pa.array([row[3] for row in ROWS], pa.int64()),
    }
)


def as_csv(path: Path) -> Path:
    lines = ["time,cpu,what,size", *(",".join("" if v is None else str(v) for v in row) for row in ROWS)]
    (path / "x.csv").write_text("\n".join(lines) + "\n")
    return path / "x.csv"


def as_packed_tsv(path: Path) -> Path:
    lines = ["time\tcpu\twhat\tsize", *("\t".join("" if v is None else str(v) for v in row) for row in ROWS)]
    (path / "x.tsv.gz").write_bytes(gzip.compress("\n".join(lines).encode()))
    return path / "x.tsv.gz"


def as_lines(path: Path) -> Path:
    texts = [
        f'{{"time": {t}, "cpu": {c}, "what": "{w}"{"" if s is None else f", {chr(34)}size{chr(34)}: {s}"}}}\n'
        for t, c, w, s in ROWS
    ]
    (path / "x.jsonl").write_text("".join(texts))
    return path / "x.jsonl"


def as_parquet(path: Path) -> Path:
    pq.write_table(TABLE, path / "x.parquet")
    return path / "x.parquet"


def as_arrow(path: Path) -> Path:
    with pa.ipc.new_file(str(path / "x.arrow"), TABLE.schema) as file:
        file.write_table(TABLE)
    return path / "x.arrow"


def as_stream(path: Path) -> Path:
    with pa.ipc.new_stream(str(path / "x.arrows"), TABLE.schema) as file:
        file.write_table(TABLE)
    return path / "x.arrows"


def as_database(path: Path) -> Path:
    with closing(sqlite3.connect(path / "x.db")) as database:
        database.execute("CREATE TABLE x (time REAL, cpu INTEGER, what TEXT, size INTEGER)")
        database.executemany("INSERT INTO x VALUES (?, ?, ?, ?)", ROWS)
        database.commit()
    return path / "x.db"


WRITERS = [as_csv, as_packed_tsv, as_lines, as_parquet, as_arrow, as_stream, as_database]


@pytest.mark.parametrize("index", [False, True])
@pytest.mark.parametrize("write", WRITERS)
def test_the_same_rows_come_out_of_every_format(
    write: Callable[[Path], Path], index: Literal[True, False], tmp_path: Path
) -> None:
    with Session(index=index, index_dir=tmp_path / "index") as session:
        path = write(tmp_path)
        session.sql(f"MOUNT TRACE '{path}' AS t WITH (timestamp=>'time', unit=>'ms', partition=>'cpu', name=>'what')")
        schema = session.columns("t.raw_events.x")
        assert schema is not None
        assert schema.describe() == "event table partitioned by cpu"
        assert session.sql("SELECT * FROM t.raw_events.x").arrow().to_pylist() == [
            {"_ts": 0, "cpu": 0, "what": "a", "size": 7},
            {"_ts": 250_000, "cpu": 0, "what": "c", "size": None},
            {"_ts": 750_000, "cpu": 1, "what": "b", "size": 8},
        ]
        names = session.sql("SELECT name, args FROM t.events").arrow().to_pylist()
        assert names[0] == {"name": "a", "args": '{"cpu":0,"size":7}'}
        assert session.sql("SELECT value FROM t.properties WHERE key = 'start_ns'").arrow().to_pylist() == [
            {"value": "1500000"}
        ]


def test_a_table_without_times_is_regular(tmp_path: Path) -> None:
    with Session() as session:
        session.mount(str(as_csv(tmp_path)), "t")
        schema = session.columns("t.x")
        assert schema is not None
        assert schema.describe() == "regular table"
        assert session.sql("SELECT what FROM t.x WHERE size = 8").arrow().to_pylist() == [{"what": "b"}]


@pytest.mark.parametrize(
    ("text", "columns", "rows", "reasons"),
    [
        ("a,b\n1,2\nbad\n3,4\n", ["a", "b"], 2, ["row has other columns than the header"]),
        ("a;b\n1,5;2\n7\n1,2,3,4,5;3\n", ["a", "b"], 2, ["row has other columns than the header"]),
        (b"a,b\n1,\xff\n3,4\n", ["a", "b"], 1, ["row is not UTF-8"]),
        ("pid\n5\n7\n", ["pid"], 2, []),
        ("a,nan\n1,2\n", ["a", "nan"], 1, []),
    ],
)
def test_csv_by_its_name(text: str | bytes, columns: list[str], rows: int, reasons: list[str], tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    with Session(index=False) as session:
        session.mount(str(path), "t")
        result = session.sql("SELECT * FROM t.x")
        assert (list(result.schema.names), len(result.fetchall())) == (columns, rows)
        assert session.sql("SELECT reason FROM t.diagnostics").fetchall() == [(reason,) for reason in reasons]


def test_headers_that_are_none(tmp_path: Path) -> None:
    for text, words in (("a,a\n1,2\n", "has the name `a` twice"), ("1,2\n3,4\n", "has no header of columns")):
        path = tmp_path / "x.csv"
        path.write_text(text)
        with Session(index=False) as session, pytest.raises(DctvError, match=words):
            session.mount(str(path), "t", format="csv")


def test_times_as_dates_and_durations(tmp_path: Path) -> None:
    path = tmp_path / "d.csv"
    path.write_text("when,took\n2026-01-01 00:00:00.5,3\n2026-01-01 00:00:01,4\n")
    with Session() as session:
        session.mount(str(path), "t", timestamp="when", duration="took", unit="us")
        rows = session.sql("SELECT _ts, _duration FROM t.events").arrow().to_pylist()
        assert rows == [{"_ts": 0, "_duration": 3000}, {"_ts": 500_000_000, "_duration": 4000}]
        assert session.sql("SELECT * FROM t.last_ts").arrow().to_pylist() == [{"_ts": 500_004_000}]


def test_decimal_digits_of_times_are_exact(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("ts,x\n1754000000.123456789,a\n1754000000.123456790,b\n")
    with Session() as session:
        session.mount(str(path), "t", timestamp="ts", unit="s")
        assert [row["_ts"] for row in session.sql("SELECT _ts FROM t.events").arrow().to_pylist()] == [0, 1]


def test_unsupported_values_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text("ts,x\n1,a\nsoon,b\n3,c,d\n4,e\n")
    lines = tmp_path / "bad.jsonl"
    lines.write_text('{"ts": 1}\nnonsense\n{"ts": 2}\n')
    with Session() as session:
        session.mount(str(path), "c", timestamp="ts")
        session.mount(str(lines), "l", timestamp="ts")
        found = session.sql("SELECT reason, count FROM c.diagnostics").arrow().to_pylist()
        assert found == [
            {"reason": "row of bad has no time", "count": 1},
            {"reason": "row has other columns than the header", "count": 1},
        ]
        found = session.sql("SELECT reason, count FROM l.diagnostics").arrow().to_pylist()
        assert {"reason": "line is not JSON", "count": 1} in found


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"timestamp": "tine"}, "found no column `tine` for the times"),
        ({"timestamp": "time", "unit": "m"}, "found the unit `m`, expected a unit of time: 'ns', 'us', 'ms', 's'"),
        ({"timestamp": "time", "partition": "cpus"}, "found no column `cpus` in `x`"),
        ({"table": "y"}, "found no table `y`"),
    ],
)
def test_wrong_options_are_reported(options: dict[str, str], words: str, tmp_path: Path) -> None:
    with Session() as session, pytest.raises(DctvError) as caught:
        session.mount(str(as_database(tmp_path)), "t", **options)
    assert caught.value.message == words


READERS: dict[Callable[[Path], Path], Reader] = {
    as_csv: csv.READER,
    as_lines: json_lines.READER,
    as_parquet: parquet.READER,
    as_arrow: arrow.READER,
    as_database: sqlite.READER,
}


@pytest.mark.parametrize("write", [as_csv, as_parquet, as_arrow, as_database])
def test_files_that_end_early(write: Callable[[Path], Path], tmp_path: Path) -> None:
    data = write(tmp_path).read_bytes()
    for part in truncated(data, max(1, len(data) // 40)):
        survives(READERS[write], tmp_path / "damaged", part)


@given(
    write=st.sampled_from(list(READERS)),
    places=st.lists(st.tuples(st.integers(0, 1 << 16), st.integers(0, 255)), min_size=1, max_size=8),
)
@bounded(60)
def test_files_with_flipped_bytes(
    write: Callable[[Path], Path], places: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("flipped")
    survives(READERS[write], folder / "damaged", flipped(write(folder).read_bytes(), *places))


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("name", "text", "reason", "incomplete"),
    [
        ("t.csv", "a,b\n1,2\n3,4\n", None, False),
        ("t.csv", "a,b\n1,2\n3", "file ends in the middle of a line", True),
        ("t.csv", "a,b\n1,2\n3,4", "last line has no end, its last field may be cut", False),
        ("t.jsonl", '{"a":1}\n{"a":2}', None, False),
        ("t.jsonl", '{"a":1}\n{"a":2}\n{"a":', "file ends in the middle of a line", True),
        ("t.jsonl", '{"a":1}\nno\nno\nno\n', "most lines could not be read", True),
        ("t.csv", "a,b\n1,2\n" + "3\n" * 5, "most lines could not be read", True),
    ],
)
def test_truncated_text(
    name: str, text: str, reason: str | None, *, packed: bool, incomplete: bool, tmp_path: Path
) -> None:
    """G4 and F8: text that was cut, or of which most cannot be read, mounted as whole."""
    path = tmp_path / (f"{name}.gz" if packed else name)
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with Session(index=False) as session:
        session.mount(str(path), "t")
        found = session.sql("SELECT reason FROM t.diagnostics").arrow().column(0).to_pylist()
        assert (reason is None and not found) or reason in found
        assert bool(session.incomplete()) == incomplete
