"""Views that many others read: later queries read rows that were computed once, in the session or before it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import get_args
from unittest.mock import patch

import pytest

import dctv
from dctv.catalog.mount import HIDDEN
from dctv.catalog.namespace import Materialized
from dctv.catalog.stdlib import library
from dctv.contracts.states import aside
from dctv.errors import DctvError, EngineError, Interrupted
from dctv.plan.nodes import Kernel
from dctv.rewrite.graph import readers_first
from dctv.run import library_version, materialized, plans
from tests.declared_keys import duplicates

DATA = Path(__file__).parents[1] / "data"
MARKS = DATA / "stdlib" / "marks.trace.txt"
READERS = (
    "threads",
    "processes",
    "tracks",
    "slices",
    "instants",
    "counters",
    "processes.summary",
    "timeline.slices",
    "scheduler.process_utilisation_by(1ms)",
)
NAMES = "SELECT thread, process, COUNT(*) AS n FROM t.slices GROUP BY ALL ORDER BY ALL"
OTHERS = (
    "stdlib/browser.json",
    "stdlib/calls.pfw",
    "stdlib/kernel.trace.txt",
    "stdlib/memory.pftrace",
    "trace_dat/live_marks.dat",
)


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session(index=False) as one:
        one.mount(MARKS, "t")
        yield one


def plan_of(session: dctv.Session, text: str) -> list[str]:
    return [line for (line,) in session.sql(f"EXPLAIN {text}").fetchall()]


def scans(session: dctv.Session, text: str) -> list[str]:
    """Return the lines of a plan about materialized views, and the names of those."""
    lines = plan_of(session, text)
    states = [number for number, line in enumerate(lines) if "materialized:" in line]
    named = [max(n for n in range(state) if lines[n].strip().startswith("scan ")) for state in states]
    return [
        f"{lines[name].split(':')[0].strip()}, {lines[state].strip()}"
        for name, state in zip(named, states, strict=True)
    ]


def rows_of(session: dctv.Session, source: str) -> list[tuple[object, ...]]:
    return session.sql(f"SELECT * FROM t.{source}").fetchall()


def check_all(path: Path, names: list[str] | None = None) -> None:
    """Check that later queries have the rows and warnings of a first one."""
    with dctv.Session(index=False) as fresh, dctv.Session(index=False) as warm:
        for one in (fresh, warm):
            one.mount(path, "t")
        reader = path.suffix
        for source in names or [
            ".".join(one.parts) for one in library().modules if one.parts[0] not in HIDDEN and not one.parameters
        ]:
            fresh.sql("CREATE OR REPLACE VIEW t.unrelated AS SELECT 1")  # No view of the mount is kept.
            try:
                wanted = rows_of(fresh, source)
            except DctvError:
                continue  # Another format has it.
            assert rows_of(warm, source) == wanted, (reader, source)
            assert rows_of(warm, source) == wanted, (reader, source)
            assert warm.warnings() == fresh.warnings(), (reader, source)


def test_later_queries_have_the_rows_of_the_first() -> None:
    check_all(MARKS, list(READERS))


@pytest.mark.ci
@pytest.mark.parametrize("name", OTHERS)
def test_later_queries_of_every_view(name: str) -> None:
    check_all(DATA / name)


def test_the_first_query_computes_them_itself(session: dctv.Session) -> None:
    assert scans(session, NAMES) == []
    assert scans(session, NAMES) == []  # An EXPLAIN reads nothing.
    first = session.sql(NAMES).fetchall()
    assert scans(session, NAMES) == ["scan t.tracks, materialized: not read yet"]
    assert session.sql(NAMES).fetchall() == first
    ((count,),) = session.sql("SELECT COUNT(*) FROM t.tracks").fetchall()
    assert scans(session, NAMES) == [f"scan t.tracks, materialized: {count} rows"]


def test_the_cost_of_computing_them_is_that_of_the_query(session: dctv.Session) -> None:
    session.sql(NAMES).fetchall()
    lines = [line for (line,) in session.sql(f"EXPLAIN ANALYZE {NAMES}").fetchall()]
    assert any("materialized:" in line and line.endswith(" rows") for line in lines)
    assert lines[-1].startswith("total: ")


def test_joins_of_which_nothing_is_read_are_dropped(session: dctv.Session) -> None:
    for _ in range(3):
        session.sql("SELECT name, thread FROM t.slices").fetchall()
    assert len(scans(session, "SELECT name, thread FROM t.slices")) == 1
    assert scans(session, "SELECT name, depth FROM t.slices") == []


def test_another_trace_of_the_same_name(session: dctv.Session) -> None:
    for _ in range(3):
        session.sql(NAMES).fetchall()
    session.sql("DROP ALL t")
    session.mount(DATA / "stdlib" / "calls.pfw", "t")
    found = [session.sql(NAMES).fetchall() for _ in range(3)]
    with dctv.Session(index=False) as fresh:
        fresh.mount(DATA / "stdlib" / "calls.pfw", "t")
        assert found == [fresh.sql(NAMES).fetchall()] * 3


def test_two_traces_have_rows_of_their_own(session: dctv.Session) -> None:
    session.mount(DATA / "stdlib" / "calls.pfw", "u")
    both = "SELECT COUNT(*) FROM t.slices AS s CROSS JOIN u.slices AS z WHERE s.thread IS NOT NULL OR z.thread IS NULL"
    found = [session.sql(both).fetchall() for _ in range(3)]
    assert found == [found[0]] * 3
    assert [one.split(",")[0] for one in scans(session, both)] == ["scan t.tracks", "scan u.tracks"]


def test_a_view_that_is_replaced(session: dctv.Session) -> None:
    for _ in range(3):
        session.sql(NAMES).fetchall()
    session.sql(
        "CREATE OR REPLACE VIEW t.tracks AS SELECT track, kind, name, parent, tid, pid, 'mine' AS thread, "
        "'own' AS process, NULL::STRING AS host, NULL::STRING AS unit FROM t._parts.tracks"
    )
    found = [session.sql("SELECT DISTINCT thread, process FROM t.slices").fetchall() for _ in range(3)]
    assert found == [[("mine", "own")]] * 3


def test_many_rows_are_put_into_a_file(tmp_path: Path) -> None:
    with (
        dctv.Session(index=False, temp_directory=tmp_path) as session,
        patch.object(materialized, "IN_MEMORY", 1),
        patch("dctv.run.materialized.aside", wraps=aside) as put,
    ):
        session.mount(MARKS, "t")
        first = session.sql(NAMES).fetchall()
        assert session.sql(NAMES).fetchall() == first
        assert put.call_count > 0
        assert session.sql(NAMES).fetchall() == first
    assert not [one for one in tmp_path.rglob("*") if one.is_file()]


@pytest.mark.parametrize("error", [Interrupted("interrupted"), EngineError("no room", None)])
def test_rows_that_cannot_be_computed(session: dctv.Session, error: DctvError) -> None:
    first = session.sql(NAMES).fetchall()
    with patch.object(materialized, "_table", side_effect=error), pytest.raises(type(error)):
        session.sql(NAMES).fetchall()
    assert session.sql(NAMES).fetchall() == first


def test_several_threads_compute_them_once(session: dctv.Session) -> None:
    first = session.sql(NAMES).fetchall()
    found: list[list[tuple[object, ...]]] = []
    with patch.object(materialized, "_table", wraps=materialized._table) as computed:
        threads = [threading.Thread(target=lambda: found.append(session.sql(NAMES).fetchall())) for _ in range(4)]
        for one in threads:
            one.start()
        for one in threads:
            one.join()
    assert found == [first] * 4
    names = [call.args[0].schema.names for call in computed.call_args_list]
    assert len(names) == len({tuple(one) for one in names})


def test_traces_of_fleets_materialize_nothing(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.trace.txt").write_bytes(MARKS.read_bytes())
    with dctv.Session(index=False) as fleet, patch.object(materialized, "_table") as computed:
        fleet.sql(f"MOUNT TRACES '{tmp_path}/*.trace.txt' AS t")
        found = [fleet.sql(NAMES).fetchall() for _ in range(3)]
    assert found == [found[0]] * 3
    assert computed.call_count == 0


@pytest.fixture
def stored(tmp_path: Path) -> Path:
    """Return a trace with an index beside which rows are stored."""
    trace = tmp_path / "marks.trace.txt"
    trace.write_bytes(MARKS.read_bytes())
    named(trace)
    assert stored_rows(trace)
    return trace


def named(trace: Path, options: str = "") -> tuple[list[tuple[object, ...]], int, list[str]]:
    """Ask an indexed trace in a new session; return the rows, how many views were computed, and the warnings."""
    with (
        dctv.Session(index=True, index_dir=trace.parent / "indexes") as session,
        patch.object(materialized, "_table", wraps=materialized._table) as computed,
    ):
        session.sql(f"MOUNT TRACE '{trace}' AS t {options}")
        return session.sql(NAMES).fetchall(), computed.call_count, session.warnings()


def stored_rows(trace: Path) -> list[Path]:
    return [one for one in (trace.parent / "indexes").rglob("rows-*") if one.suffix != ".json"]


def test_rows_are_stored_beside_the_index(stored: Path, session: dctv.Session) -> None:
    rows, computed, warned = named(stored)
    assert computed == 0
    assert rows == session.sql(NAMES).fetchall()
    assert warned == session.warnings()


def test_nothing_is_stored_without_an_index(tmp_path: Path) -> None:
    with dctv.Session(index="auto", index_dir=tmp_path / "indexes") as session:
        session.mount(MARKS, "t")
        for _ in range(3):
            session.sql(NAMES).fetchall()
    assert not stored_rows(tmp_path / "any")


@pytest.mark.parametrize("damage", [b"", b"ARROW1", b"\xff" * 5000])
def test_a_damaged_file_is_made_again(stored: Path, damage: bytes) -> None:
    rows, _, warned = named(stored)
    (file,) = stored_rows(stored)
    file.write_bytes(damage)
    assert named(stored) == (rows, 1, warned)
    assert named(stored) == (rows, 0, warned)


def test_a_flipped_byte_is_found(stored: Path) -> None:
    rows, _, warned = named(stored)
    (file,) = stored_rows(stored)
    whole = file.read_bytes()
    for place in range(0, len(whole), 997):
        file.write_bytes(whole[:place] + bytes([whole[place] ^ 0x10]) + whole[place + 1 :])
        assert named(stored) == (rows, 1, warned)


def test_a_file_that_its_note_describes_but_is_no_table(stored: Path) -> None:
    """A checksum may be right where the rest is not, for example after a change of the format."""
    rows, _, warned = named(stored)
    with patch("dctv.index.histories._opened", side_effect=lambda path, work, wanted: work.open(path, wanted)):
        (file,) = stored_rows(stored)
        for damage in (b"", b"ARROW1\0\0" * 100, file.read_bytes()[:-20]):
            file.write_bytes(damage)
            assert named(stored) == (rows, 1, warned)


def test_another_library_computes_its_own(stored: Path) -> None:
    rows, _, _ = named(stored)
    with patch.object(library_version, "_library_digest", return_value=b"another"):
        assert named(stored)[:2] == (rows, 1)
        assert named(stored)[:2] == (rows, 0)


def test_a_trace_that_has_changed(stored: Path) -> None:
    rows, _, _ = named(stored)
    stored.write_text(stored.read_text().replace("app main", "new main"))
    found, computed, _ = named(stored)
    assert computed == 1
    assert found != rows
    with dctv.Session(index=False) as fresh:
        fresh.mount(stored, "t")
        assert found == fresh.sql(NAMES).fetchall()


def test_rows_that_cannot_be_stored(stored: Path) -> None:
    rows, _, warned = named(stored)
    (file,) = stored_rows(stored)
    for one in (file, file.with_name(f"{file.name}.json")):
        one.unlink()
    with patch("dctv.index.histories.TraceHistoryStore._write", side_effect=PermissionError(13, "Permission denied")):
        assert named(stored) == (rows, 1, warned)
    assert not stored_rows(stored)


def test_a_replaced_view_has_no_stored_rows(stored: Path) -> None:
    with dctv.Session(index=True, index_dir=stored.parent / "indexes") as session:
        session.mount(stored, "t")
        assert session.sql("SELECT COUNT(*) > 0 FROM t.threads").fetchall() == [(True,)]
        session.sql(
            "CREATE OR REPLACE VIEW t._built.threads AS SELECT NULL::STRING AS host, 1 AS pid, 2 AS tid, "
            "'mine' AS name, NULL::INT64 IN ns AS start_ts, NULL::INT64 IN ns AS end_ts, NULL::INT64 AS parent"
        )
        found = [session.sql("SELECT tid, name FROM t.threads").fetchall() for _ in range(3)]
    assert found == [[(2, "mine")]] * 3


def test_shifted_traces_have_stored_rows_of_their_own(stored: Path) -> None:
    rows, _, _ = named(stored)
    assert named(stored, "WITH (align => 5s)")[:2] == (rows, 1)


def test_fleets_store_rows_beside_the_indexes(tmp_path: Path) -> None:
    for name in ("a", "b", "c"):
        (tmp_path / f"{name}.trace.txt").write_text(MARKS.read_text().replace("app main", f"{name}pp main"))
    found, counts = [], []
    for index in (True, True, False):
        with (
            dctv.Session(index=index, index_dir=tmp_path / "indexes", threads=1) as fleet,
            patch.object(materialized, "_table", wraps=materialized._table) as computed,
        ):
            fleet.sql(f"MOUNT TRACES '{tmp_path}/*.trace.txt' AS t")
            found.append(fleet.sql(NAMES).fetchall())
            counts.append(computed.call_count)
    assert found == [found[0]] * 3
    assert {row[0] for row in found[0]} >= {"app main", "bpp main", "cpp main"}
    assert counts == [3, 0, 0]
    assert len(stored_rows(tmp_path / "any")) == 3


@pytest.mark.parametrize("name", [MARKS.relative_to(DATA).as_posix(), *OTHERS])
def test_declared_keys_are_keys(name: str) -> None:
    """Joins by them find at most one row, and are dropped with all that their views do."""
    with dctv.Session(index=False) as session:
        session.mount(DATA / name, "t")
        assert list(duplicates(session)) == []
        for module in library().modules:
            if module.key:
                plan = plans.table_of(".".join(("t", *module.parts)), session._context)
                assert not [one for one in readers_first(plan) if isinstance(one, Kernel)], module.parts


def test_no_stored_view_reads_another(session: dctv.Session) -> None:
    """A process that makes the rows of one would wait for itself."""
    assert {one.materialized for one in library().modules} == set(get_args(Materialized))
    stored = [".".join(("t", *one.parts)) for one in library().modules if one.materialized == "index"]
    views = {name: plans.table_of(name, session._context) for name in stored}
    for name, plan in views.items():
        others = [one for other, one in views.items() if other != name]
        assert not [one for one in readers_first(plan) if one in others], name


@pytest.mark.parametrize("table", ["state", "state.timeline", "timeline"])
def test_rows_are_stored_while_a_history_is_made(stored: Path, table: str) -> None:
    for file in stored_rows(stored):
        file.unlink()
    with dctv.Session(index=True, index_dir=stored.parent / "indexes") as session:
        session.mount(stored, "t")
        assert session.sql(f"SELECT COUNT(*) >= 0 FROM t.{table}").fetchall() == [(True,)]
        assert session.sql("SELECT COUNT(*) > 0 FROM t.slices WHERE thread IS NOT NULL").fetchall() == [(True,)]
    assert len(stored_rows(stored)) == 1


def test_a_result_that_is_read_after_its_mount_was_replaced(stored: Path) -> None:
    other = stored.with_name("other.trace.txt")
    other.write_text(stored.read_text().replace("app main", "other main"))
    named(other)
    with dctv.Session(index=True, index_dir=stored.parent / "indexes") as session:
        session.mount(stored, "t")
        session.sql("SELECT * FROM t.slices").fetchall()
        result = session.sql("SELECT DISTINCT process FROM t.slices WHERE process LIKE '%main'")
        session.sql("CREATE VIEW t.more AS SELECT 1")  # The rows that the first query read are forgotten.
        second = session.sql("SELECT DISTINCT process FROM t.slices WHERE process LIKE '%main'")
        session.sql("DROP ALL t")
        session.mount(other, "t")
        for one in (result, second):
            assert one.fetchall() == [("app main",)]
        assert session.sql("SELECT DISTINCT process FROM t.slices WHERE process LIKE '%main'").fetchall() == [
            ("other main",)
        ]
