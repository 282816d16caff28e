"""Names in lists, completions and hints are as queries take them: in backticks where they are not plain words."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv import Session
from dctv.completion import candidates, matching
from dctv.errors import BindError
from tests.command_line import run

DATA = Path(__file__).parents[1] / "data"
TRACES = {"loader": DATA / "dftracer" / "loader", "marks": DATA / "ftrace" / "live_marks_tgid.trace.txt"}
ODD = ("loader.raw_events.`step.iter`", "loader.raw_events.`step.yield`", "marks.raw_events.`print|B`")


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(warn=False) as session:
        for name, path in TRACES.items():
            session.mount(path, name)
        yield session


def test_listed_names_can_be_queried(session: Session) -> None:
    listed = [(name, kind) for name, kind, _ in session.sql("SHOW TABLES").fetchall()]
    assert {*ODD} <= {name for name, _ in listed}
    assert "marks.timeline.rows" in dict(listed)
    for name, kind in listed:
        if kind in {"event", "span", "regular"}:
            columns = session.sql(f"SELECT * FROM {name} LIMIT 0").schema.names
            assert tuple(column for column, *_ in session.sql(f"DESCRIBE {name}").fetchall()) == columns


def test_names_from_lists_are_names_in_python(session: Session) -> None:
    for info in session.tables("loader.raw_events"):
        schema = session.columns(info.written)
        assert schema is not None
        assert "_ts" in schema.names
    assert session.columns("marks.raw_events.print|B") == session.columns(ODD[2])


def test_the_command_line_lists_the_same_names() -> None:
    words = ("tables", *(f"{name}={path}" for name, path in TRACES.items()), "--format", "csv")
    assert {*ODD} <= {line.partition(",")[0] for line in run(*words).out.splitlines()}
    for pattern in ("loader.raw_events.step", "loader.raw_events.`step", "*step.*"):
        found = [line.partition(",")[0] for line in run(*words, "--like", pattern).out.splitlines()[1:]]
        assert found == [*ODD[:2]]


def test_names_with_a_dot_are_completed_whole(session: Session) -> None:
    found = candidates(session, "SELECT * FROM loader.raw_events.step").found
    assert [one.text for one in found] == ["`step.iter`", "`step.yield`"]
    columns = candidates(session, "SELECT epo", f" FROM {ODD[0]}").found
    assert [one.text for one in columns if one.about.startswith("step.iter")] == ["epoch"]


@pytest.mark.parametrize("typed", ["marks.raw_events.pr", "marks.raw_events.`pr", "Marks.raw_events.`print|"])
def test_whole_names_are_completed_with_or_without_quotes(typed: str, session: Session) -> None:
    words = [(info.written, info.kind) for info in session.tables("marks")]
    assert ODD[2] in [one.text for one in matching(typed, words)]


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("loader.raw_events.step.iter", "did you mean loader.raw_events.`step.iter`?"),
        ("loader.raw_events.step.itre", "did you mean loader.raw_events.`step.iter`?"),
        ("`step.iter`", "there is loader.raw_events.`step.iter`"),
        ("marks.raw_events.`print|BB`", "did you mean marks.raw_events.`print|B`?"),
    ],
)
def test_hints_name_them_as_queries_do(written: str, hint: str, session: Session) -> None:
    with pytest.raises(BindError) as caught:
        session.sql(f"SELECT * FROM {written}")
    assert caught.value.hint == hint
