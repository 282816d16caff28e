"""State systems of real traces: every kind gives the same answers, and `t.state` matches a rebuild by its providers."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session

DATA = Path(__file__).resolve().parents[1] / "data"
TRACES = [
    "ftrace/live_marks.trace.txt.gz",
    pytest.param("perfetto/linux_sys_deflate.pftrace", marks=pytest.mark.ci),
    pytest.param("trace_dat/live_marks.dat", marks=pytest.mark.ci),
    "stdlib/states.trace.txt",
]
CHANGES = """
SELECT _ts, state_path('CPUs', cpu, 'Current_thread') AS path, pid, NULL AS name FROM t.scheduler.timeslices_p_cpu
UNION ALL
SELECT _ts, state_path('CPUs', cpu, 'Current_thread', 'Name/s'), NULL, comm FROM t.scheduler.timeslices_p_cpu
ORDER BY _ts
"""
KINDS = {
    "memory": "backend => 'memory'",
    "partial_17": "backend => 'partial', granularity => 17",
    "partial_64": "backend => 'partial', granularity => 64",
    "partial_all": "backend => 'partial', granularity => 1000000",
}


@pytest.fixture(scope="module", params=TRACES)
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session(index=False) as one:
        one.mount(str(DATA / request.param), "t")
        one.sql(f"CREATE VIEW few AS SELECT * FROM ({CHANGES}) LIMIT 150")
        one.sql("CREATE STATE SYSTEM s_full WITH (backend => 'full') AS SELECT * FROM few")
        for name, options in KINDS.items():
            one.sql(f"CREATE STATE SYSTEM s_{name} WITH ({options}) AS SELECT * FROM few")
        yield one


def same(session: Session, kind: str, question: str) -> None:
    """Ask a kind and the full one."""
    expected, found = (session.sql(question.replace("{}", name)).fetchall() for name in ("s_full", f"s_{kind}"))
    assert found == expected


@pytest.mark.parametrize("kind", KINDS)
def test_backends_agree_on_kinds(session: Session, kind: str) -> None:
    times = [row[0] for row in session.sql("SELECT DISTINCT _ts FROM s_full ORDER BY _ts").fetchall()]
    middle, third = times[len(times) // 2], times[len(times) // 3]
    columns = "_ts, _duration, path, number, real, text"
    same(session, kind, f"SELECT {columns} FROM {{}} ORDER BY quark, _ts")
    same(session, kind, "SELECT * FROM {}.attributes")
    for time in (0, third, middle - 1, middle, times[-1]):
        same(session, kind, f"SELECT {columns} FROM dctv.state_at({{}}, {time}ns) ORDER BY quark")
    same(session, kind, f"SELECT * FROM {{}} WHERE path LIKE 'CPUs/0/%' AND _ts < {middle}ns ORDER BY quark, _ts")
    shown = ", ".join(f"{time}ns" for time in times[::7])
    same(session, kind, f"SELECT * FROM dctv.state_2d({{}}, times=>[{shown}]) ORDER BY quark, _ts")
    same(session, kind, f"SELECT * FROM dctv.state_2d({{}}, start=>{third}ns, stop=>{middle}ns) ORDER BY quark, _ts")
    for feature in ("max", "min"):
        ask = f"SELECT * FROM dctv.state_range({{}}, '{feature}', start=>{third}ns, stop=>{middle}ns)"
        same(session, kind, ask)


@pytest.mark.parametrize("kind", KINDS)
def test_backends_agree_on_averages(session: Session, kind: str) -> None:
    asked = [session.sql(f"SELECT path, real FROM dctv.state_range({name}, 'avg')") for name in ("s_full", f"s_{kind}")]
    expected, found = (dict(rows.fetchall()) for rows in asked)
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_state_system_of_the_trace_is_what_its_providers_give(session: Session) -> None:
    names = [one.name for one in session.tables("t.state") if one.kind == "view"]
    assert names
    every = session.sql("SELECT * FROM t.state ORDER BY quark, _ts").fetchall()
    assert every
    for name in names:
        session.sql(f"CREATE OR REPLACE STATE SYSTEM alone WITH (backend => 'memory') AS SELECT * FROM {name}")
        alone = session.sql("SELECT path, _ts, number, real, text FROM alone ORDER BY path, _ts").fetchall()
        paths = {row[0] for row in alone}
        assert alone == sorted((row[3], row[0], *row[4:]) for row in every if row[3] in paths)
