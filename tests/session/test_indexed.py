"""A trace read whole, by its column store and by chunks gives the same answers, and what has changed is noticed."""

from __future__ import annotations

import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from dctv.contracts.reader import TraceTable
from dctv.errors import DctvError, IndexFailed, TraceError, UsageError
from dctv.index.build import IndexSettings
from dctv.index.mounting import When
from dctv.index.request import IndexRequest
from dctv.run import timelines
from dctv.session import Session

NAMES = ("read", "write", "open64", "close")


def write_trace(folder: Path, files: int = 4, events: int = 240) -> Path:
    """Write a trace of one process per file, whose last events come before some of the first of the next one."""
    folder.mkdir(exist_ok=True)
    for pid in range(files):
        lines = ["["]
        for number in range(7):
            definition = {"name": "FH", "cat": "dftracer", "pid": pid, "tid": pid, "ph": "M"}
            lines.append(
                json.dumps({**definition, "args": {"name": f"/data/{pid}/{number}.npz", "value": f"{number:016x}"}})
            )
        for i in range(events):
            name = NAMES[i % 4] if i % 60 else f"only_{pid}"
            args = {"fhash": f"{i % 7:016x}", "size": i * 100 + pid} if i % 3 else {"hint": f"n{i % 5}"}
            event = {"id": i, "name": name, "cat": "POSIX" if i % 5 else "STDIO", "pid": pid, "tid": pid + i % 2}
            lines.append(
                json.dumps({**event, "ts": 1000 + pid * 2000 + i * 10, "dur": i % 13, "ph": "X", "args": args})
            )
        (folder / f"app-{pid}.pfw.gz").write_bytes(gzip.compress("\n".join(lines).encode() + b"\n]\n"))
    return folder


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_trace(tmp_path_factory.mktemp("traces") / "run")


def indexed(trace: Path, index_dir: Path, *, store: bool = True) -> Path:
    """Index a trace."""
    with Session(index_dir=index_dir) as session:
        session.index(str(trace), IndexRequest(IndexSettings(store=store)))
    return index_dir


@pytest.fixture(scope="module")
def sessions(trace: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Session]]:
    root = tmp_path_factory.mktemp("indexes")
    made = {
        "whole": Session(index=False),
        "store": Session(index_dir=indexed(trace, root / "store")),
        "chunks": Session(index_dir=indexed(trace, root / "chunks", store=False)),
    }
    for session in made.values():
        session.mount(str(trace), "t")
        assert session.warnings() == []
    yield made
    for session in made.values():
        session.close()


QUERIES = [
    "SELECT * FROM t.raw_events.read",
    "SELECT * FROM t.raw_events.only_2",
    "SELECT * FROM t.raw_events.write WHERE pid = 3 AND _ts > 7ms",
    "SELECT _ts, size FROM t.raw_events.read WHERE fname = '/data/1/3.npz'",
    "SELECT _ts, fname FROM t.raw_events.read WHERE fname = '/nowhere'",
    "SELECT COUNT(*), SUM(size) FROM t.raw_events.open64 WHERE NOT (pid = 1)",
    "SELECT * FROM t.events",
    "SELECT * FROM t.events WHERE name = 'only_3'",
    "SELECT _ts, name, args FROM t.events WHERE name LIKE 'only%' AND pid IN (1, 2)",
    "SELECT _ts, _duration, name, category, pid, tid FROM t.events WHERE _ts BETWEEN 1ms AND 2ms",
    "SELECT _ts, name FROM t.events WHERE _duration > 11us",
    "SELECT name, COUNT(*) AS n, SUM(_duration) AS d FROM t.events GROUP BY name ORDER BY n, name",
    "SELECT category, MIN(_ts), MAX(_ts) FROM t.events GROUP BY category",
    "SELECT a.name, b.name FROM t.events AS a JOIN t.events AS b ON a._ts = b._ts AND a.pid < b.pid",
    "SELECT json_extract_string(args, '$.hint') AS h, COUNT(*) FROM t.events WHERE name = 'read' GROUP BY h ORDER BY h",
    "SELECT _ts, lag(_ts) OVER (PARTITION BY pid, tid ORDER BY _ts) AS p FROM t.events WHERE name = 'close' LIMIT 9",
    "SELECT * FROM t.metadata",
    "SELECT * FROM t.files",
    "SELECT * FROM t.diagnostics",
    "SELECT * FROM t.properties",
    "SELECT * FROM t.last_ts",
    "SELECT * FROM t.quantize(1ms)",
    "DESCRIBE t.raw_events.read",
    "DESCRIBE t.events",
    "SHOW TABLES FROM t",
    "SELECT SPAN * FROM dctv.from_overlapping("
    "(SELECT _ts, dur AS _duration, pid FROM t.raw_events.read WHERE dur > 0ns), partition=>'pid')",
    "SELECT EVENT size FROM t.raw_events.read SPAN JOIN t.quantize(3ms) AS q WHERE read._ts > 2ms",
]


def outcome(session: Session, sql: str) -> tuple[object, ...]:
    result = session.sql(sql)
    columns = [(c.name, c.type, str(c.unit)) for c in result.schema.columns]
    return result.schema.describe(), columns, result.fetchall(), result.warnings


@pytest.mark.parametrize("sql", QUERIES)
def test_same_answers(sessions: dict[str, Session], sql: str) -> None:
    expected = outcome(sessions["whole"], sql)
    for how in ("store", "chunks"):
        assert outcome(sessions[how], sql) == expected, how


def lines_of(session: Session, sql: str) -> str:
    return "\n".join(row[0] for row in session.sql(sql).fetchall())


def test_explain_shows_the_sources_of_rows(sessions: dict[str, Session]) -> None:
    some = "EXPLAIN SELECT size FROM t.raw_events.write WHERE pid = 3"
    assert "store: " not in lines_of(sessions["whole"], some)
    store, chunks = (lines_of(sessions[how], some) for how in ("store", "chunks"))
    assert "store: 240 rows in " in store
    assert "index: " in store
    assert "thrown out:" in store
    assert "in 1 of 4 files" in store
    assert "from read_parquet(" in store
    assert "in 1 of 4 files" in chunks
    assert "from read_parquet(" not in chunks
    analyzed = lines_of(sessions["chunks"], some.replace("EXPLAIN", "EXPLAIN ANALYZE"))
    assert "B read from files" in analyzed
    assert "read from files" in lines_of(sessions["store"], some.replace("EXPLAIN", "EXPLAIN ANALYZE"))


def test_events_without_arguments_are_read_from_one_file(sessions: dict[str, Session]) -> None:
    flat = lines_of(sessions["store"], "EXPLAIN SELECT _ts, name FROM t.events WHERE _duration > 3us")
    assert "rows in events.parquet" in flat
    whole = lines_of(sessions["store"], "EXPLAIN SELECT args FROM t.events")
    assert "rows in 8 of 8 tables" in whole
    some = lines_of(sessions["store"], "EXPLAIN SELECT args FROM t.events WHERE name = 'only_1'")
    assert "store: 4 rows in 1 of 8 tables" in some


def test_chunks_of_all_scans_are_decoded_once(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from dctv.index.mounted import IndexedTrace

    asked: list[int] = []
    decoded = IndexedTrace._decoded

    def counted(self: IndexedTrace, positions: frozenset[int]) -> Mapping[str, TraceTable]:
        asked.append(len(positions))
        return decoded(self, positions)

    monkeypatch.setattr(IndexedTrace, "_decoded", counted)
    with Session(index_dir=indexed(trace, tmp_path, store=False)) as session:
        session.mount(str(trace), "t")
        sql = "SELECT a.size FROM t.raw_events.read AS a JOIN t.raw_events.write AS b ON a.size = b.size"
        session.sql(f"{sql} WHERE a.pid = 1 AND b.pid = 2").fetchall()
        assert len(asked) == 1
        assert asked[0] > 0
        session.sql("SELECT * FROM t.raw_events.read WHERE pid = 1 AND _ts < 3ms").fetchall()
        assert len(asked) == 1


@pytest.fixture
def own_trace(trace: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(trace, tmp_path / "own"))


def test_changed_files_are_noticed_where_chunks_are_read(own_trace: Path, tmp_path: Path) -> None:
    with Session(index_dir=indexed(own_trace, tmp_path / "i", store=False)) as session:
        session.mount(str(own_trace), "t")
        path = own_trace / "app-2.pfw.gz"
        with path.open("ab") as file:
            file.write(gzip.compress(b"\n"))
        assert len(session.sql("SELECT * FROM t.raw_events.only_1").fetchall()) == 4
        with pytest.raises(TraceError) as error:
            session.sql("SELECT * FROM t.raw_events.only_2").fetchall()
        assert error.value.message == f"`{path}` has changed since it was mounted"
        assert error.value.hint == "mount it again"
        path.unlink()
        with pytest.raises(TraceError, match="cannot read"):
            session.sql("SELECT * FROM t.raw_events.only_2").fetchall()


def test_a_mounted_store_is_stable(own_trace: Path, tmp_path: Path) -> None:
    with Session(index_dir=indexed(own_trace, tmp_path / "i")) as session:
        session.mount(str(own_trace), "t")
        before = session.sql("SELECT * FROM t.events").fetchall()
        shutil.rmtree(own_trace)
        assert session.sql("SELECT * FROM t.events").fetchall() == before


def test_a_damaged_stored_table_is_an_error(own_trace: Path, tmp_path: Path) -> None:
    with Session(index_dir=indexed(own_trace, tmp_path / "i")) as session:
        session.mount(str(own_trace), "t")
        for path in (tmp_path / "i").rglob("*.parquet"):
            data = bytearray(path.read_bytes())
            data[len(data) // 2] ^= 1
            path.write_bytes(data)
        with pytest.raises(DctvError, match="is damaged"):
            session.sql("SELECT * FROM t.raw_events.read").fetchall()


def test_a_changed_trace_is_read_without_its_index_with_a_warning(own_trace: Path, tmp_path: Path) -> None:
    indexed(own_trace, tmp_path / "i")
    write_trace(own_trace, events=250)
    with Session(index_dir=tmp_path / "i") as session:
        session.mount(str(own_trace), "t")
        assert [w for w in session.warnings() if "changed after it was indexed" in w] == session.warnings() != []
        assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(1000,)]


def test_a_damaged_index_is_reported_and_not_used(own_trace: Path, tmp_path: Path) -> None:
    indexed(own_trace, tmp_path / "i")
    (path,) = (tmp_path / "i").rglob("trace.idx")
    data = bytearray(path.read_bytes())
    data[5000] ^= 1
    path.write_bytes(data)
    with Session(index_dir=tmp_path / "i") as session:
        session.mount(str(own_trace), "t")
        assert len(session.warnings()) == 1
        assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(960,)]


def indexes(folder: Path) -> list[Path]:
    return list(folder.rglob("trace.idx"))


def test_small_traces_are_indexed_only_on_request(trace: Path, tmp_path: Path) -> None:
    choices: list[tuple[When, int]] = [(False, 0), ("auto", 0), (True, 1)]
    for when, count in choices:
        with Session(index=when, index_dir=tmp_path) as session:
            session.mount(str(trace), "t")
            assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(960,)]
        assert len(indexes(tmp_path)) == count, when


def test_large_traces_are_indexed_automatically(trace: Path, tmp_path: Path) -> None:
    with Session(index_dir=tmp_path, large=1000) as session:
        session.mount(str(trace), "t")
        assert "store: " in lines_of(session, "EXPLAIN SELECT size FROM t.raw_events.read")
    assert len(indexes(tmp_path)) == 1


def test_where_no_index_can_be_built(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with Session(index_dir=tmp_path / "file", large=1000) as session:
        session.mount(str(trace), "t")
        assert session.warnings()[-1].endswith("; the trace is read whole")
        assert session.sql("SELECT COUNT(*) FROM t.events").fetchall() == [(960,)]
    with Session(index=True, index_dir=tmp_path / "file") as session, pytest.raises(IndexFailed):
        session.mount(str(trace), "t")


def test_the_folder_of_indexes_is_taken_from_the_environment(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DCTV_INDEX_DIR", str(tmp_path))
    with Session(index=True) as session:
        session.mount(str(trace), "t")
    assert len(indexes(tmp_path)) == 1


def test_an_index_is_made_with_its_timeline(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session(index_dir=tmp_path) as session:
        session.mount(str(trace), "t")
        outcome = session.index(str(trace), timeline=True)
        rows = [track.rows for track in session.timeline("t").tracks if track.rows]
        assert outcome.timeline == (len(rows), sum(rows))
        assert session.index(str(trace)).timeline is None
        assert [one.name for one in session.mounts()] == ["t"]
        assert not session.tables("trace")
        with pytest.raises(UsageError, match="its own folder of indexes, found `elsewhere`"):
            session.index(str(trace), IndexRequest(index_dir=Path("elsewhere")), timeline=True)
    monkeypatch.setattr(timelines, "_indexed", None)
    with Session(index_dir=tmp_path) as session:
        assert session.index(str(trace), timeline=True).timeline == outcome.timeline
    with (
        Session(index=False, index_dir=tmp_path) as session,
        pytest.raises(UsageError, match="without indexes builds no timelines"),
    ):
        session.index(str(trace), timeline=True)


def test_a_check_keeps_its_rows_in_the_folder_for_them(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    indexed(trace, tmp_path / "idx")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "not there"))
    with Session(index_dir=tmp_path / "idx", temp_directory=tmp_path / "rows") as session:
        assert session.check_index(str(trace)) == []
    assert list((tmp_path / "rows").iterdir()) == []
    with Session(index_dir=tmp_path / "idx", temp_directory=tmp_path / "idx" / ".." / "file" / "x") as session:
        (tmp_path / "file").touch()
        with pytest.raises(UsageError, match="cannot make the folder"):
            session.check_index(str(trace))


def test_arrow_is_not_imported_for_what_the_engine_reads(trace: Path, tmp_path: Path) -> None:
    indexed(trace, tmp_path)
    program = """
import sys
from dctv.cli import main
code = main(sys.argv[1:])
print(sorted({"pyarrow", "numpy", "pandas", "rich"} & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""
    sql = """SELECT name, COUNT(*) FROM t.events WHERE _ts > 1ms GROUP BY name ORDER BY name LIMIT 1;
        SELECT fname, size FROM t.raw_events.read LIMIT 1; SHOW TABLES FROM t;
        SELECT EVENT size FROM t.raw_events.read SPAN JOIN t.quantize(3ms) AS q"""
    words = [sys.executable, "-c", program, "query", "--index-dir", str(tmp_path), sql, f"t={trace}"]
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root})
    assert (done.returncode, done.stderr) == (0, "[]\n")
