"""Tables of indexed traces are read from all column stores at once, where that gives the same rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from dctv.errors import DctvError, IndexUnusable
from dctv.run.fleet.table import FleetTable
from dctv.session import Session
from tests.fleet.test_fleet_pruning import write_dftracer

AT_ONCE = "from their column stores at once"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    """Mount traces whose names look like patterns and like texts of SQL."""
    folder = tmp_path_factory.mktemp("it's [a-b]*")
    for number in range(5):
        write_run(folder / f"run{number}.pfw", number)
    known = [f"run{n}.pfw,{100 + n},{'odd' if n % 2 else 'even'},2026-01-0{1 + n}" for n in range(5) if n != 1]
    (folder / "runs.csv").write_text("\n".join(["trace,build,label,day", *known, ""]), encoding="utf-8")
    with Session(index=True, index_dir=folder / "in[dex]", warn=False) as made:
        made.mount_traces(f"{escaped(folder)}/*.pfw", "runs", manifest=folder / "runs.csv")
        yield made


def write_run(path: Path, seed: int) -> None:
    """Write calls of three functions; only those of every third trace have a size."""
    made = random.Random(seed)
    lines = [
        {
            "id": place,
            "name": made.choice(["open", "read", "write"]),
            "cat": "POSIX",
            "pid": 1,
            "tid": made.randint(1, 2),
            "ts": 10 * place,
            "dur": made.randint(1, 9),
            "ph": "X",
            "args": {} if seed % 3 else {"size": made.randint(0, 5)},
        }
        for place in range(60)
    ]
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


def escaped(path: Path) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in str(path))


def is_at_once(session: Session, sql: str) -> bool:
    return any(AT_ONCE in line for (line,) in session.sql(f"EXPLAIN {sql}").fetchall())


def answer(session: Session, sql: str) -> tuple[object, list[str]]:
    """Return the schema of a result, and its rows."""
    result = session.sql(sql)
    return result.schema, list(map(repr, result.fetchall()))


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT name, SUM(tid) AS s FROM runs.events GROUP BY name",
        "SELECT name, quantile_cont(_duration, 0.9) AS q, COUNT(DISTINCT tid) AS t FROM runs.events GROUP BY name",
        "SELECT _trace, name, MAX(_ts) AS last, COUNT(*) AS n FROM runs.events WHERE tid = 1 GROUP BY ALL",
        "SELECT build, label, day, MIN(_ts) AS first FROM runs.events WHERE name > 'p' GROUP BY ALL",
        "SELECT _trace, SUM(dur) AS d FROM runs.raw_events.read WHERE build > 101 GROUP BY 1 HAVING SUM(dur) > 9us",
        "SELECT DISTINCT name, label FROM runs.events",
        "SELECT name, _duration FROM runs.events WHERE _duration > 8us",
        "SELECT a.name, COUNT(*) AS n FROM runs.events AS a JOIN runs.events AS b USING (_trace, _ts) GROUP BY ALL",
        "SELECT x.n, SUM(e.tid) AS s FROM runs.events AS e JOIN (VALUES ('open', 1), ('read', 2)) AS x(name, n) "
        "ON e.name = x.name AND e.build % 2 = 0 GROUP BY ALL",
        "SELECT name, n, SUM(n) OVER (ORDER BY name) AS up FROM "
        "(SELECT name, COUNT(*) AS n FROM runs.events WHERE tid > 1 GROUP BY name)",
        "SELECT n, COUNT(*) AS traces FROM (SELECT _trace, COUNT(DISTINCT name) AS n FROM runs.events GROUP BY _trace) "
        "GROUP BY n",
    ],
)
def test_rows_are_those_of_each_trace(session: Session, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    assert is_at_once(session, sql)
    found = answer(session, sql)
    assert found[1]
    session.sql("SET rewrite = 'off'")
    plain = answer(session, sql)
    session.sql("SET rewrite = 'on'")
    monkeypatch.setattr(FleetTable, "together", lambda *_, **__: None)
    assert not is_at_once(session, sql)
    assert answer(session, sql) == found == plain


@pytest.mark.parametrize(
    "sql",
    [
        # The column is made of the arguments of each event.
        "SELECT args, COUNT(*) AS n FROM runs.events GROUP BY ALL",
        # The first trace decides.
        "SELECT _trace, name FROM runs.events LIMIT 3",
        "SELECT COUNT(DISTINCT _trace) AS n FROM (SELECT _trace FROM runs.events LIMIT 70)",
        "SELECT any_value(_trace) AS t FROM runs.events",
        "SELECT name, row_number() OVER (PARTITION BY _trace ORDER BY _ts) AS n FROM runs.events",
        # What some traces lack is NULL there.
        "SELECT size, COUNT(*) AS n FROM runs.raw_events.read GROUP BY ALL",
        # Each trace has its own start, and its own slices.
        "SELECT runs.wall_clock(_ts) AS t, COUNT(*) AS n FROM runs.events GROUP BY ALL",
        "SELECT name, SUM(_duration) AS d FROM runs.slices GROUP BY name",
    ],
)
def test_what_each_trace_finds_itself(session: Session, sql: str) -> None:
    assert not is_at_once(session, sql)


def test_a_condition_on_traces_leaves_their_files_out(session: Session) -> None:
    sql = "SELECT name, MAX(_ts) AS t FROM runs.events WHERE build % 2 = 0 AND _trace LIKE '%2.pfw' GROUP BY name"
    assert any("fleet: 1 of 5 traces" in line for (line,) in session.sql(f"EXPLAIN {sql}").fetchall())


def opened(folder: Path, *, index: bool = True) -> Session:
    made = Session(index=index or "auto", index_dir=folder / "indexes", warn=False)
    made.mount_traces(folder / "*.pfw", "runs")
    return made


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_dftracer(tmp_path / "a.pfw", *["read"] * 5, "open")
    write_dftracer(tmp_path / "b.pfw", *["read"] * 7, "open")
    return tmp_path


ASK = "SELECT name, tid, COUNT(*) AS n FROM runs.events GROUP BY ALL ORDER BY ALL"
ROWS = [("open", 1, 2), ("read", 1, 12)]


def test_a_trace_without_an_index_is_read_until_it_has_one(folder: Path) -> None:
    with opened(folder, index=False) as session:
        assert not is_at_once(session, ASK)
        assert session.sql(ASK).fetchall() == ROWS
    with opened(folder) as session:
        assert is_at_once(session, ASK)
    with opened(folder, index=False) as session:
        assert is_at_once(session, ASK)
        assert session.sql(ASK).fetchall() == ROWS


def test_a_trace_that_changed_is_an_error(folder: Path) -> None:
    with opened(folder) as session:
        assert is_at_once(session, ASK)
        write_dftracer(folder / "b.pfw", "open")
        with pytest.raises(DctvError, match=r"b\.pfw.*has changed since it was mounted"):
            session.sql(ASK).fetchall()


@pytest.mark.parametrize("damage", ["gone", "other"])
def test_a_file_that_changed_is_an_error(folder: Path, damage: str) -> None:
    with opened(folder) as session:
        assert session.sql(ASK).fetchall() == ROWS
        (store,) = (folder / "indexes").glob("b*/store-*/events.parquet")
        (other,) = (folder / "indexes").glob("a*/store-*/events.parquet")
        store.unlink()
        if damage == "other":
            store.write_bytes(other.read_bytes())
        assert not is_at_once(session, ASK)
        with pytest.raises(IndexUnusable, match=r"b\.pfw: the stored table `.*` (is damaged|cannot be read)"):
            session.sql(ASK).fetchall()


def test_a_copy_of_a_file_is_read_by_each_trace(folder: Path) -> None:
    """It has another time, and its checksum decides."""
    with opened(folder) as session:
        assert is_at_once(session, ASK)
        (store,) = (folder / "indexes").glob("b*/store-*/events.parquet")
        whole = store.read_bytes()
        store.unlink()
        store.write_bytes(whole)
        assert not is_at_once(session, ASK)
        assert session.sql(ASK).fetchall() == ROWS


@pytest.mark.parametrize("text", ["", "{", "[]", '{"x": 1}', "gone"])
def test_the_list_of_files_is_made_again(folder: Path, text: str) -> None:
    with opened(folder) as session:
        assert is_at_once(session, ASK)
    (saved,) = (folder / "indexes" / "fleets").glob("*-stores.json")
    before = saved.read_text()
    if text == "gone":
        saved.unlink()
    else:
        saved.write_text(text)
        with opened(folder) as session:
            assert session.sql(ASK).fetchall() == ROWS
    with opened(folder) as session:
        assert is_at_once(session, ASK)
        assert session.sql(ASK).fetchall() == ROWS
    assert saved.read_text() == before


def test_a_new_trace_beside_a_damaged_list(folder: Path) -> None:
    with opened(folder):
        pass
    (saved,) = (folder / "indexes" / "fleets").glob("*-stores.json")
    saved.write_text("{")
    write_dftracer(folder / "c.pfw", "open", "close")
    for at_once in (False, True):
        with opened(folder) as session:
            assert is_at_once(session, ASK) == at_once
            assert session.sql(ASK).fetchall() == [("close", 1, 1), ("open", 1, 3), ("read", 1, 12)]


def test_a_link_to_a_trace_is_another_trace(folder: Path) -> None:
    (folder / "latest.pfw").symlink_to(folder / "b.pfw")
    with opened(folder) as session:
        found = session.sql(
            "SELECT _trace, COUNT(DISTINCT name) AS n, SUM(tid) AS s FROM runs.events GROUP BY 1"
        ).fetchall()
        assert [(Path(trace).name, n, s) for trace, n, s in found] == [
            ("a.pfw", 2, 6),
            ("b.pfw", 2, 8),
            ("latest.pfw", 2, 8),
        ]
        assert session.sql(ASK).fetchall() == [("open", 1, 3), ("read", 1, 19)]


def test_an_executor_reads_each_trace(folder: Path) -> None:
    with opened(folder) as session, ThreadPoolExecutor(1) as pool:
        session.executor = pool
        assert not is_at_once(session, ASK)
        assert session.sql(ASK).fetchall() == ROWS
