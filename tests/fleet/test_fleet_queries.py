"""Queries over fleets give what they give over the traces one by one, however many there are and wherever they run."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

import pytest

from dctv.session import Session
from tests.fleet.traces import write_fleet

SPANS = "dctv.as_spans((SELECT _trace, tid, _ts, _duration, name FROM runs.slices), partition=>'_trace', {})"
SPANS = SPANS.format("on_overlap=>'truncate'")
QUERIES = {
    "rows": "SELECT * FROM runs.slices ORDER BY _trace, id",
    "events": "SELECT _trace, _ts, name, args FROM runs.events ORDER BY _trace, _ts, name",
    "aggregates": "SELECT COUNT(*) AS n, SUM(_duration) AS s, MIN(name) AS least, MAX(_ts) AS last, "
    "AVG(_duration) AS m FROM runs.slices",
    "groups": "SELECT name, tid, COUNT(*) AS n, SUM(_duration) AS s FROM runs.slices GROUP BY 1, 2 ORDER BY 1, 2",
    "having": "SELECT name, COUNT(*) AS n FROM runs.slices WHERE _ts >= 100us GROUP BY 1 HAVING COUNT(*) > 3 "
    "ORDER BY n DESC, name LIMIT 3",
    "groups of a trace": "SELECT _trace, name, SUM(_duration) AS s FROM runs.slices GROUP BY ALL HAVING s > 10us "
    "ORDER BY ALL",
    "keys that are computed": "SELECT _ts // 100us AS bucket, COUNT(*) AS n, bool_or(name = 'a') AS any_a "
    "FROM runs.slices GROUP BY 1 ORDER BY 1",
    "aggregates of nothing": "SELECT COUNT(*) AS n, SUM(_duration) AS s, AVG(_duration) AS m FROM runs.slices "
    "WHERE name = 'nobody'",
    "other aggregates": "SELECT COUNT(DISTINCT name) AS n, median(_duration) AS m FROM runs.slices",
    "distinct with the trace": "SELECT DISTINCT _trace, name FROM runs.slices ORDER BY ALL",
    "distinct": "SELECT DISTINCT name FROM runs.slices ORDER BY ALL",
    "distinct values by key": "SELECT name, COUNT(DISTINCT _trace) AS n, COUNT(DISTINCT tid) AS t FROM runs.slices "
    "GROUP BY 1 ORDER BY 1",
    "distinct values and others": "SELECT COUNT(*) AS n, SUM(DISTINCT _duration) AS s FROM runs.slices",
    "distinct, sorted and cut": "SELECT DISTINCT name, tid FROM runs.slices ORDER BY tid DESC, name LIMIT 3 OFFSET 1",
    "the longest": "SELECT _trace, name, _duration FROM runs.slices ORDER BY _duration DESC LIMIT 5 OFFSET 2",
    "the latest by what is not shown": "SELECT upper(name) AS u, tid FROM runs.slices WHERE tid = 1 "
    "ORDER BY _ts DESC, name LIMIT 4",
    "the latest beside a constant": "SELECT 2 AS two, 'x' AS x, NULL AS none, -1 AS less, _ts, name FROM runs.slices "
    "ORDER BY _ts DESC, two, name LIMIT 3",
    "the first beside a constant": "SELECT 2 AS two, name FROM runs.slices ORDER BY two LIMIT 3",
    "the first": "SELECT name, _trace FROM runs.slices WHERE _ts > 50us LIMIT 70",
    "the first of an event table": "SELECT COUNT(tid) AS n FROM (SELECT tid FROM runs.raw_events.complete LIMIT 3)",
    "the latest of an event table": "SELECT _ts, tid FROM runs.raw_events.complete ORDER BY dur DESC, _ts LIMIT 3",
    "as many as the first": "SELECT 1 AS one FROM runs.raw_events.complete LIMIT 3",
    "a share": "SELECT name, _trace FROM runs.slices ORDER BY ALL LIMIT 10%",
    "a raw table": "SELECT cat, COUNT(tid) AS n, SUM(dur) AS s FROM runs.raw_events.complete GROUP BY 1",
    "a join within traces": "SELECT a._trace, a.id, b.id AS other FROM runs.slices AS a JOIN runs.slices AS b "
    "ON a._trace = b._trace AND a._ts = b._ts - 10us WHERE a.name = b.name ORDER BY ALL",
    "a join across traces": "SELECT a.name, COUNT(*) AS n FROM runs.slices AS a JOIN runs.slices AS b ON a._ts = b._ts "
    "GROUP BY 1 ORDER BY 1",
    "a left join": "SELECT a._trace, COUNT(*) AS n, COUNT(b.id) AS m FROM runs.slices AS a LEFT JOIN runs.slices AS b "
    "ON a._trace = b._trace AND a.id = b.id + 1 AND b._trace LIKE '%0.json' GROUP BY 1 ORDER BY 1",
    "what has no partner": "SELECT a._trace, a.id FROM runs.slices AS a LEFT JOIN runs.slices AS b "
    "ON a._trace = b._trace AND a.id = b.id + 1 WHERE b._trace IS NULL ORDER BY ALL",
    "groups of what may be NULL": "SELECT b._trace, COUNT(*) AS n FROM runs.slices AS a LEFT JOIN runs.slices AS b "
    "ON a._trace = b._trace AND a.id = b.id + 1 GROUP BY 1 ORDER BY 1",
    "distinct of what may be NULL": "SELECT DISTINCT b._trace FROM runs.slices AS a LEFT JOIN runs.slices AS b "
    "ON a._trace = b._trace AND a.id = b.id + 1 ORDER BY 1",
    "partners of what may be NULL": "SELECT x.t, COUNT(*) AS n FROM (SELECT b._trace AS t FROM runs.slices AS a "
    "FULL JOIN runs.slices AS b ON a._trace = b._trace AND a.id = b.id + 1) AS x GROUP BY 1 ORDER BY 1",
    "distinct aggregates": "SELECT DISTINCT COUNT(*) AS n FROM runs.slices",
    "windows": "SELECT _trace, id, lag(name) OVER (PARTITION BY _trace ORDER BY _ts) AS before FROM runs.slices "
    "ORDER BY ALL",
    "windows over all": "SELECT _trace, id, lag(name) OVER (ORDER BY _ts, _trace) AS before FROM runs.slices "
    "ORDER BY ALL",
    "groups of groups": "SELECT _trace, name, MAX(n) AS most FROM "
    "(SELECT _trace, name, tid, COUNT(*) AS n FROM runs.slices GROUP BY ALL) GROUP BY ALL ORDER BY ALL",
    "sums of counts": "SELECT name, SUM(n) AS n FROM (SELECT _trace, name, COUNT(*) AS n FROM runs.slices "
    "GROUP BY ALL) GROUP BY 1 ORDER BY 1",
    "a subquery": "SELECT name FROM runs.slices WHERE _duration = (SELECT MAX(_duration) FROM runs.slices) "
    "ORDER BY ALL",
    "spans": f"SELECT * FROM {SPANS} ORDER BY ALL",
    "a span join": f"SELECT x.name, SUM(x._duration) AS d FROM (SELECT SPAN a.name FROM {SPANS} AS a SPAN JOIN {SPANS} "
    "AS b) AS x GROUP BY 1 ORDER BY 1",
    "a span join as it comes": f"SELECT SPAN a.name, b.tid FROM {SPANS} AS a SPAN LEFT JOIN {SPANS} AS b",
    "departitioned": f"SELECT SPAN COUNT(*) AS n FROM {SPANS} GROUP USING PARTITION",
    "windows of time": f"SELECT SPAN MAX(name) AS m FROM {SPANS} GROUP USING SPANS FROM "
    "dctv.generate_sequential_spans(0ns, 1ms, 100us)",
    "facts": "SELECT _trace, MAX(_ts) AS t FROM runs.last_ts GROUP BY 1 ORDER BY 1",
    "some traces": "SELECT _trace, COUNT(*) AS n FROM runs.slices WHERE _trace LIKE '%1.json' "
    "OR _trace IN ('run000.json') GROUP BY 1 ORDER BY 1",
    "a common table": "WITH busy AS (SELECT _trace, tid, SUM(_duration) AS d FROM runs.slices GROUP BY ALL) "
    "SELECT a._trace, a.d, b.d AS other FROM busy AS a JOIN busy AS b USING (_trace) WHERE a.tid < b.tid ORDER BY ALL",
    "a union": "SELECT name FROM runs.slices WHERE id < 3 UNION ALL SELECT name FROM runs.events WHERE _ts < 50us "
    "ORDER BY ALL",
    "a column that a collation compares": "SELECT COUNT(*) AS n FROM (SELECT if(_trace LIKE '%0.json', upper(name), "
    "name) COLLATE nocase AS k, _trace FROM runs.slices) GROUP BY k ORDER BY n",
    "rows without names": "SELECT x::STRING AS s, COUNT(*) AS n FROM (SELECT (id % 2, name) AS x, _trace FROM "
    "runs.slices) GROUP BY x ORDER BY s",
    "the current time": "SELECT COUNT(DISTINCT now()) AS a, COUNT(DISTINCT t) AS b, SUM(x) AS c FROM "
    "(SELECT _trace, current_localtimestamp() AS t, (today() = current_date())::INT64 AS x FROM runs.slices)",
}
TOLD = {
    "by label": "SELECT label, SUM(_duration) AS d, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1",
    "some builds": "SELECT build, COUNT(*) AS n FROM runs.slices WHERE build BETWEEN 101 AND 102 GROUP BY 1 ORDER BY 1",
    "some days": "SELECT COUNT(*) AS n FROM runs.slices WHERE day > DATE '2026-01-03'",
    "without a label": "SELECT COUNT(*) AS n FROM runs.events WHERE label IS NULL",
    "traces": "SELECT * FROM runs.traces",
    "timelines": "SELECT _trace, name, COUNT(*) AS n FROM runs.timeline.slices GROUP BY ALL ORDER BY ALL",
}
ALL = {**QUERIES, **TOLD}
FEW = ("groups", "a span join", "having", "departitioned", "the longest")
"""Queries of large fleets."""
STARS = ("rows", "spans", "a span join as it comes")
"""Queries whose columns stand in another order where traces are put together by hand."""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("fleets")
    for count in (1, 3, 7):
        write_fleet(made / str(count), count)
    return made


@pytest.fixture(
    scope="module", params=[pytest.param(1, marks=pytest.mark.ci), 3, pytest.param(7, marks=pytest.mark.ci)]
)
def session(folder: Path, request: pytest.FixtureRequest, monkeypatch_module: pytest.MonkeyPatch) -> Iterator[Session]:
    """A fleet `runs`, and the same traces one by one, whose rows are put together under `each`."""
    count: int = request.param
    monkeypatch_module.chdir(folder / str(count))
    monkeypatch_module.setattr("dctv.run.trace_workers.MANY", 7)
    with mounted_both_ways(count) as made:
        yield made


@contextmanager
def mounted_both_ways(count: int) -> Iterator[Session]:
    """Mount the runs of this folder as a fleet `runs`, and one by one with their rows put together under `each`.

    Many have indexes, so that several are run through in one pass.
    """
    with Session(index=count > 3, index_dir=Path("indexes"), threads=2) as made:
        made.mount_traces("*.json", "runs", manifest="runs.csv")
        for number in range(count):
            made.mount(f"run{number:03}.json", f"t{number}")
        for table in ("slices", "events", "raw_events.complete", "last_ts"):
            parts = [f"SELECT 'run{n:03}.json' AS _trace, * FROM t{n}.{table}" for n in range(count)]
            made.sql(f"CREATE VIEW each.{table} AS {' UNION ALL '.join(parts)}")
        yield made


@pytest.fixture(scope="module")
def monkeypatch_module() -> Iterator[pytest.MonkeyPatch]:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


def rows(session: Session, sql: str) -> list[str]:
    found = session.sql(sql)
    return [*found.schema.names, *(repr(row) for row in found.fetchall())]


def check_rows_of_a_fleet(there: Session, folder: Path, count: int) -> None:
    """Compare the rows of a session whose traces are read elsewhere with those of this process: a fleet of so many."""
    write_fleet(folder, count)
    queries = ALL if count == 3 else {name: QUERIES[name] for name in FEW}
    with Session(index=False) as here:
        for one in (here, there):
            one.mount_traces(folder / "*.json", "runs", manifest="runs.csv")
        for name, sql in queries.items():
            assert rows(there, sql) == rows(here, sql), name


@pytest.mark.parametrize("query", [one for one in QUERIES if one not in STARS])
def test_rows_are_those_of_the_traces_one_by_one(session: Session, query: str) -> None:
    found = rows(session, QUERIES[query])
    assert found == rows(session, QUERIES[query].replace("runs.", "each."))
    assert any(one.startswith("(") for one in found)


@pytest.mark.ci
def test_fifty_traces_in_processes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_fleet(tmp_path, 50)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("dctv.run.trace_workers.MANY", 7)
    with mounted_both_ways(50) as session:
        for query in FEW:
            found = rows(session, QUERIES[query])
            assert found == rows(session, QUERIES[query].replace("runs.", "each.")), query
            assert any(one.startswith("(") for one in found), query


WAYS = [("rewrite", "off", "on", one) for one in ALL] + [
    ("span_engine", "relational", "kernel", one) for one in ALL if "SPAN" in ALL[one] or "timeline" in ALL[one]
]


@pytest.mark.parametrize(("setting", "value", "usual", "query"), WAYS)
def test_how_plans_are_carried_out_changes_nothing(
    session: Session, setting: str, value: str, usual: str, query: str
) -> None:
    sql = ALL[query]
    found = rows(session, sql)
    session.sql(f"SET {setting} = '{value}'")
    try:
        again = rows(session, sql)
    finally:
        session.sql(f"SET {setting} = '{usual}'")
    # Spans that begin together come in another order where queries of the engine make them.
    assert again == found if setting == "rewrite" else sorted(again) == sorted(found)


def test_an_executor_of_the_program(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder / "3")
    with (
        Session(index=False) as here,
        Session(index=False) as there,
        ProcessPoolExecutor(2, get_context("spawn")) as pool,
    ):
        there.executor = pool
        for one in (here, there):
            one.mount_traces("*.json", "runs", manifest="runs.csv")
        for sql in ALL.values():
            assert rows(there, sql) == rows(here, sql)
        assert there.executor is pool
