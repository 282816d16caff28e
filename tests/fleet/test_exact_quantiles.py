"""Exact quantiles over many traces, found in two passes or by counting values, are those of a table with all rows."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.plan.nodes import Plan
from dctv.plan.source import PlanRun
from dctv.rewrite import cut_fleets, exact_quantiles, repeated_values
from dctv.run import trace_workers
from dctv.run.fleet.fleet import Fleet
from dctv.run.fleet.part_rows import batches
from dctv.session import Session
from tests.bounds import bounded

DATA = Path(__file__).parent.parent / "data"
_SPECIAL = "CASE unitless(_duration) % 5 WHEN 0 THEN 'nan' WHEN 1 THEN 'inf' WHEN 2 THEN '-inf' WHEN 3 THEN NULL ELSE "
NUMBERS = (
    "_duration",
    "nullif(unitless(_duration) % 100, 3)::INT8",
    "(unitless(_duration) * 123456789123)::UINT64",
    "unitless(_duration) / 7 - 40",
    "(unitless(_duration) / 7)::FLOAT32",
    f"({_SPECIAL} unitless(_duration)::STRING END)::FLOAT64",
    f"({_SPECIAL} unitless(_duration)::STRING END)::FLOAT32",
)
OTHERS = (
    "(unitless(_duration) / 7)::DECIMAL(20, 4)",
    "make_timestamp(unitless(_duration) // 7)",
    "DATE '2026-01-01' + (unitless(_duration) % 1000)::INT32",
)
SHARES = ("0", "0.01", "0.07", "0.333", "0.5", "0.9", "0.99", "1")
KEYS = ((), ("name",), ("unitless(_duration) % 7", "_ts // 1us"), ("nullif(name, 'b')",), ("name", "_duration > 9ns"))
TWICE = "found first, and handed to each trace:"
SAMPLED = "if values repeat in a sample of the traces:"


def write(path: Path, durations: Sequence[int]) -> None:
    """Write a trace of slices of these durations in ns."""
    events = [
        {"ph": "X", "name": "abc"[place % 3], "pid": 1, "tid": place % 2, "ts": place * 10, "dur": one / 1000}
        for place, one in enumerate(durations)
    ]
    path.write_text(json.dumps({"traceEvents": events}), encoding="utf-8")


@pytest.fixture(autouse=True)
def few_events_are_many(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take two passes over traces of any size."""
    monkeypatch.setattr(cut_fleets, "_MANY", 0)
    monkeypatch.setattr(cut_fleets, "_LARGE", 0)


ALWAYS, NEVER = 0, 10**9
"""How often values occur that are said to repeat, so that all do, or none."""


def check_quantiles(session: Session, folder: Path) -> None:
    """Ask in two passes for quantiles of traces that are read elsewhere."""
    for number in range(3):
        write(folder / f"{number}.json", [place * place % 1_000 for place in range(number * 500, 3_000)])
    session.mount_traces(folder / "*.json", "quantiles")
    ask = "SELECT name, quantile_cont(_duration, [0.5, 0.99]) AS q FROM {} GROUP BY name"
    assert is_twice(session, ask.format("quantiles.slices"))
    session.sql("CREATE TABLE whole AS SELECT * FROM quantiles.slices")
    assert answer(session, ask.format("quantiles.slices")) == answer(session, ask.format("whole"))


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Session]:
    folder, made = tmp_path_factory.mktemp("large"), random.Random(1)
    for number in range(4):
        write(folder / f"{number}.json", [int(made.lognormvariate(10 + number / 4, 2)) for _ in range(9_000)])
    with Session(index=False) as session:
        session.mount_traces(folder / "*.json", "runs")
        yield session


@st.composite
def queries(draw: st.DrawFn) -> str:
    share = st.sampled_from(SHARES)
    call = draw(st.sampled_from(["median(x)", "quantile_cont(x, {s})", "quantile_disc(x, {s})", "quantile(x, {s})"]))
    value = draw(st.sampled_from(NUMBERS if "cont" in call or "median" in call else NUMBERS + OTHERS))
    listed = draw(st.booleans()) and draw(st.lists(share, min_size=1, max_size=3))
    call = call.replace("x", value).replace("{s}", f"[{', '.join(listed)}]" if listed else draw(share))
    some = draw(st.sampled_from(["", " FILTER (WHERE tid = 1)", " FILTER (WHERE _duration > 20ns)"]))
    beside = draw(st.sampled_from(["", f", quantile_disc({value}, 0.9){some} AS d", ", COUNT(*) AS n, MIN(name) AS m"]))
    keys = draw(st.sampled_from(KEYS))
    shown = "".join(f"{key} AS k{place}, " for place, key in enumerate(keys))
    tests = draw(st.sampled_from(["", " WHERE _duration < 0.02ms", " WHERE name > 'z'"]))
    group = f" GROUP BY {', '.join(keys)}" + draw(st.sampled_from(["", " HAVING COUNT(*) > 3"])) if keys else ""
    return f"SELECT {shown}{call}{some} AS q{beside} FROM {{}}{tests}{group} ORDER BY q DESC"


def answer(session: Session, sql: str) -> tuple[object, list[str]]:
    """Return the types of a result and its rows, to the last digit."""
    result = session.sql(sql)
    return result.schema, sorted(map(repr, result.fetchall()))


def is_twice(session: Session, sql: str) -> bool:
    return any(TWICE in line for (line,) in session.sql(f"EXPLAIN {sql}").fetchall())


@bounded(60)
@given(st.data())
def test_quantiles_are_those_of_all_rows(data: st.DataObject) -> None:
    durations = st.lists(st.integers(0, 10) | st.integers(0, 50_000), max_size=60)
    # Traces that have an index are run through together.
    with (
        pytest.MonkeyPatch.context() as patch,
        TemporaryDirectory() as folder,
        Session(index=data.draw(st.booleans()), index_dir=f"{folder}/indexes") as session,
    ):
        patch.setattr(repeated_values, "_OFTEN", data.draw(st.sampled_from([ALWAYS, NEVER])))
        patch.setattr(exact_quantiles, "_FEW", data.draw(st.sampled_from([1, 5])))
        patch.setattr(exact_quantiles, "_MOST_GROUPS", data.draw(st.sampled_from([3, 100])))
        for number in range(data.draw(st.integers(1, 4))):
            write(Path(folder) / f"{number}.json", [*data.draw(durations), 7])
        session.mount_traces(f"{folder}/*.json", "runs")
        session.sql("CREATE TABLE whole AS SELECT * FROM runs.slices")
        for _ in range(4):
            sql = data.draw(queries())
            assert answer(session, sql.format("runs.slices")) == answer(session, sql.format("whole"))
            assert is_twice(session, sql.format("runs.slices"))


def test_on_an_executor(tmp_path: Path) -> None:
    with Session(index=False) as session, ProcessPoolExecutor(2, get_context("spawn")) as pool:
        session.executor = pool
        check_quantiles(session, tmp_path)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT quantile_cont((unitless(_duration) / 7)::DECIMAL(20, 4), 0.5) AS q FROM runs.slices",
        "SELECT median(_duration) AS q, median(_ts) AS t FROM runs.slices",
        "SELECT median(_duration) AS q, COUNT(DISTINCT name) AS n FROM runs.slices",
        "SELECT quantile_cont(_duration, 0.9 ORDER BY _duration DESC) AS q FROM runs.slices",
        "SELECT median(DISTINCT _duration) AS q FROM runs.slices",
        "SELECT quantile_cont(_duration, 5e-1) AS q FROM runs.slices",
        f"SELECT quantile_cont(_duration, {[place / 10 for place in range(11)]}) AS q FROM runs.slices",
        "SELECT SUM(_duration) AS q FROM runs.slices",
    ],
)
def test_what_takes_one_pass(large: Session, sql: str) -> None:
    assert not is_twice(large, sql)
    large.sql(sql).fetchall()


def test_few_events_take_one_pass(large: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    sql = "SELECT median(_duration) AS q FROM runs.slices"
    plan = [line for (line,) in large.sql(f"EXPLAIN {sql}").fetchall()]
    assert sum("4 of 4 traces, each of which does:" in line for line in plan) == 3
    monkeypatch.setattr(cut_fleets, "_MANY", 1)
    assert not is_twice(large, sql)


def rows_of_parts(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return a list that gets the number of rows of each part that runs here from now on."""
    rows: list[int] = []

    def counted(*args: Any) -> Iterator[Any]:
        rows.append(0)
        for batch in batches(*args):
            rows[-1] += batch.num_rows
            yield batch

    monkeypatch.setattr("dctv.run.fleet.fleet.batches", counted)
    return rows


@pytest.mark.parametrize("share", SHARES)
def test_few_values_move(large: Session, monkeypatch: pytest.MonkeyPatch, share: str) -> None:
    monkeypatch.setattr(repeated_values, "_OFTEN", NEVER)
    moved = 0

    def counted(*args: Any) -> Iterator[Any]:
        nonlocal moved
        for batch in batches(*args):
            moved += batch.nbytes
            yield batch

    monkeypatch.setattr("dctv.run.fleet.fleet.batches", counted)
    sql = f"SELECT name, quantile_cont(_duration, {share}) AS q FROM {{}} GROUP BY name"
    found = answer(large, sql.format("runs.slices"))
    in_two, moved = moved, 0
    large.sql("CREATE TABLE whole AS SELECT name, _duration FROM runs.slices")
    assert found == answer(large, sql.format("whole"))
    large.sql("DROP TABLE whole")
    assert 0 < in_two < moved / 10


def test_many_groups_take_one_pass(large: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    """Which is known only after the first, that returns no more groups than needed."""
    monkeypatch.setattr(exact_quantiles, "_MOST_GROUPS", 100)
    rows = rows_of_parts(monkeypatch)
    sql = "SELECT _ts, median(_duration) AS q FROM {} GROUP BY _ts ORDER BY q DESC, _ts LIMIT 3"
    assert is_twice(large, sql.format("runs.slices"))
    found = large.sql(sql.format("runs.slices")).fetchall()
    assert rows == [1] + [101] * 4 + [9_000] * 4
    large.sql("CREATE OR REPLACE TABLE whole AS SELECT * FROM runs.slices")
    assert found == large.sql(sql.format("whole")).fetchall()
    large.sql("DROP TABLE whole")


def test_rows_are_in_order(large: Session) -> None:
    sql = "SELECT name, quantile_disc(_duration, 0.9) AS q FROM {} GROUP BY name ORDER BY q DESC"
    assert is_twice(large, sql.format("runs.slices"))
    found = large.sql(sql.format("runs.slices")).fetchall()
    assert [q for _, q in found] == sorted((q for _, q in found), reverse=True)
    assert len(found) == 3


def test_values_that_repeat_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each trace moves a row for each value of a group, once."""
    for number in range(5):
        write(tmp_path / f"{number}.json", [place * place % 100 for place in range(3_000 + 3 * number)])
    rows = rows_of_parts(monkeypatch)
    sql = (
        "SELECT name, quantile_cont(_duration, [0.01, 0.5]) AS q, median(_duration) AS m, COUNT(*) AS n, AVG(id) AS a, "
        "MAX(_ts) AS l FROM {} WHERE _duration > 3ns GROUP BY name HAVING MIN(_duration) < 1s ORDER BY n DESC, name"
    )
    with Session(index=False) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        found = answer(session, sql.format("runs.slices"))
        assert rows[0] == 1
        assert len(rows) == 6
        session.sql("CREATE TABLE whole AS SELECT * FROM runs.slices")
        assert found == answer(session, sql.format("whole"))
        different = session.sql("SELECT COUNT(DISTINCT (name, _duration)) FROM whole WHERE _duration > 3ns").fetchall()
    assert rows[1:6] == [different[0][0]] * 5
    rows.clear()
    with Session(index=True, index_dir=tmp_path / "indexes", threads=1) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        assert SAMPLED in [line.strip() for (line,) in session.sql(f"EXPLAIN {sql.format('runs.slices')}").fetchall()]
        assert found == answer(session, sql.format("runs.slices"))
    # The sample is three traces, since they are small; all are counted together.
    assert rows == [1, different[0][0]]


def test_workers_get_ready_while_a_sample_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number in range(6):
        write(tmp_path / f"{number}.json", [place % 100 for place in range(3_000)])
    ready: list[bool] = []
    read = Fleet.rows

    def noted(fleet: Fleet, plan: Plan, run: PlanRun) -> pa.Table:
        ready.append(fleet.context.workers.pool is not None)
        return read(fleet, plan, run)

    monkeypatch.setattr(Fleet, "rows", noted)
    with Session(index=False, threads=2) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        assert session._context.workers.pool is None
        monkeypatch.setattr(trace_workers, "MANY", 6)
        assert session.sql("SELECT quantile_disc(_duration, 0.5) AS q FROM runs.slices").fetchall() == [(49,)]
    assert ready == [True, True]


@pytest.mark.parametrize(
    "beside", ["approx_quantile(_duration, 0.5)", "SUM(unitless(_duration) / 7)", "any_value(name)"]
)
def test_values_are_not_counted_beside(large: Session, beside: str) -> None:
    """What cannot be combined twice, or not in any order, takes two passes."""
    sql = f"SELECT median(_duration) AS q, {beside} AS a FROM runs.slices"
    plan = [line.strip() for (line,) in large.sql(f"EXPLAIN {sql}").fetchall()]
    assert TWICE in plan
    assert SAMPLED not in plan


def test_names_of_partial_results_may_be_those_of_columns(large: Session, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(repeated_values, "_OFTEN", ALWAYS)
    names = ("part0", "part1", "part2", "ranked", "total")
    values = ("MIN(_ts)", "MAX(tid)", "COUNT(*)", "median(_duration)", "SUM(id)")
    inner = ", ".join(f"{value} AS {name}" for value, name in zip(values, names, strict=True))
    outer = ", ".join(
        f"{function}({name}) AS {function}_{name}" for name in names for function in ("SUM", "MIN", "MAX")
    )
    sql = f"SELECT {outer} FROM (SELECT name, {inner} FROM {{}} GROUP BY name)"
    large.sql("CREATE OR REPLACE TABLE whole AS SELECT * FROM runs.slices")
    assert is_twice(large, sql.format("runs.slices"))
    assert answer(large, sql.format("runs.slices")) == answer(large, sql.format("whole"))
    large.sql("DROP TABLE whole")


@pytest.mark.parametrize("value", ["unitless(_duration) / 7", "_ts"])
def test_floats_and_times_are_not_counted(large: Session, value: str) -> None:
    sql = f"EXPLAIN SELECT median({value}) AS q FROM runs.slices"
    plan = [line.strip() for (line,) in large.sql(sql).fetchall()]
    assert TWICE in plan
    assert SAMPLED not in plan


@pytest.mark.parametrize("often", [ALWAYS, NEVER])
def test_warnings_are_those_of_one_pass(monkeypatch: pytest.MonkeyPatch, often: int) -> None:
    monkeypatch.setattr(repeated_values, "_OFTEN", often)
    with Session(index=False) as session:
        session.mount_traces(DATA / "ftrace/live_marks*", "runs")
        ask = "SELECT {}(_duration) AS d FROM runs.slices"
        warnings = []
        for function in ("max", "median"):
            result = session.sql(ask.format(function))
            result.fetchall()
            warnings.append(result.warnings)
        assert is_twice(session, ask.format("median"))
        assert len(warnings[0]) == 1
        assert warnings[1] == warnings[0]
