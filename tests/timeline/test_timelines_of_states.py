"""Timelines of state systems: a track for each attribute that has states, in the tree, with all of these."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dctv.errors import UsageError
from dctv.session import Session
from dctv.state import StateSystem, escape

DATA = Path(__file__).parent.parent / "data"
LAST = 2**63 - 1
CHANGES = (
    "SELECT * FROM (VALUES (0ns, 'CPUs/10', '5', NULL), (10ns, 'CPUs/9', 'idle', NULL), (30ns, 'CPUs/9', NULL, NULL),"
    " (40ns, 'CPUs/9', 'busy', NULL), (0ns, 'CPUs/9/load', NULL, 0.5), (20ns, 'CPUs/9/load', NULL, 2.5))"
    " AS v(_ts, path, text, real)"
)


def _cells(session: Session, name: str) -> list[tuple[object, ...]]:
    timeline = session.timeline(name)
    states = [one.id for one in timeline.tracks if one.kind.value == "states"]
    cells = timeline.cells(states, -LAST, LAST, 1)
    wanted = ("track", "lane", "_ts", "_duration", "name")
    return list(zip(*(cells[one].to_pylist() for one in wanted), strict=True))


def test_the_tree_is_that_of_the_attributes() -> None:
    with Session() as session:
        session.sql(f"CREATE STATE SYSTEM s WITH (end => 50ns) AS {CHANGES}")
        assert session.sql("SELECT track, parent, depth, name, kind, rows FROM s.timeline").fetchall() == [
            (0, None, 0, "CPUs", "group", 0),
            (1, 0, 1, "9", "states", 2),
            (2, 1, 2, "load", "counter", 2),
            (3, 0, 1, "10", "states", 1),
        ]
        assert _cells(session, "s") == [
            (1, 0, 10, 20, "idle"),
            (1, 0, 40, 11, "busy"),
            (3, 0, 0, 51, "5"),
        ]
        load = session.timeline("s").cells([2], 0, 51, 64).to_pylist()
        assert [(cell["count"], cell["min"], cell["max"], cell["last"]) for cell in load] == [(2, 0.5, 2.5, 2.5)]


def test_names_may_be_any() -> None:
    paths = [("a\x1fb",), ("a", "b"), ("a/b",), ("", "\n"), ("a",)]

    def build(_batches: Iterator[Any], states: StateSystem) -> None:
        for names in paths:
            states.modify(0, 1, states.add(*names))

    with Session() as session:
        session.create_state_system("s", build, "SELECT 1 AS x", end=9)
        timeline = session.timeline("s")
        assert sorted(timeline.path(one.id) for one in timeline.tracks if one.rows) == sorted(paths)


@pytest.mark.parametrize(
    ("trace", "filled"),
    [
        ("stdlib/states.trace.txt", True),
        ("stdlib/calls.pfw", True),
        ("trace_dat/live_marks.dat", True),
        ("perfetto/linux_sys_deflate.pftrace", True),
        ("uftrace/switches", True),
        ("stdlib/requests.csv", False),
    ],
)
def test_every_state_is_on_the_track_of_its_attribute(trace: str, *, filled: bool) -> None:
    with Session() as session:
        session.mount(DATA / trace, "t")
        timeline = session.timeline("t.state")
        found = Counter({escape(timeline.path(one.id)): one.rows for one in timeline.tracks if one.rows})
        expected = session.sql(
            "SELECT path, COUNT(*) FROM t.state WHERE number IS NOT NULL OR real IS NOT NULL OR text IS NOT NULL"
            " GROUP BY path"
        ).fetchall()
        assert bool(expected) == filled
        assert found == Counter(dict(expected))
        assert sum(1 for one in timeline.tracks if one.kind.value != "group") == len(expected)


def test_attributes_without_states_have_no_tracks() -> None:
    with Session() as session:
        session.sql(f"CREATE STATE SYSTEM s WITH (backend => 'none') AS {CHANGES}")
        assert session.sql("SELECT * FROM s.timeline").fetchall() == []


def test_a_state_system_that_is_replaced_has_another_timeline() -> None:
    with Session() as session:
        session.sql(f"CREATE STATE SYSTEM s AS {CHANGES}")
        assert len(session.timeline("s").tracks) == 4
        session.sql("CREATE OR REPLACE STATE SYSTEM s AS SELECT 0ns AS _ts, 'x' AS path, 1 AS number")
        assert [one.name for one in session.timeline("s").tracks] == ["x"]


def test_only_traces_and_state_systems_have_timelines() -> None:
    with Session() as session, pytest.raises(UsageError, match="no trace is mounted and no state system made as `s`"):
        session.timeline("s")
