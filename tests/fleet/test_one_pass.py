"""A plan that is run through several traces in one pass gives what it gives in each, in the same order."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.bind.binder import Binder
from dctv.errors import DctvError, EngineError, SourceText
from dctv.plan.nodes import Plan
from dctv.record import replace
from dctv.rewrite import cut_fleets
from dctv.rewrite.flattened import Flattening
from dctv.rewrite.flattened_queries import NotFlat
from dctv.run.context import ExecutionContext
from dctv.run.fleet import batching, fleet, one_pass, part, part_rows
from dctv.run.fleet.members import FleetMember
from dctv.run.fleet.metadata import MemberMetadata
from dctv.run.fleet.part import FleetPart, PartReport, PartTrace, as_rows
from dctv.run.plans import environment
from dctv.session import Session
from dctv.syntax import ast
from dctv.syntax.parse import parse
from tests.bounds import bounded
from tests.fleet.test_random_queries import FORMS, expanded
from tests.fleet.traces import write_run

DATA = Path(__file__).parents[1] / "data"
Rows = Sequence[Sequence[Any]] | type[DctvError]
TABLE = "(SELECT *, 'run' AS _trace, tid AS build, 'odd' AS label, DATE '2026-01-02' AS day FROM runs.slices)"


@pytest.fixture(scope="module")
def batch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[ExecutionContext, FleetPart]]:
    """Return a part of four traces with the same tables, as a query hands it out; the last has events of its own."""
    folder = tmp_path_factory.mktemp("fleet")
    for seed, slices in ((1, 60), (2, 60), (4, 30), (5, 60), (7, 3)):
        write_run(folder / f"run{seed}.json", seed, slices)
    caught: list[tuple[ExecutionContext, FleetPart]] = []
    given = part_rows.batches

    def batches(context: ExecutionContext, asked: FleetPart, report: PartReport) -> Iterator[Any]:
        caught.append((context, asked))
        yield from given(context, asked, report)

    with Session(index=True, index_dir=folder / "indexes", threads=1, warn=False) as session:
        session.mount_traces(folder / "*.json", "runs")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(fleet, "batches", batches)
            session.sql("SELECT * FROM runs.slices").fetchall()
        yield caught[-1]


@pytest.fixture
def passes(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that gets `together` for each part that is run in one pass, and the names of other traces."""
    found: list[str] = []
    in_one_pass, of_trace = one_pass.in_one_pass, part_rows.of_trace

    def together(*given: Any) -> Iterator[Any]:
        yield from in_one_pass(*given)
        found.append("together")

    def alone(*given: Any) -> Iterator[Any]:
        found.append(given[2].member.name)
        yield from of_trace(*given)

    monkeypatch.setattr(part_rows, "in_one_pass", together)
    monkeypatch.setattr(part_rows, "of_trace", alone)
    return found


def asked(batch: tuple[ExecutionContext, FleetPart], sql: str) -> tuple[Rows, Rows]:
    """Return the rows of a query of each trace: in one pass, and trace by trace."""
    context, part_of_all = batch
    (statement,) = parse(SourceText("query", sql))
    assert isinstance(statement, ast.SelectStatement)
    select = statement.select

    def bound(_: Plan, __: FleetPart, ____: object, alone: ExecutionContext, **___: bool) -> Plan:
        return as_rows(Binder(environment(alone)).plan(select))

    def answered(parts: Sequence[Sequence[PartTrace]]) -> Rows:
        query = uuid4().hex
        return rows(context, [replace(part_of_all, traces=traces, query=query) for traces in parts])

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(part, "_bound", bound)
        return answered([part_of_all.traces]), answered([[one] for one in part_of_all.traces])


def rows(context: ExecutionContext, parts: Sequence[FleetPart]) -> Rows:
    found: list[Sequence[Any]] = []
    try:
        for one in parts:
            for batch in part_rows.batches(context, one, PartReport()):
                found += zip(*(column.to_pylist() for column in batch.columns), strict=True)
    except DctvError as error:
        return type(error)
    return found


@pytest.mark.parametrize("kind", [name for name in FORMS if name.isupper()])
def test_random_queries(batch: tuple[ExecutionContext, FleetPart], kind: str, passes: list[str]) -> None:
    @bounded(60)
    @given(st.data())
    def same(data: st.DataObject) -> None:
        sql = data.draw(st.composite(expanded)(kind)).replace("{T}", TABLE)
        together, alone = asked(batch, sql)
        assert together == alone

    same()
    assert ("together" in passes) != (kind in NEVER)


NEVER = ("GROUPING SETS", "SUBQUERIES")
FLAT = [
    "SELECT * FROM runs.slices",
    "SELECT * FROM runs.events",
    "SELECT name, _duration FROM runs.slices ORDER BY _duration DESC, id LIMIT 3 OFFSET 1",
    "SELECT name, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY n DESC, 1 LIMIT 2",
    "SELECT COUNT(*) AS n, MAX(name) AS m, SUM(id) FILTER (WHERE tid = 1) AS s FROM runs.slices WHERE id > 40",
    "SELECT COUNT(*) + 1 AS n FROM runs.slices WHERE id > 40 HAVING COUNT(*) < 1",
    "SELECT AVG(_duration / 3.0) AS a, list(id) AS l FROM runs.slices GROUP BY name ORDER BY name",
    "SELECT id, _ts - (SELECT MIN(_ts) FROM runs.slices WHERE id > 1) AS t FROM runs.slices ORDER BY id",
    "SELECT (SELECT id FROM runs.slices WHERE id > 50 ORDER BY id LIMIT 1) AS i, COUNT(*) AS n FROM runs.slices",
    "SELECT name, (SELECT MAX(id) FROM runs.slices) AS m, COUNT(*) AS n FROM runs.slices GROUP BY 1",
    "SELECT DISTINCT name, tid FROM runs.slices ORDER BY ALL",
    "SELECT id, lag(id) OVER (PARTITION BY tid ORDER BY _ts) AS b, SUM(id) OVER (ORDER BY id) AS s FROM runs.slices",
    "SELECT id FROM runs.slices QUALIFY row_number() OVER (PARTITION BY name ORDER BY id DESC) = 1 ORDER BY id",
    "SELECT a.id, b.id AS other FROM runs.slices AS a FULL JOIN runs.slices AS b ON a.id = b.id + 20 ORDER BY ALL",
    "SELECT a.id, b.id AS other FROM runs.slices AS a RIGHT JOIN runs.slices AS b ON a.id = b.id + 20 ORDER BY ALL",
    "SELECT v.i, a.id FROM (VALUES (1), (50), (99)) AS v(i) LEFT JOIN runs.slices AS a ON a.id = v.i ORDER BY ALL",
    "SELECT v.i, a.name FROM (VALUES (1), (50)) AS v(i) CROSS JOIN runs.slices AS a WHERE a.id < 3 ORDER BY ALL",
    "SELECT v.i FROM (VALUES (50), (1)) AS v(i)",
    "SELECT a.name, v.i FROM (VALUES (50), (1)) AS v(i) JOIN runs.slices AS a ON v.i = a.id ORDER BY ALL",
    "SELECT id FROM runs.slices WHERE tid = 1 UNION SELECT id + 7 FROM runs.slices EXCEPT SELECT 9 ORDER BY 1",
    "SELECT id, unnest([tid, id]) AS u FROM runs.slices ORDER BY ALL",
    "SELECT a.id, b.id AS before FROM runs.slices AS a ASOF JOIN runs.slices AS b ON a.tid = b.tid AND a._ts > b._ts "
    "ORDER BY ALL",
    "WITH RECURSIVE up(id, n) AS (SELECT id, 1 FROM runs.slices WHERE id < 4 UNION ALL SELECT s.id, up.n + 1 FROM up "
    "JOIN runs.slices AS s ON s.id = up.id + 5 WHERE up.n < 4) SELECT * FROM up ORDER BY ALL",
    "WITH long AS (SELECT * FROM runs.slices WHERE _duration > 5us) SELECT a.id FROM long AS a JOIN long AS b "
    "ON a.id = b.id + 1 ORDER BY 1",
    "SELECT name, tid, COUNT(*) AS n FROM dctv.as_spans(runs.slices, partition=>'tid') GROUP BY 1, 2 ORDER BY ALL",
    "SELECT SPAN a.name FROM dctv.as_spans(runs.slices, partition=>'tid') AS a SPAN JOIN "
    "dctv.as_spans(runs.slices, partition=>'tid') AS b",
    "SELECT COUNT(*) AS n, (SELECT MAX(i) FROM (VALUES (3)) AS v(i)) AS m FROM runs.slices WHERE id > 40",
    "SELECT 1 AS one FROM runs.slices WHERE id > 40 ORDER BY COUNT(*)",
    "SELECT v.i, a.n FROM (VALUES (1), (2)) AS v(i) LEFT JOIN (SELECT tid, COUNT(*) AS n FROM runs.slices "
    "WHERE id > 20 GROUP BY 1) AS a ON a.tid = v.i ORDER BY ALL",
    "SELECT name, first(id ORDER BY id DESC) AS f, string_agg(name, ',' ORDER BY id) AS s FROM runs.slices GROUP BY 1 "
    "ORDER BY 1",
    "SELECT _ts FROM runs.last_ts",
    "SELECT key, value FROM runs.properties ORDER BY 1",
]
ONE_BY_ONE = [
    "SELECT random() < 2 AS r FROM runs.slices",
    "SELECT _ts FROM runs.events LIMIT 3",
    "SELECT row_number() OVER () AS n, id FROM runs.slices",
    "SELECT name, tid, COUNT(*) AS n FROM runs.slices GROUP BY CUBE (name, tid) ORDER BY ALL",
    "SELECT id FROM runs.slices AS a WHERE EXISTS (SELECT 1 FROM runs.slices AS b WHERE b.id = a.id + 1) ORDER BY 1",
    "SELECT id FROM runs.slices WHERE id IN (SELECT MAX(id) FROM runs.slices)",
    "SELECT COUNT(*) AS n, MAX(COUNT(*)) OVER () AS m FROM runs.slices WHERE id > 40",
    "SELECT * FROM runs.slices USING SAMPLE 10 ROWS",
    "WITH RECURSIVE up(id) AS (SELECT MAX(id) // 9 FROM runs.slices UNION SELECT COUNT(*) FROM up HAVING MAX(id) > 1) "
    "SELECT * FROM up ORDER BY 1",
    "WITH RECURSIVE up(id) AS (SELECT id FROM runs.slices WHERE id < 3 UNION SELECT v.i FROM (VALUES (5), (6)) AS v(i) "
    "LEFT JOIN up ON up.id = v.i) SELECT * FROM up ORDER BY 1",
]


@pytest.mark.parametrize("sql", FLAT)
def test_what_is_run_in_one_pass(batch: tuple[ExecutionContext, FleetPart], sql: str, passes: list[str]) -> None:
    together, alone = asked(batch, sql)
    assert together == alone
    assert passes == ["together", *(one.member.name for one in batch[1].traces)]


@pytest.mark.parametrize("sql", ONE_BY_ONE)
def test_what_is_run_one_by_one(batch: tuple[ExecutionContext, FleetPart], sql: str, passes: list[str]) -> None:
    together, alone = asked(batch, sql)
    assert together == alone
    assert passes == [one.member.name for one in batch[1].traces] * 2


def test_more_than_one_value(batch: tuple[ExecutionContext, FleetPart], passes: list[str]) -> None:
    together, alone = asked(batch, "SELECT (SELECT id FROM runs.slices WHERE tid = 1) AS i")
    assert together == alone
    assert isinstance(together, type)
    assert passes


TRACES = [
    "stdlib/calls.pfw",
    "stdlib/kernel.trace.txt",
    "stdlib/browser.json",
    "stdlib/memory.pftrace",
    "uftrace/switches",
]


@pytest.mark.ci
@pytest.mark.parametrize("source", TRACES)
def test_tables_and_views_of_formats(
    tmp_path: Path, source: str, passes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows, their order, and warnings are those of the traces one by one."""
    ending = "".join(Path(source).suffixes)
    monkeypatch.setattr(batching, "_GROWING", 0)
    for name in "ab":
        copy = shutil.copytree if (DATA / source).is_dir() else shutil.copy
        copy(DATA / source, tmp_path / f"{name}{ending}")

    def found() -> dict[str, object]:
        answers: dict[str, object] = {}
        with Session(index=True, index_dir=tmp_path / "indexes", warn=False) as session:
            session.mount_traces(tmp_path / f"[ab]{ending}", "runs")
            for name, kind, _ in session.sql("SHOW TABLES").fetchall():
                if kind != "function":
                    rows = session.sql(f"SELECT * FROM {name}").fetchall()
                    answers[str(name)] = rows, session.warnings()
        return answers

    together = found()
    assert passes.count("together") > len(together) / 2
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(batching, "_SMALL", -1)
        assert found() == together


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for seed in (1, 2, 4):
        write_run(tmp_path / f"run{seed}.json", seed)
    return tmp_path


def opened(folder: Path) -> Session:
    session = Session(index=True, index_dir=folder / "indexes", warn=False)
    session.mount_traces(folder / "*.json", "runs")
    return session


ASK = "SELECT name, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1"


def test_an_error_names_its_trace(folder: Path) -> None:
    with opened(folder) as session, pytest.raises(DctvError, match=r"run2\.json: cannot convert|run2\.json: could not"):
        session.sql("SELECT CASE WHEN _trace LIKE '%run2%' THEN name::INT END AS i FROM runs.slices").fetchall()


def test_an_error_after_some_rows_names_its_trace(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def in_one_pass(*given: Any) -> Iterator[Any]:
        for place, rows in enumerate(one_pass.in_one_pass(*given)):
            yield rows.slice(0, 1)
            assert place == 0
            (folder / "run4.json").unlink()
            raise EngineError("out of order")

    monkeypatch.setattr(part_rows, "in_one_pass", in_one_pass)
    with opened(folder) as session, pytest.raises(DctvError, match=r"run4\.json: cannot read it: no such file"):
        session.sql("SELECT * FROM runs.slices").fetchall()


def test_a_link_to_a_trace_is_another_trace(folder: Path, passes: list[str]) -> None:
    """They share a column store."""
    (folder / "run9.json").symlink_to(folder / "run4.json")
    with opened(folder) as session:
        found = session.sql("SELECT _trace, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1").fetchall()
    assert found == [(str(folder / f"run{seed}.json"), 60) for seed in (1, 2, 4, 9)]
    assert passes == ["together"]


@pytest.mark.parametrize("change", ["changed", "gone"])
def test_a_trace_that_changes(folder: Path, change: str) -> None:
    with opened(folder) as session:
        session.sql(ASK).fetchall()
        (folder / "run4.json").unlink()
        if change == "changed":
            write_run(folder / "run4.json", 5)
        told = "it has changed since it was mounted" if change == "changed" else "cannot read it: no such file"
        with pytest.raises(DctvError, match=rf"run4\.json: {told}"):
            session.sql(ASK).fetchall()


def test_a_damaged_store(folder: Path) -> None:
    with opened(folder) as session:
        session.sql(ASK).fetchall()
        for path in (folder / "indexes").glob("run4*/store-*/*.parquet"):
            path.write_bytes(b"none")
        with pytest.raises(DctvError, match=r"run4\.json: the stored table `.*` is damaged"):
            session.sql(ASK).fetchall()


def test_batches_grow() -> None:
    members = [FleetMember(f"run{n}", f"run{n}", {}) for n in range(2_000)]
    metadata = {
        one.name: MemberMetadata("chrome", {}, [], {}, 0, [], signature="same", events=1_000) for one in members
    }
    metadata["run30"] = replace(metadata["run30"], events=100_001)
    metadata["run40"] = replace(metadata["run40"], events=None)
    metadata["run50"] = replace(metadata["run50"], signature="")
    made = batching.Batching([], metadata)

    def sizes(processors: int, *, soon: bool = True) -> Sequence[int]:
        return [len(one) for one in made.batches(members, processors, soon=soon)]

    assert sizes(1) == [8, 22, 1, 9, 1, 9, 1, 974, 487, 400, 88]
    assert sizes(8) == [8, 22, 1, 9, 1, 9, 1, 400, 400, 400, 400, 349]
    assert sizes(1, soon=False) == [30, 1, 9, 1, 9, 1, 974, 487, 400, 88]


TRUTHS = "bool_and(tid = 1) AS a, bool_or(tid = 1) AS o, bit_xor(id) AS x"
COMBINED = {
    "SELECT name, COUNT(*) AS n, SUM(id) AS s, MIN(_trace) AS t FROM runs.slices GROUP BY 1 ORDER BY 1": 4,
    f"SELECT COUNT(*) AS n, COUNT(*) FILTER (WHERE id > 40) AS f, {TRUTHS} FROM runs.slices": 1,
    "SELECT AVG(id) AS a FROM runs.slices WHERE id > 1000": 1,
    "SELECT DISTINCT name FROM runs.slices ORDER BY 1": 4,
    "SELECT COUNT(DISTINCT _trace) AS n FROM runs.slices": 4,
    "SELECT right(_trace, 6) > '1.json' AS late, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1": 2,
    "SELECT tid, SUM(_duration) AS s FROM dctv.as_spans(runs.slices, partition=>'tid') GROUP BY 1 ORDER BY 1": 2,
    "SELECT tid, COUNT(*) AS n FROM (SELECT a.tid FROM runs.slices AS a JOIN runs.slices AS b ON a._trace = b._trace "
    "AND a.id = b.id + 1) GROUP BY 1 ORDER BY 1": 2,
    "SELECT COUNT(*) AS n FROM (SELECT _trace, MAX(id) AS m FROM runs.slices GROUP BY 1)": 1,
    "SELECT n, COUNT(*) AS c FROM (SELECT _trace, name, COUNT(*) AS n FROM runs.slices GROUP BY ALL) GROUP BY 1 "
    "ORDER BY 1": 9,
}
"""Queries, with the number of rows that several traces give together."""
APART = {
    "SELECT name, SUM(id / 3) AS s FROM runs.slices GROUP BY 1 ORDER BY 1": 16,
    "SELECT name, AVG(id / 3) AS a, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1": 16,
    "SELECT name, stddev(id) AS d FROM runs.slices GROUP BY 1 ORDER BY 1": 16,
    "SELECT name, first(id) AS f FROM runs.slices GROUP BY 1 ORDER BY 1": 16,
    "SELECT MAX(id / 3) AS m FROM runs.slices": 4,
    "SELECT MAX(to_days(id::INT32)) AS m FROM runs.slices": 4,
    "SELECT id / 3 > 2 AS k, id / 100 // 1 AS f, COUNT(*) AS n FROM runs.slices GROUP BY ALL ORDER BY ALL": 8,
}
"""Queries of which each trace gives rows of its own, with the number of these."""


@pytest.mark.parametrize(("sql", "count"), [*COMBINED.items(), *APART.items()])
def test_aggregates(tmp_path: Path, sql: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    for seed in range(4):
        write_run(tmp_path / f"run{seed}.json", seed, 40)
    gave: list[int] = []

    def in_one_pass(*given: Any) -> Iterator[Any]:
        for rows in one_pass.in_one_pass(*given):
            gave.append(rows.num_rows)
            yield rows

    def found() -> Sequence[object]:
        with Session(index=True, index_dir=tmp_path / "indexes", threads=1) as session:
            session.mount_traces(tmp_path / "*.json", "runs")
            return session.sql(sql).fetchall()

    monkeypatch.setattr(cut_fleets, "_read_together", lambda *_: None)
    monkeypatch.setattr(part_rows, "in_one_pass", in_one_pass)
    together = found()
    assert sum(gave) == count
    monkeypatch.setattr(batching, "_SMALL", -1)
    assert found() == together


def test_pandas_is_not_imported_for_batches(tmp_path: Path) -> None:
    for seed in range(3):
        write_run(tmp_path / f"run{seed}.json", seed, 20)
    program = """
import sys
from dctv.cli import main
for _ in range(2):
    code = main(["query", *sys.argv[1:]])
print(sorted({"pandas", "numpy"} & set(sys.modules)), file=sys.stderr)
sys.exit(code)
"""
    spans = "dctv.as_spans(runs.slices, partition=>'tid')"
    sql = f"SELECT SPAN a.name FROM {spans} AS a SPAN JOIN {spans} AS b"
    words = [sys.executable, "-c", program, "--index-dir", str(tmp_path), "--index", sql, f"runs=@{tmp_path}/*.json"]
    root = str(Path(__file__).resolve().parents[2])
    done = subprocess.run(words, capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": root})
    assert (done.returncode, done.stderr) == (0, "['numpy']\n")


def write_groups(folder: Path, count: int) -> None:
    """Write traces of which every third one has a table that the others lack."""
    for seed in range(count):
        path = folder / f"run{seed}.json"
        write_run(path, seed, 10 + seed)
        if seed % 3 == 0:
            events = json.loads(path.read_text(encoding="utf-8"))["traceEvents"]
            events.append({"ph": "C", "name": "size", "pid": 1, "ts": seed, "args": {"value": seed}})
            path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


def test_groups_of_traces_with_the_same_tables(
    tmp_path: Path, passes: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every third trace has counters, too; rows come in the order of the traces all the same."""
    write_groups(tmp_path, 9)
    queries = [
        "SELECT * FROM runs.slices",
        "SELECT _trace, name, first(id) AS f, COUNT(*) AS n FROM runs.slices GROUP BY ALL ORDER BY ALL",
        "SELECT _trace, track, args FROM runs.slices WHERE id > 12",
        "SELECT * FROM runs.counters",
        "SELECT name, COUNT(*) AS n FROM runs.slices GROUP BY 1 ORDER BY 1",
    ]

    def found() -> Sequence[object]:
        with opened(tmp_path) as session:
            return [(session.sql(one).fetchall(), session.warnings()) for one in queries]

    together = found()
    assert passes == [*["together", str(tmp_path / "run8.json")] * (len(queries) - 1), "together"]
    monkeypatch.setattr(batching, "_SMALL", -1)
    assert found() == together


def test_a_group_that_is_run_one_by_one(tmp_path: Path, passes: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """No rows of the group before it are taken twice."""
    write_groups(tmp_path, 6)
    ask = "SELECT name, COUNT(*) AS n FROM runs.slices WHERE id > 1 GROUP BY 1 ORDER BY 1"
    with opened(tmp_path) as session:
        together = session.sql(ask).fetchall()
    assert passes == ["together"]
    plans = 0

    def of_all(*given: Any) -> Plan:
        nonlocal plans
        plans += 1
        if plans > 1:
            raise NotFlat
        return made(*given)

    made = Flattening.of_all
    monkeypatch.setattr(Flattening, "of_all", of_all)
    monkeypatch.setattr(Flattening, "of_each", of_all)
    with opened(tmp_path) as session:
        assert session.sql(ask).fetchall() == together
    assert plans == 3
    assert passes[1:] == [str(tmp_path / f"run{seed}.json") for seed in range(6)]
