"""State systems of mounted traces: made when they are read, kept beside the index, never trusted when in doubt."""

from __future__ import annotations

import dataclasses
import gc
import os
import random
import shutil
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from dctv.catalog.stdlib import LibraryModule, library
from dctv.errors import DctvError, Interrupted, SourceText
from dctv.index import locks
from dctv.index.cache import CacheLimit, entries, prune
from dctv.run import library_version, providers
from dctv.session import Session
from tests.bounds import EXPLORE, LEFT_TO_CI
from tests.session.test_indexed import write_trace

ROOT = Path(__file__).resolve().parents[2]
TRACE = ROOT / "tests/data/stdlib/states.trace.txt"
ALL = "SELECT * FROM t.state ORDER BY quark, _ts"
RUNNING = "SELECT _ts, state_path('CPUs', cpu, 'now') AS path, next_pid FROM t.raw_events.sched_switch"


class Watched:
    """A session with a mounted trace that counts how many histories it makes."""

    def __init__(self, trace: Path, index_dir: Path | None, **options: object) -> None:
        self.reports: list[str] = []
        self.session = Session(
            index=False if index_dir is None else "auto", index_dir=index_dir, progress=self._report, allow_files=True
        )
        self.session.mount(str(trace), "t", **options)
        self.reports.clear()

    def _report(self, label: str, _done: int, _total: int) -> None:
        self.reports.append(label)

    @property
    def made(self) -> set[str]:
        """The state systems that were made."""
        return {label.partition(":")[0] for label in self.reports if label.endswith("changes")}

    def rows(self, text: str = ALL) -> list[tuple[Any, ...]]:
        """Run a query."""
        return self.session.sql(text).fetchall()

    def __enter__(self) -> Watched:
        return self

    def __exit__(self, *_: object) -> None:
        self.session.close()


def files(index_dir: Path, pattern: str = "states-*") -> list[Path]:
    """Return the stored histories."""
    return sorted(index_dir.glob(f"*/{pattern}"))


def history(index_dir: Path) -> Path:
    """Return the only history that is kept."""
    (found,) = (path for path in files(index_dir) if path.suffix != ".json")
    return found


@pytest.fixture
def trace(tmp_path: Path) -> Path:
    """Return a separate trace."""
    return Path(shutil.copy(TRACE, tmp_path / "a.trace.txt"))


@pytest.fixture(scope="module")
def expected() -> list[tuple[Any, ...]]:
    """Return the states, made without anything that is kept."""
    with Watched(TRACE, None) as watched:
        return watched.rows()


def test_it_is_made_when_rows_are_read_and_not_before(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        for text in (
            "DESCRIBE t.state",
            "DESCRIBE t.state.attributes",
            "SHOW TABLES FROM t",
            "EXPLAIN SELECT * FROM t.state WHERE path = 'CPUs/0/Current_thread' AND _ts < 30us",
            "EXPLAIN SELECT * FROM dctv.state_at(t.state, 30us, paths=>['CPUs/*'])",
            "EXPLAIN SELECT * FROM dctv.state_2d(t.state, times=>[30us])",
            "EXPLAIN SELECT * FROM dctv.state_range(t.state, 'max')",
            "CREATE VIEW later AS SELECT path, number "
            "FROM dctv.state_at(t.state, 30us, paths=>'CPUs/*/Current_thread')",
        ):
            watched.rows(text)
        assert watched.session.columns("t.state.intervals") is not None
        assert not watched.made
        assert not files(tmp_path / "idx")
        rows = watched.rows("SELECT * FROM later")
        assert watched.made == {"t.state"}
        assert rows
        assert rows == watched.rows(
            "SELECT path, number FROM t.state WHERE path REGEXP '^CPUs/[^/]*/Current_thread$' "
            "AND _ts <= 30us AND _ts + _duration > 30us ORDER BY quark"
        )


def test_conditions_apply_however_early_they_are_stated(trace: Path) -> None:
    test = "path LIKE 'CPUs/0/C%' AND _ts < 20us AND _ts + _duration > 10us"
    ask = f"SELECT * FROM t.state WHERE {test} ORDER BY quark, _ts"
    with Watched(trace, None) as early, Watched(trace, None) as late:
        plan_lines = [line for (line,) in early.rows(f"EXPLAIN {ask}") if "states:" in line]
        assert [line.strip() for line in plan_lines][:2] == [
            "states: looked up when they are read",
            "states: path begins with CPUs/0/C, _ts < 20000, _ts + _duration > 10000",
        ]
        found = early.rows(ask)
        every = late.rows()
        assert found == late.rows(ask)
        assert found == [
            row for row in every if str(row[3]).startswith("CPUs/0/C") and row[0] < 20_000 and row[0] + row[1] > 10_000
        ]
        assert any("1 of " in line for (line,) in late.rows(f"EXPLAIN {ask}"))


def test_errors_in_conditions_have_their_place(trace: Path) -> None:
    for text, message in (
        ("SELECT * FROM dctv.state_at(t.state, 1000s)", "outside of the states"),
        ("SELECT * FROM dctv.state_at(t.state, 30us, paths=>'nobody')", "no attribute has the path `nobody`"),
        ("SELECT * FROM dctv.state_2d(t.state, start=>1000s)", "`stop` is before `start`"),
        ("SELECT * FROM dctv.state_range(t.state, 'max', start=>1000s)", "outside of the states"),
    ):
        with Watched(trace, None) as watched, pytest.raises(DctvError, match=message) as caught:
            watched.rows(text)
        assert caught.value.place is not None


def test_a_built_history_is_reused(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    for made in ({"t.state"}, set(), set()):
        with Watched(trace, tmp_path / "idx") as watched:
            assert watched.rows() == expected
            assert watched.made == made
            assert watched.session.warnings() == []
    assert len(files(tmp_path / "idx")) == 2
    assert not files(tmp_path / "idx", "building-*")


def test_another_name_of_the_mount_is_the_same_trace(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        rows = watched.rows()
        watched.session.mount(str(trace), "other.name")
        assert watched.rows("SELECT * FROM other.name.state ORDER BY quark, _ts") == rows
        assert watched.made == {"t.state"}


def test_killed_between_two_renames(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows()
    path = history(tmp_path / "idx")
    path.with_name(f"{path.name}.json").unlink()
    with Watched(trace, tmp_path / "idx") as watched:
        assert watched.rows() == expected
        assert watched.made == {"t.state"}
        assert watched.session.warnings() == []


def test_a_history_of_another_trace_is_rebuilt(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        before = watched.rows()
    lines = trace.read_text().splitlines(keepends=True)
    trace.write_text("".join(lines[:-5]))
    with Watched(trace, None) as fresh, Watched(trace, tmp_path / "idx") as watched:
        assert watched.rows() == fresh.rows() != before
        assert watched.made == {"t.state"}
    with Watched(trace, tmp_path / "idx", align=5000) as watched:
        moved = watched.rows("SELECT min(_ts) FROM t.state WHERE number > 0")
        assert watched.made == {"t.state"}
    with Watched(trace, None) as fresh:
        (first,) = fresh.rows("SELECT min(_ts) FROM t.state WHERE number > 0")[0]
        assert moved == [(first + 5000,)]


def test_a_history_begins_with_its_trace_even_before_the_first_change(trace: Path) -> None:
    statement = (
        "CREATE STATE SYSTEM t.own AS SELECT _ts, 'a' AS path, cpu AS number FROM t.raw_events.sched_switch LIMIT 0"
    )
    for offset in (-40_000, 40_000):
        with Watched(trace, None, align=offset) as watched:
            watched.rows(statement)
            begins = [watched.session.state_system(name).start for name in ("t.state", "t.own")]
            assert begins == [min(offset, 0)] * 2


def test_another_text_of_the_library_makes_it_anew(
    trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows()
    monkeypatch.setattr(library_version, "_library_digest", lambda: b"another")
    for made in ({"t.state"}, set()):
        with Watched(trace, tmp_path / "idx") as watched:
            assert watched.rows() == expected
            assert watched.made == made


def test_user_views_are_not_mistaken_for_library_views(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows("DROP VIEW t.scheduler.states")
        watched.rows("CREATE VIEW t.scheduler.states AS SELECT 1 AS nothing")
        with pytest.raises(DctvError):
            watched.rows()
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows("DROP ALL t.raw_events")
        watched.session.add_table("t.raw_events.sched_switch", {"_ts": [1]})
        watched.rows()
    with Watched(trace, tmp_path / "idx", depth=3) as watched:
        watched.rows()
    assert not files(tmp_path / "idx", "states-*.json")


@pytest.mark.parametrize("part", [pytest.param("history", marks=pytest.mark.ci), "note"])
def test_damage_is_never_trusted(part: str, trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    index_dir = tmp_path / "idx"
    with Watched(trace, index_dir) as watched:
        watched.rows()
    rng = random.Random(7)
    for number in range(100 if EXPLORE else 4 if LEFT_TO_CI else 8):
        path = history(index_dir)
        path = path if part == "history" else path.with_name(f"{path.name}.json")
        raw = bytearray(path.read_bytes())
        if number % 4 == 0:
            del raw[rng.randrange(len(raw)) :]
        else:
            raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
        with Watched(trace, index_dir) as watched:
            assert watched.rows() == expected
            warnings = watched.session.warnings()
            assert part == "note" or "damaged; it is rebuilt" in warnings[0]


def test_a_closed_session_frees_everything_without_garbage_collection(trace: Path, tmp_path: Path) -> None:
    gc.collect()
    gc.disable()
    try:
        with Watched(trace, tmp_path / "idx") as watched:
            watched.rows()
        assert len(prune(tmp_path / "idx", CacheLimit(nothing=True))) == 1
    finally:
        gc.enable()


def test_a_copied_folder_is_good(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows()
    shutil.copytree(tmp_path / "idx", tmp_path / "copy")
    with Watched(trace, tmp_path / "copy") as watched:
        assert watched.rows() == expected
        assert watched.made == set()


def test_a_history_of_another_trace_in_its_place_is_not_used(trace: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.trace.txt"
    other.write_text("".join(trace.read_text().splitlines(keepends=True)[:-5]))
    for name, path in (("a", trace), ("b", other)):
        with Watched(path, tmp_path / name) as watched:
            watched.rows()
    for path in files(tmp_path / "b"):
        shutil.copy(path, history(tmp_path / "a").with_name(path.name))
    with Watched(trace, tmp_path / "a") as watched, Watched(trace, None) as fresh:
        assert watched.rows() == fresh.rows()
        assert watched.made == {"t.state"}


def test_a_folder_that_cannot_be_written_to_is_a_warning(
    trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]
) -> None:
    (tmp_path / "file").write_text("")
    with Watched(trace, tmp_path / "file" / "idx") as watched:
        assert watched.rows() == expected
        (warning,) = watched.session.warnings()
        assert warning.startswith("cannot keep the states of `state`: not a directory")
        assert watched.rows() == expected
        assert watched.session.warnings() == []


def test_a_trace_that_changes_after_it_was_mounted_leaves_nothing(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        trace.write_text("".join(trace.read_text().splitlines(keepends=True)[:-5]))
        old = watched.rows()
        assert "files of the trace have changed" in watched.session.warnings()[0]
    assert not files(tmp_path / "idx")
    with Watched(trace, tmp_path / "idx") as watched:
        assert watched.rows() != old


def test_sessions_in_threads_make_it_once(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    found: list[tuple[bool, int]] = []

    def read() -> None:
        with Watched(trace, tmp_path / "idx") as watched:
            rows = watched.rows()
            found.append((rows == expected, len(watched.made)))

    threads = [threading.Thread(target=read) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [(True, 0)] * 3 + [(True, 1)]


def test_threads_of_one_session_make_it_once(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        systems: list[object] = []
        threads = [
            threading.Thread(target=lambda: systems.append(watched.session.state_system("t.state"))) for _ in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(systems) == 4
        assert len(set(map(id, systems))) == 1


CHILD = """
import sys
from dctv.session import Session
with Session(index_dir=sys.argv[2]) as session:
    session.mount(sys.argv[1], "t")
    print("mounted", flush=True)
    print(len(session.sql("SELECT * FROM t.state").fetchall()))
"""


def child(trace: Path, index_dir: Path) -> subprocess.Popen[str]:
    """Read the states in another process."""
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    return subprocess.Popen([sys.executable, "-c", CHILD, trace, index_dir], stdout=subprocess.PIPE, text=True, env=env)


def test_two_processes_at_once_are_both_right(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    children = [child(trace, tmp_path / "idx") for _ in range(2)]
    outputs = [one.communicate()[0].split() for one in children]
    assert outputs == [["mounted", str(len(expected))]] * 2
    with Watched(trace, tmp_path / "idx") as watched:
        assert watched.rows() == expected
        assert watched.made == set()


@pytest.mark.ci
def test_killed_while_building(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    rng = random.Random(11)
    index_dir = tmp_path / "idx"
    for _ in range(40 if EXPLORE else 4):
        shutil.rmtree(index_dir, ignore_errors=True)
        one = child(trace, index_dir)
        assert one.stdout is not None
        assert one.stdout.readline() == "mounted\n"
        time.sleep(rng.random() * 0.4)
        one.send_signal(signal.SIGKILL)
        one.communicate()
        with Watched(trace, index_dir) as watched:
            assert watched.rows() == expected
            assert watched.session.warnings() == []
        assert not files(index_dir, "building-*")


def test_an_interrupt_leaves_nothing(trace: Path, tmp_path: Path, expected: list[tuple[Any, ...]]) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        session = watched.session
        progress = session._context.progress
        progress.listener = lambda label, _done, _total: session.interrupt() if "changes" in label else None
        with pytest.raises(Interrupted):
            watched.rows()
        assert not files(tmp_path / "idx")
        assert not files(tmp_path / "idx", "building-*")
        with pytest.raises(Interrupted):
            session.sql(f"CREATE STATE SYSTEM t.now AS {RUNNING}")
        with pytest.raises(Interrupted):
            session.state_system("t.state")
        progress.listener = None
        assert watched.rows() == expected


def test_waiting_for_another_builder_is_reported_and_can_be_interrupted(trace: Path, tmp_path: Path) -> None:
    with Watched(trace, tmp_path / "idx") as watched:
        watched.rows()
        (folder,) = (tmp_path / "idx").iterdir()
        for path in files(tmp_path / "idx"):
            path.unlink()
    alone = locks.build(folder, None, "states.lock")
    assert alone is not None
    with Watched(trace, tmp_path / "idx") as watched, alone:
        session = watched.session
        notes: list[str] = []

        def report(label: str, _done: int, _total: int) -> None:
            notes.append(label)
            session.interrupt()

        session._context.progress.listener = report
        with pytest.raises(Interrupted):
            watched.rows()
        assert notes == ["t.state: waiting for another process that makes it"]


def test_a_history_is_deleted_with_its_trace(trace: Path, tmp_path: Path) -> None:
    other = tmp_path / "b.trace.txt"
    other.write_text("".join(trace.read_text().splitlines(keepends=True)[:-5]))
    with Watched(trace, tmp_path / "idx") as watched, Watched(other, None) as second:
        before = watched.rows()
        watched.rows("DROP ALL t")
        with pytest.raises(DctvError, match=r"unknown table `t\.state`"):
            watched.rows()
        watched.session.mount(str(other), "t")
        assert watched.rows() == second.rows() != before


def test_without_indexes_nothing_is_kept(trace: Path, expected: list[tuple[Any, ...]]) -> None:
    for _ in range(2):
        with Watched(trace, None) as watched:
            assert watched.rows() == expected
            assert watched.made == {"t.state"}


def test_a_trace_without_inputs_has_no_states(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('[{"name": "x", "cat": "c", "ph": "i", "ts": 1, "pid": 1, "tid": 1, "s": "t"}]')
    with Watched(path, tmp_path / "idx") as watched:
        assert watched.rows("SELECT * FROM t.state") == []
        assert watched.session.warnings() == ["`t.state` is empty: the trace has nothing to compute it from"]


def test_providers_come_from_files(trace: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    texts = {
        "b": "SELECT 3 AS time, 'y' AS path, 'push' AS action, 2.5::FLOAT64 AS r, 'f' AS name UNION ALL "
        "SELECT 7, 'y', 'pop', NULL, NULL",
        "a": "SELECT 4 AS _ts, 'x' AS path, 't' AS name, 1::INT32 AS number",
        "c": "SELECT 6 AS _ts, 'z' AS path, 9 AS other, 8 AS number",
        "lacking": "SELECT _ts, 'w' AS path, 1 AS n FROM _events.`print|B`",
    }
    every = library()
    modules = tuple(
        LibraryModule(("state", name), ("*",), "", {}, SourceText(f"stdlib/state/{name}.sql", text))
        for name, text in texts.items()
    )
    monkeypatch.setattr(providers, "library", lambda: dataclasses.replace(every, modules=modules))
    with Watched(trace, None) as watched:
        rows = watched.rows("SELECT path, _ts, number, real, text FROM t.state WHERE _ts > 0 ORDER BY path, _ts")
        assert rows == [
            ("x", 4, None, None, "t"),
            ("y", 3, 1, None, None),
            ("y", 7, None, None, None),
            ("y/1", 3, None, 2.5, None),
            ("y/1", 7, None, None, None),
            ("z", 6, 9, None, None),
        ]


def test_systems_of_the_user_are_kept_below_their_trace(trace: Path, tmp_path: Path) -> None:
    create = f"CREATE STATE SYSTEM t.now AS {RUNNING}"
    for text, made in (
        (create, {"t.now"}),
        (create.replace("SELECT", "select  "), set()),
        (create.replace("'now'", "'then'"), {"t.now"}),
        (create.replace("t.now", "T.now"), {"T.now"}),
        (create.replace(" AS SELECT", " WITH (end => 100s) AS SELECT"), {"t.now"}),
        (create.replace(" AS SELECT", " WITH (backend => 'partial', granularity => 7) AS SELECT"), {"t.now"}),
        (create.replace(" AS SELECT", " WITH (backend => 'partial', granularity => 7) AS SELECT"), set()),
        (create.replace("next_pid", "next_pid + random()::INT64 AS p"), {"t.now"}),
        (create.replace("next_pid", "next_pid + random()::INT64 AS p"), {"t.now"}),
        (create.replace("t.now", "now"), {"now"}),
        (create.replace("t.now", "now"), {"now"}),
    ):
        with Watched(trace, tmp_path / "idx") as watched:
            watched.rows(text)
            assert watched.made == made, text
            name = text.split()[3]
            count = watched.rows(f"SELECT count(*) FROM {name}")
        with Watched(trace, None) as fresh:
            if "random" in text:
                continue
            fresh.rows(text)
            assert count == fresh.rows(f"SELECT count(*) FROM {name}")


def test_histories_of_other_data_are_not_stored(trace: Path, tmp_path: Path) -> None:
    (tmp_path / "changes.csv").write_text("_ts,path,value\n5,a,1\n")
    for value in (1, 2):
        with Watched(trace, tmp_path / "idx") as watched:
            watched.session.add_table("t.mine", {"time": [1], "path": ["a"], "value": [value]})
            watched.rows("CREATE STATE SYSTEM t.now AS SELECT * FROM t.mine")
            watched.rows(f"CREATE STATE SYSTEM t.file AS SELECT * FROM read_csv('{tmp_path / 'changes.csv'}')")
            assert watched.rows("SELECT number FROM t.now WHERE number IS NOT NULL") == [(value,)]
    assert not files(tmp_path / "idx")


def test_the_cache_lists_stored_histories(trace: Path, tmp_path: Path) -> None:
    root = tmp_path / "idx"
    with Watched(trace, root) as watched:
        watched.rows()
        watched.rows(f"CREATE STATE SYSTEM t.now AS {RUNNING}")
        assert prune(root, CacheLimit(nothing=True)) == []
    (entry,) = entries(root)
    assert (entry.histories, entry.paths, entry.problem) == (("now", "state"), (trace,), None)
    assert entry.bytes > sum(path.stat().st_size for path in files(root) if path.suffix != ".json")
    assert prune(root, CacheLimit(nothing=True)) == [dataclasses.replace(entry, paths=(), histories=())]
    assert not list(root.iterdir())


def test_it_stands_beside_the_index(tmp_path: Path) -> None:
    trace = write_trace(tmp_path / "run")
    root = tmp_path / "idx"
    select = "SELECT _ts, state_path(fname) AS path, size FROM t.raw_events.read WHERE fname IS NOT NULL"
    create = f"CREATE STATE SYSTEM t.sizes AS {select}"
    with Session(index_dir=root, index=True) as session:
        session.mount(str(trace), "t")
        session.sql(create)
    (entry,) = entries(root)
    assert (entry.histories, entry.problem, len(entry.paths)) == (("sizes",), None, 4)
    with Watched(trace, root) as watched:
        watched.rows(create)
        assert watched.made == set()
        indexed = watched.rows("SELECT * FROM t.sizes ORDER BY quark, _ts")
    with Watched(trace, None) as watched:
        watched.rows(create)
        assert watched.rows("SELECT * FROM t.sizes ORDER BY quark, _ts") == indexed != []
