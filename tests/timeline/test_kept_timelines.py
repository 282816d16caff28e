"""Timelines in files: the same cells as from memory; damaged ones are reported, and rebuilt."""

from __future__ import annotations

import shutil
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import FileDamaged, FileOfAnother
from dctv.run import timelines
from dctv.run.library_version import version_of
from dctv.session import Session
from dctv.timeline import stored
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline
from tests.bounds import bounded
from tests.timeline.rows import Row, indexed
from tests.timeline.test_timeline import some_rows

DATA = Path(__file__).parents[1] / "data"
LAST = 2**63 - 1
RUNNING = "SELECT SPAN pid AS tid, comm FROM t.scheduler.timeslices_p_cpu"
SOME = [
    Row(0, 5, ("a", "b")),
    Row(3, 1, ("a", "b"), name=None),
    Row(0, 3, ("s",), "states", "running"),
    Row(3, 3, ("s",), "states", "sleeping"),
    Row(1, 2, ("c",), "counter", None, value=1.5, unit="B", ranks=(3,)),
    Row(2, 0, ("i",), "instants", "mark"),
]


def look(timeline: Timeline) -> tuple[object, ...]:
    """Return all tracks, and all cells from near and far."""
    ids = range(len(timeline.tracks))
    cells = [timeline.cells(ids, -LAST, LAST, step).to_pylist() for step in (1, 8, 1 << 40)]
    return timeline.tracks, cells


@bounded(40)
@given(st.lists(some_rows(), max_size=2))
def test_a_file_has_what_was_written(tmp_path_factory: pytest.TempPathFactory, sources: list[list[Row]]) -> None:
    made = [indexed(rows, source=str(number)) for number, rows in enumerate(sources)]
    path = tmp_path_factory.mktemp("timeline") / "file"
    write(path, b"me", made)
    assert look(Timeline(read(path, b"me"))) == look(Timeline(made))
    with pytest.raises(FileExistsError):
        write(path, b"me", made)


def test_a_file_of_another(tmp_path: Path) -> None:
    write(tmp_path / "file", b"me", [indexed(SOME)])
    with pytest.raises(FileOfAnother, match="is of another trace"):
        read(tmp_path / "file", b"you")


def test_files_that_are_none(tmp_path: Path) -> None:
    path = tmp_path / "file"
    write(path, b"me", [indexed(SOME)])
    whole = path.read_bytes()
    for size in (0, 1, 31, 32, len(whole) // 2, len(whole) - 1):
        path.write_bytes(whole[:size])
        with pytest.raises(FileDamaged, match="is damaged"):
            read(path, b"me")
    # Where arrays are is told by the directory, and bytes of arrays by the checksum beside the file.
    begin = whole.index(b'{"version"')
    for place in range(begin, len(whole)):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 4]) + whole[place + 1 :])
        # Four bytes before the magic mean nothing.
        if len(whole) - 12 <= place < len(whole) - 8:
            assert read(path, b"me")
            continue
        with pytest.raises(FileDamaged, match="is damaged"):
            read(path, b"me")


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    return Path(shutil.copy(DATA / "stdlib" / "states.trace.txt", tmp_path / "a.txt"))


def seen(trace: Path, folder: Path, name: str = "t") -> tuple[object, list[str]]:
    """Return what a timeline looks like, but for the names of views, and what the session was warned of."""
    with Session(index_dir=folder) as session:
        session.mount(trace, name)
        found = look(session.timeline(name))
        return str(found).replace(f"'{name}.timeline.", "'"), session.warnings()


def kept(folder: Path) -> Path:
    """Return the file of the only timeline that is kept."""
    (path,) = (one for one in folder.rglob("tracks-timeline-*") if one.suffix != ".json")
    return path


def test_a_timeline_is_made_once(trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = seen(trace, tmp_path / "idx")
    assert first[1] == []
    assert kept(tmp_path / "idx").stat().st_size
    monkeypatch.setattr(timelines, "_indexed", None)
    assert seen(trace, tmp_path / "idx", "of.another.name") == first


@pytest.mark.parametrize(
    "name",
    [
        "dftracer/loader",
        "ftrace/live_marks.trace.txt.gz",
        "perf/cpuclock.data",
        "perfetto/linux_sys_deflate.pftrace",
        "stdlib/browser.json",
        "stdlib/requests.jaeger.json",
        "trace_dat/live_marks.dat",
        "uftrace/switches",
        "v8/fib.cpuprofile",
    ],
)
def test_timelines_of_every_format_are_kept(name: str, tmp_path: Path) -> None:
    """A table that a view of the same name reads is no change."""
    with Session(index_dir=tmp_path) as session:
        session.mount(DATA / name, "t")
        (mount,) = session._context.mounts.values()
        assert version_of(mount, session._context) is not None


def test_a_timeline_of_an_older_version_is_rebuilt(
    trace: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as older:
        older.setattr(stored, "_VERSION", 1)
        first = seen(trace, tmp_path / "idx")
    written = kept(tmp_path / "idx").read_bytes()
    assert seen(trace, tmp_path / "idx") == first
    assert first[1] == []
    assert kept(tmp_path / "idx").read_bytes() != written


def test_indexes_stand_on_pages(tmp_path: Path) -> None:
    """Their groups do, if there are many rows."""
    rows = [Row(begin, 1, ("many",)) for begin in range(40_000)]
    write(tmp_path / "file", b"me", [indexed([Row(0, 1, ("few",))]), indexed(rows)])
    (few,), (many,) = (source.parts for source in read(tmp_path / "file", b"me"))
    assert pa.array(few.lanes.index).to_numpy().nbytes < 4096
    assert pa.array(many.lanes.index).buffers()[1].address % 4096 == 0


def test_changed_views_count(trace: Path, tmp_path: Path) -> None:
    """Only timelines of the library's own views are stored, not those of a user's replacements."""

    def sources(*, empty: bool) -> set[str]:
        with Session(index_dir=tmp_path / "idx") as session:
            session.mount(trace, "t")
            if empty:
                session.sql("DROP VIEW t.scheduler.timeslices")
                session.sql(f"CREATE VIEW t.scheduler.timeslices AS {RUNNING} WHERE FALSE")
            return {track.source for track in session.timeline("t").tracks}

    assert "t.timeline.cpu_running" in sources(empty=False)
    assert "t.timeline.cpu_running" not in sources(empty=True)
    assert "t.timeline.cpu_running" in sources(empty=False)


def test_damage_is_reported_and_repaired(trace: Path, tmp_path: Path) -> None:
    first, _ = seen(trace, tmp_path / "idx")
    path = kept(tmp_path / "idx")
    whole = path.read_bytes()
    for place in (0, len(whole) // 3, len(whole) - 100):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1 :])
        assert seen(trace, tmp_path / "idx") == (first, [f"the timeline `{path}` is damaged; it is rebuilt"])
        assert seen(trace, tmp_path / "idx") == (first, [])
    path.write_bytes(whole[:-1])
    assert seen(trace, tmp_path / "idx") == (first, [f"the timeline `{path}` is damaged; it is rebuilt"])


def test_another_trace_in_its_place_has_another_timeline(trace: Path, tmp_path: Path) -> None:
    first, _ = seen(trace, tmp_path / "idx")
    text = trace.read_text()
    trace.write_text(text[: text.rindex("\n", 0, len(text) // 2) + 1])
    second, warnings = seen(trace, tmp_path / "idx")
    assert second != first
    assert warnings == []
    assert seen(trace, tmp_path / "idx2") == (second, [])


@pytest.mark.parametrize(
    "table", ["t.timeline", "t.timeline.rows", "t.state", "t.state.attributes", "t.state.timeline"]
)
def test_the_warnings_of_its_making_come_with_every_query(table: str, tmp_path: Path) -> None:
    """In the session that makes it, in one that reads it, and in each again."""
    trace = tmp_path / "trace.json"
    trace.write_text(
        '[{"name": "a", "ph": "E", "ts": 5, "pid": 1, "tid": 1},'
        ' {"name": "a", "ph": "B", "ts": 10, "pid": 1, "tid": 1},'
        ' {"name": "a", "ph": "E", "ts": 20, "pid": 1, "tid": 1}]'
    )
    for index_dir in (tmp_path / "idx", tmp_path / "idx", None):
        with Session(index=index_dir is not None, index_dir=index_dir) as session:
            session.mount(trace, "t")
            for _ in range(2):
                session.sql(f"SELECT * FROM {table}").fetchall()
                assert session.warnings() == ["1 end without a begin was ignored"]
            session.sql("SELECT 1").fetchall()
            assert session.warnings() == []
