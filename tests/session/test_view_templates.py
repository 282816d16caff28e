"""Plans of library views that come from other traces are those that binding gives."""

from __future__ import annotations

import gc
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import dctv
from dctv.catalog.mount import Mount
from dctv.catalog.stdlib import library
from dctv.plan.nodes import Kernel, Plan, Relation, Scan
from dctv.plan.source import WholeSource
from dctv.rewrite.graph import inputs
from dctv.run import plans, view_templates
from dctv.run.templates import AnyTable
from dctv.run.view_templates import ViewTemplates

DATA = Path(__file__).parents[1] / "data"
TRACES = (
    "stdlib/browser.json",
    "stdlib/calls.pfw",
    "stdlib/kernel.trace.txt",
    "stdlib/memory.pftrace",
    "stdlib/waits.trace.txt",
    "trace_dat/live_marks.dat",
)


@pytest.fixture(scope="module")
def known() -> Iterator[ViewTemplates]:
    """The templates of all traces, each mounted as `t`."""
    with pytest.MonkeyPatch.context() as patch:
        made = ViewTemplates()
        patch.setattr(view_templates, "VIEWS", made)
        for _ in range(2):
            for path in TRACES:
                with mounted(path, "t") as session:
                    bound(session)
        yield made


def mounted(path: str, name: str, **options: object) -> dctv.Session:
    session = dctv.Session(index=False, warn=False)
    session.mount(DATA / path, name, **options)
    return session


def bound(session: dctv.Session) -> dict[str, Plan]:
    """Bind all views of the mounted trace."""
    context = session._context
    ((home, mount),) = context.mounts.items()
    names = [".".join((*home, *one.parts)) for one in library().views(mount.trace.format or mount.reader)]
    return {name: plans.table_of(name, context) for name in names}


def check_same(found: Plan, made: Plan, seen: dict[int, Plan]) -> None:
    """Check that two plans are alike down to the tables that they read, and share what the other shares."""
    if id(found) in seen:
        assert seen[id(found)] is made
        return
    seen[id(found)] = made
    assert type(found) is type(made)
    assert (found.schema, found.order) == (made.schema, made.order)
    if isinstance(found, Scan):
        assert found is made
    if isinstance(found, Relation) and isinstance(made, Relation):
        assert found.query == made.query
        for name in ("serial", "unique", "pushed"):
            assert getattr(found, name) == getattr(made, name)
        assert [name for name, _ in found.leaves] == [name for name, _ in made.leaves]
    if isinstance(found, Kernel) and isinstance(made, Kernel):
        assert (found.name, found.options, found.run) == (made.name, made.options, made.run)
    for one, other in zip(inputs(found), inputs(made), strict=True):
        check_same(one, other, seen)


def check_views(session: dctv.Session, patch: pytest.MonkeyPatch) -> float:
    """Bind all views, and once more from their texts; return the share of those with plans of other traces."""
    known, catalog = view_templates.VIEWS, session._context.catalog
    templates = [one for found in known._known.values() for one in found]
    found = bound(session)
    versions = [one.version for one in catalog.bound.values()]
    catalog.forget_bound()
    patch.setattr(view_templates, "VIEWS", ViewTemplates())
    made = bound(session)
    patch.setattr(view_templates, "VIEWS", known)
    seen: dict[int, Plan] = {}
    for view, plan in found.items():
        check_same(plan, made[view], seen)
    return sum(one in templates for one in versions) / len(versions)


@pytest.mark.usefixtures("known")
@pytest.mark.parametrize("path", TRACES)
def test_plans_are_those_that_binding_gives(path: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("t", "another"):
        with mounted(path, name) as session:
            assert check_views(session, monkeypatch) > 0.95


@pytest.mark.usefixtures("known")
def test_filters_are_in_no_other_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = "SELECT SUM(count) AS n FROM t.calls.by_function"
    with mounted("stdlib/browser.json", "t", depth=1) as session:
        check_views(session, monkeypatch)
        few = session.sql(counted).fetchall()
    with mounted("stdlib/browser.json", "t") as session:
        assert check_views(session, monkeypatch) > 0.95
        assert session.sql(counted).fetchall() > few


@pytest.mark.usefixtures("known")
def test_a_view_of_the_user_is_read_in_place_of_the_librarys(monkeypatch: pytest.MonkeyPatch) -> None:
    counted = "SELECT COUNT(*) AS n FROM t.io.by_process"
    with mounted("stdlib/calls.pfw", "t") as session:
        assert session.sql(counted).fetchall() != [(0,)]
        session.sql(
            "CREATE OR REPLACE VIEW t.io.calls AS SELECT *, dur AS _duration FROM t._parts.io_calls WHERE FALSE"
        )
        assert session.sql(counted).fetchall() == [(0,)]
        check_views(session, monkeypatch)
    with mounted("stdlib/calls.pfw", "t") as session:
        assert check_views(session, monkeypatch) > 0.95


def held() -> Counter[str]:
    """Count the mounts and the sources of rows that are still reachable."""
    gc.collect()
    found = (one for one in gc.get_objects() if isinstance(one, Mount | WholeSource) and not isinstance(one, AnyTable))
    return Counter(type(one).__name__ for one in found)


def test_nothing_of_a_session_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(view_templates, "VIEWS", ViewTemplates())
    before = held()
    for _ in range(2):
        with mounted("stdlib/kernel.trace.txt", "t") as session:
            bound(session)
            assert (held() - before).keys() >= {"Mount", "RowsInMemory"}
        del session
    assert view_templates.VIEWS._known["scheduler", "timeslices_p_cpu"]
    assert held() <= before
