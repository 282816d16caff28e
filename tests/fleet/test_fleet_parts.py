"""What each trace does of a query over many: no more than for a query of its own."""

from __future__ import annotations

import json
from pathlib import Path
from shutil import copyfile

import pytest

from dctv.plan.nodes import Kernel, Plan, Relation
from dctv.plan.queries import Select
from dctv.rewrite.graph import readers_first
from dctv.run.stream import in_final_order
from dctv.session import Session
from tests.fleet.traces import write_fleet
from tests.house.tree import ROOT


@pytest.fixture
def session(tmp_path: Path) -> Session:
    write_fleet(tmp_path, 2)
    session = Session(index=False)
    session.mount_traces(tmp_path / "*.json", "runs")
    return session


@pytest.fixture
def parts(monkeypatch: pytest.MonkeyPatch) -> list[Plan]:
    """Collect the plans that read a single trace, as they run."""
    found: list[Plan] = []

    def noted(plan: Plan) -> Plan:
        made = in_final_order(plan)
        if any(column.name == "line" for one in readers_first(made) for column in one.schema.columns):
            found.append(made)
        return made

    monkeypatch.setattr("dctv.run.plans.in_final_order", noted)
    return found


def sorts(plan: Plan) -> int:
    queries = [one.query for one in readers_first(plan) if isinstance(one, Relation)]
    return sum(isinstance(query, Select) and bool(query.order_by) for query in queries)


def test_rows_are_handed_on_unsorted(session: Session, parts: list[Plan]) -> None:
    session.sql("SELECT name, quantile_cont(_ts, 0.5) AS m FROM runs.raw_events.complete GROUP BY name").fetchall()
    # Both traces have the same tables, and so the same plan.
    (part,) = parts
    assert sorts(part) == 0
    assert part.schema.names == ("_ts", "name")


def test_operators_run_without_the_partition_by_trace(tmp_path: Path, parts: list[Plan]) -> None:
    """And make a view that is read twice once."""
    for name in ("a", "b"):
        copyfile(ROOT / "tests" / "data" / "stdlib" / "states.trace.txt", tmp_path / f"{name}.txt")
    slices = "runs.scheduler.timeslices_p_cpu"
    with Session(index=False) as session:
        session.mount_traces(tmp_path / "*.txt", "runs")
        sql = f"SELECT comm, SUM(_duration) AS d FROM (SELECT SPAN a.comm FROM {slices} AS a SPAN JOIN {slices} AS b)"
        session.sql(f"{sql} GROUP BY comm").fetchall()
    (part,) = parts
    kernels = [one for one in readers_first(part) if isinstance(one, Kernel)]
    assert [(one.name, one.schema.partitions) for one in kernels] == [
        ("span join", ("cpu",)),
        ("series to spans", ("cpu",)),
    ]


def test_events_of_one_time_stay_in_their_order(tmp_path: Path) -> None:
    names = [f"event {number * 7 % 20:02}" for number in range(20)]
    events = [{"ph": "i", "name": name, "pid": 1, "tid": 1, "ts": 5, "s": "t"} for name in names]
    trace = tmp_path / "one.json"
    trace.write_text(json.dumps(events), encoding="utf-8")
    with Session(index=False) as session:
        session.mount_traces(trace, "runs")
        session.mount(trace, "t")
        (own,), (of_many,) = (
            session.sql(f"SELECT list(name) AS names FROM {mount}.events").fetchall()[0] for mount in ("t", "runs")
        )
        assert own == of_many == names
        series = "dctv.time_series_to_spans(sources=>[{source=>(SELECT EVENT name FROM MOUNT.events)PARTITION}], "
        series += "columns=>['name']PARTITION, open_spans=>'close', end=>1ms)"
        by_trace = series.replace("PARTITION", ", partition=>'_trace'").replace("MOUNT", "runs")
        (last,) = session.sql(f"SELECT name FROM {series.replace('PARTITION', '').replace('MOUNT', 't')}").fetchall()
        assert session.sql(f"SELECT name FROM {by_trace}").fetchall() == [last] == [(names[-1],)]


def test_a_table_is_read_again_by_each_round_of_a_recursion(session: Session) -> None:
    sql = (
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT r.n + 1 FROM r JOIN (SELECT DISTINCT id FROM runs.slices) "
        "AS s ON s.id = r.n WHERE r.n < 5) SELECT MAX(n) AS m FROM r"
    )
    assert session.sql(sql).fetchall() == [(5,)]


def test_traces_with_the_same_tables_have_one_plan(tmp_path: Path, parts: list[Plan]) -> None:
    write_fleet(tmp_path, 9)
    with Session(index=False) as session:
        session.sql(f"MOUNT TRACES '{tmp_path}/*.json' AS runs WITH (manifest => '{tmp_path}/runs.csv')")
        asked = "SELECT _trace, label, build + 1 AS build, quantile_cont(dur, 0.5) AS d, COUNT(*) AS n"
        rows = session.sql(f"{asked} FROM runs.raw_events.complete GROUP BY ALL ORDER BY ALL").fetchall()
    # The second one has no label.
    assert len(parts) == 2
    alone = []
    for number, path in enumerate(sorted(tmp_path.glob("*.json"))):
        with Session(index=False) as session:
            session.mount(path, "t")
            (row,) = session.sql("SELECT quantile_cont(dur, 0.5), COUNT(*) FROM t.raw_events.complete").fetchall()
        known = (None, None) if number == 1 else ("odd" if number % 2 else "even", 101 + number)
        alone.append((str(path), *known, *row))
    assert [tuple(row) for row in rows] == alone


def test_each_trace_groups_by_all_of_its_columns(session: Session, parts: list[Plan]) -> None:
    table = "runs.raw_events.complete"
    rows = session.sql(f"SELECT name, tid * 2 AS t, SUM(dur) AS d FROM {table} GROUP BY ALL ORDER BY ALL").fetchall()
    (part,) = parts
    assert part.schema.names == ("key0", "key1", "part0")
    listed = session.sql(f"SELECT name, tid * 2, SUM(dur) FROM {table} GROUP BY 1, 2 ORDER BY ALL").fetchall()
    assert [tuple(row) for row in rows] == [tuple(row) for row in listed]
