"""Which traces a query opens, and what is known of traces without opening them."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.errors import DctvError, EngineError
from dctv.index.cache import CacheLimit, prune
from dctv.run.fleet.table import FleetTable
from dctv.session import Session


def write_dftracer(path: Path, *names: str, growth: int = 0) -> None:
    """Write events of 5 us, or of `growth` more than the one before."""
    lines = (
        {
            "id": n,
            "name": name,
            "cat": "POSIX",
            "pid": 1,
            "tid": 1,
            "ts": n * 10,
            "dur": 5 + n * growth,
            "ph": "X",
            "args": {},
        }
        for n, name in enumerate(names)
    )
    path.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "runs"
    made.mkdir()
    write_dftracer(made / "a.pfw", *["read"] * 5)
    write_dftracer(made / "b.pfw", *["read"] * 5, *["write"] * 95)
    write_dftracer(made / "c.pfw", "open")
    (made / "m.csv").write_text("trace,build,day\na.pfw,1,2026-01-01\nb.pfw,2,2026-02-01\nc.pfw,3,2026-03-01\n")
    return made


@pytest.fixture
def session(folder: Path, tmp_path: Path) -> Iterator[Session]:
    with opened(folder, tmp_path) as made:
        yield made


def opened(folder: Path, tmp_path: Path) -> Session:
    made = Session(index=True, index_dir=tmp_path / "indexes", warn=False)
    made.mount_traces(folder / "*.pfw", "runs", manifest=str(folder / "m.csv"))
    return made


def metadata_file(tmp_path: Path) -> Path:
    """Return the file with the metadata of the only fleet."""
    (found,) = (one for one in (tmp_path / "indexes" / "fleets").iterdir() if "stores" not in one.name)
    return found


def read(session: Session, sql: str) -> int:
    """Return how many traces are read."""
    lines = [line.strip() for (line,) in session.sql(f"EXPLAIN {sql}").fetchall()]
    told = [line.split()[1] for line in lines if line.startswith("fleet: ")]
    assert told
    return max(map(int, told))


@pytest.mark.parametrize(
    ("test", "traces"),
    [
        ("true", 3),
        ("build = 2", 1),
        ("build IN (1, 3)", 2),
        ("build + 1 = 2 OR build = 3", 2),
        ("day >= DATE '2026-02-01'", 2),
        ("day IS NULL", 0),
        ("_trace LIKE '%b.pfw'", 1),
        ("_trace LIKE '%.pfw' AND build != 1", 2),
        ("name = 'write'", 1),
        ("name IN ('open', 'write')", 2),
        ("name LIKE 're%'", 2),
        ("NOT name = 'read'", 2),
        ("name = 'nothing'", 0),
        ("_ts > 100us", 1),
        ("_ts >= 1s", 0),
        ("_ts >= 0ns", 3),
        ("name = 'write' OR build = 3", 2),
        ("_duration > 1s", 3),
    ],
)
def test_conditions_leave_out_traces(session: Session, test: str, traces: int) -> None:
    sql = f"SELECT COUNT(*) AS n, COUNT(DISTINCT build) AS b FROM runs.events WHERE {test}"
    kept = session.sql(
        f"SELECT COUNT(*) AS n, COUNT(DISTINCT build) AS b FROM (SELECT * FROM runs.events LIMIT 1000) WHERE {test}"
    )
    assert session.sql(sql).fetchall() == kept.fetchall()
    assert read(session, f"SELECT COUNT(*) AS n FROM runs.events WHERE {test}") == traces


NEEDED = [
    ("SELECT mode(name) AS m FROM runs.events WHERE _trace LIKE '%b.pfw' AND name LIKE '%rit%'", 1, 95),
    ("SELECT string_agg(name ORDER BY _ts) AS m FROM runs.events WHERE build = 1 AND regexp_matches(name, 'r')", 1, 5),
    ("SELECT _ts, row_number() OVER (ORDER BY _trace, _ts) AS n FROM runs.events WHERE build + 1 = 2", 1, 5),
    (
        "SELECT e.name, x.n FROM runs.events AS e JOIN (VALUES ('read', 3)) AS x(name, n) ON e.name = x.name "
        "WHERE e._trace LIKE '%a.pfw' AND e.name LIKE '%ea%'",
        1,
        5,
    ),
    (
        "SELECT e.name, x.n FROM runs.events AS e LEFT JOIN (VALUES ('write', 3)) AS x(name, n) ON e.name = x.name "
        "WHERE e.build != 2 AND NOT e.name LIKE '%pe%' AND x.n IS NULL",
        2,
        5,
    ),
    ("WITH w AS (SELECT * FROM runs.events WHERE name LIKE '%e%') SELECT mode(name) FROM w WHERE build % 2 = 1", 2, 6),
    (
        "SELECT x.n, e.name FROM (VALUES ('read', 3), ('shut', 4)) AS x(name, n) LEFT JOIN runs.events AS e "
        "ON e.name = x.name AND e._trace LIKE '%a.pfw'",
        1,
        5,
    ),
    (
        "SELECT x.n, e.name FROM runs.events AS e JOIN (VALUES ('read', 3)) AS x(name, n) "
        "ON e.name = x.name AND e._trace LIKE '%b.pfw' AND e.name LIKE '%ea%'",
        1,
        5,
    ),
    (
        "SELECT x.n, e.name FROM runs.events AS e LEFT JOIN (VALUES ('read', 3)) AS x(name, n) "
        "ON e.name = x.name AND e._trace LIKE '%b.pfw' AND e.name LIKE '%ea%'",
        3,
        106,
    ),
    (
        "SELECT x.n FROM (VALUES ('read', 3), ('shut', 4)) AS x(name, n) ANTI JOIN runs.events AS e "
        "ON e.name = x.name AND e.build % 2 = 1 AND e.name LIKE '%e%'",
        2,
        6,
    ),
    # A row that is missing on one side of an outer join is there on the other.
    (
        "SELECT e.name, x.n FROM runs.events AS e RIGHT JOIN (VALUES ('close', 3)) AS x(name, n) ON e.name = x.name "
        "WHERE e.build + 1 = 2 OR e.build IS NULL",
        3,
        106,
    ),
    ("SELECT mode(name) AS m FROM runs.events WHERE build + 1 = 2 OR random() < -1", 3, 106),
    # A cast may fail for a row that is not joined.
    (
        "SELECT x.n FROM runs.events AS e JOIN (VALUES ('read', 3)) AS x(name, n) ON e.name = x.name "
        "WHERE e.build = 2 AND length(e.name)::INT8 = 4",
        1,
        100,
    ),
]


@pytest.mark.parametrize(("sql", "traces", "rows"), NEEDED)
def test_each_trace_applies_the_conditions_of_a_select_over_all(
    session: Session, monkeypatch: pytest.MonkeyPatch, sql: str, traces: int, rows: int
) -> None:
    at_once = session.sql(f"SELECT * FROM ({sql}) AS every ORDER BY ALL").fetchall()
    monkeypatch.setattr(FleetTable, "together", lambda *_, **__: None)
    found = session.sql(f"SELECT * FROM ({sql}) AS every ORDER BY ALL").fetchall()
    assert at_once == found
    assert read(session, sql) == traces
    lines = [line.strip() for (line,) in session.sql(f"EXPLAIN ANALYZE {sql}").fetchall()]
    (moved,) = (n for n, line in enumerate(lines) if line.startswith("scan each trace"))
    assert next(line for line in lines[moved:] if line.startswith("ran:")).startswith(f"ran: {rows} row")
    session.sql("SET rewrite = 'off'")
    assert session.sql(f"SELECT * FROM ({sql}) AS every ORDER BY ALL").fetchall() == found


def test_rows_left_to_chance_are_of_any_trace(session: Session) -> None:
    assert read(session, "SELECT SUM(tid) AS n FROM runs.events WHERE build + 1 = 2 OR random() < -1") == 3


def test_a_condition_that_fails_for_a_trace_which_is_not_asked_for(session: Session) -> None:
    number = "CAST(regexp_extract(_trace, '([ab]).pfw', 1) AS INT)"
    test = f"CASE WHEN name = 'open' THEN 0 ELSE {number} END = 0"
    sql = f"SELECT COUNT(*) AS n FROM runs.events WHERE name = 'open' AND {test}"
    assert session.sql(sql).fetchall() == [(1,)]
    with pytest.raises(EngineError):
        session.sql(f"SELECT COUNT(*) AS n FROM runs.events WHERE {number} = 1").fetchall()


def test_a_table_that_a_trace_lacks_does_not_open_it(session: Session) -> None:
    assert read(session, "SELECT SUM(tid) AS n FROM runs.raw_events.write") == 1
    assert session.sql("SELECT SUM(tid) AS n FROM runs.raw_events.write").fetchall() == [(95,)]


def test_outer_joins_keep_the_rows_of_their_side(session: Session) -> None:
    sql = (
        "SELECT a._trace, COUNT(b.name) AS n FROM runs.events AS a LEFT JOIN runs.events AS b "
        "ON a._trace = b._trace AND a._ts = b._ts AND b.build = 2 WHERE a.build < 3 GROUP BY 1 ORDER BY 1"
    )
    found = session.sql(sql).fetchall()
    assert [(Path(trace).name, n) for trace, n in found] == [("a.pfw", 0), ("b.pfw", 100)]
    assert read(session, sql) == 2


COUNTED = {
    "SELECT COUNT(*) AS n FROM runs.events": [(106,)],
    "SELECT name, COUNT(*) AS n FROM runs.events GROUP BY name ORDER BY n DESC": [
        ("write", 95),
        ("read", 10),
        ("open", 1),
    ],
    "SELECT build, name, COUNT(_ts) AS n, COUNT(name) AS m FROM runs.events GROUP BY 1, 2 HAVING COUNT(*) > 4 "
    "ORDER BY 1, 2": [
        (1, "read", 5, 5),
        (2, "read", 5, 5),
        (2, "write", 95, 95),
    ],
    "SELECT COUNT(*) AS n FROM runs.raw_events.read": [(10,)],
    "SELECT name, SUM(_duration) AS s, AVG(_duration) AS m FROM runs.events GROUP BY name ORDER BY name": [
        ("open", 5_000, 5_000.0),
        ("read", 50_000, 5_000.0),
        ("write", 475_000, 5_000.0),
    ],
    "SELECT COUNT(_duration) AS n, MIN(_duration) AS least, MAX(_duration) AS most FROM runs.events": [
        (106, 5_000, 5_000)
    ],
    "SELECT build, COUNT(*) AS n FROM runs.raw_events.write GROUP BY build": [(2, 95)],
    "SELECT name, stddev(_duration) AS d, var_pop(_duration) AS v FROM runs.events GROUP BY name ORDER BY name": [
        ("open", None, 0.0),
        ("read", 0.0, 0.0),
        ("write", 0.0, 0.0),
    ],
}


@pytest.mark.parametrize("sql", COUNTED)
def test_what_is_only_counted_opens_no_trace(session: Session, sql: str) -> None:
    assert session.sql(sql).fetchall() == COUNTED[sql]
    assert "fleet: " not in str(session.sql(f"EXPLAIN {sql}").fetchall())
    session.sql("SET rewrite = 'off'")
    assert session.sql(sql).fetchall() == COUNTED[sql]


def test_variances_of_what_is_kept_of_each_trace(folder: Path, tmp_path: Path) -> None:
    write_dftracer(folder / "a.pfw", *["read", "write"] * 20, growth=3)
    write_dftracer(folder / "b.pfw", *["read"] * 7, growth=1_000_000)
    sql = "SELECT name, var_pop(_duration) AS p, variance(_duration) AS s, stddev(_duration) AS d FROM runs.events "
    sql += "GROUP BY name ORDER BY name"
    with opened(folder, tmp_path) as session:
        assert "fleet: " not in str(session.sql(f"EXPLAIN {sql}").fetchall())
        found = {name: figures for name, *figures in session.sql(sql).fetchall()}
        durations: dict[str, list[int]] = {}
        for name, duration in session.sql("SELECT name, _duration FROM runs.events").fetchall():
            durations.setdefault(name, []).append(duration)
    assert found.pop("open") == [0.0, None, None]
    for name, figures in found.items():
        known = durations[name]
        right = (statistics.pvariance(known), statistics.variance(known), statistics.stdev(known))
        assert figures == [pytest.approx(one, rel=1e-15) for one in right]


def test_what_is_counted_of_each_trace(session: Session) -> None:
    sql = "SELECT _trace, COUNT(*) AS n FROM runs.events GROUP BY 1 ORDER BY 1"
    assert [(Path(trace).name, n) for trace, n in session.sql(sql).fetchall()] == [
        ("a.pfw", 5),
        ("b.pfw", 100),
        ("c.pfw", 1),
    ]
    assert "fleet: " not in str(session.sql(f"EXPLAIN {sql}").fetchall())


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT COUNT(tid) AS n FROM runs.events",
        "SELECT SUM(dur) AS n FROM runs.raw_events.read",
        "SELECT median(_duration) AS n FROM runs.events",
        "SELECT COUNT(DISTINCT name) AS n FROM runs.events",
        "SELECT day, COUNT(*) AS n FROM runs.events GROUP BY 1",
        "SELECT tid, COUNT(*) AS n FROM runs.events GROUP BY 1",
        "SELECT COUNT(*) AS n FROM runs.events WHERE name = 'read'",
        "SELECT COUNT(*) AS n FROM runs.raw_events.read WHERE tid = 1",
        "SELECT name, MAX(_ts) AS t FROM runs.events GROUP BY 1",
    ],
)
def test_what_is_not_known_of_all_traces_is_read(session: Session, sql: str) -> None:
    assert read(session, sql) > 0
    found = sorted(map(repr, session.sql(sql).fetchall()))
    session.sql("SET rewrite = 'off'")
    assert sorted(map(repr, session.sql(sql).fetchall())) == found


def test_counts_of_a_trace_that_changed_are_not_trusted(session: Session, folder: Path) -> None:
    write_dftracer(folder / "c.pfw", "open", "close")
    with pytest.raises(DctvError, match=r"c\.pfw.*has changed since it was mounted"):
        session.sql("SELECT COUNT(*) AS n FROM runs.events").fetchall()


@pytest.mark.usefixtures("session")
def test_what_is_known_is_kept_until_a_trace_changes(folder: Path, tmp_path: Path) -> None:
    memory = metadata_file(tmp_path)
    before = memory.read_text()
    with opened(folder, tmp_path) as again:
        assert again.sql("SELECT COUNT(*) AS n FROM runs.events").fetchall() == [(106,)]
    assert memory.read_text() == before
    write_dftracer(folder / "c.pfw", "open", "close")
    with opened(folder, tmp_path) as again:
        assert again.sql("SELECT COUNT(*) AS n FROM runs.events WHERE name = 'close'").fetchall() == [(1,)]
    assert memory.read_text() != before


@pytest.mark.parametrize("text", ["", "{", "[]", '{"schemas": [], "traces": {"x": 1}}', '{"schemas": 1, "traces": {}}'])
@pytest.mark.usefixtures("session")
def test_what_is_damaged_is_found_again(folder: Path, tmp_path: Path, text: str) -> None:
    memory = metadata_file(tmp_path)
    before = memory.read_text()
    memory.write_text(text)
    with opened(folder, tmp_path) as again:
        assert again.sql("SELECT COUNT(*) AS n FROM runs.events").fetchall() == [(106,)]
    assert memory.read_text() == before


@pytest.mark.usefixtures("session")
def test_it_goes_with_the_indexes_that_are_pruned(tmp_path: Path) -> None:
    folder = tmp_path / "indexes"
    prune(folder, CacheLimit(None, 3600.0, nothing=False))
    assert list((folder / "fleets").glob("*.json"))
    prune(folder, CacheLimit(None, None, nothing=True))
    assert not list((folder / "fleets").glob("*.json"))


def test_views_of_traces_with_and_without_an_index(session: Session, folder: Path) -> None:
    """What a view was bound to for a trace with a file of all events is no good for one that has none."""
    sql = "SELECT COUNT(*) AS n FROM runs.events WHERE tid = 1"
    assert session.sql(sql).fetchall() == [(106,)]
    with Session(index=False, warn=False) as other:
        other.mount_traces(folder / "*.pfw", "runs")
        assert other.sql(sql).fetchall() == [(106,)]


def test_without_indexes_nothing_is_kept(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DCTV_INDEX_DIR", str(tmp_path / "none"))
    with Session(index=False, warn=False) as session:
        session.mount_traces(folder / "*.pfw", "runs")
        assert session.sql("SELECT COUNT(*) AS n FROM runs.events").fetchall() == [(106,)]
    assert not (tmp_path / "none").exists()
