"""Warnings of queries, mounts and filters reach Python's `warnings`, each once, at the line that asked."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import dctv
from tests.command_line import run

ROWS = "SELECT 1 / (range - range) AS q FROM range(3)"
TOLD = "division by zero gave NULL (3 times)"


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


def told(work: Callable[[], object]) -> list[warnings.WarningMessage]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        work()
    return caught


@pytest.mark.parametrize(
    "read",
    [
        lambda result: result.fetchall(),
        lambda result: result.arrow(),
        lambda result: result.df(),
        lambda result: result.pl(),
        lambda result: list(result.batches()),
        lambda result: result.reader().read_all(),
        lambda result: (str(result), result.fetchall()),
    ],
    ids=["fetchall", "arrow", "df", "pl", "batches", "reader", "looked at"],
)
def test_once_the_rows_have_been_read(session: dctv.Session, read: Callable[[dctv.Result], object]) -> None:
    result = session.sql(ROWS)
    (warning,) = told(lambda: read(result))
    assert (warning.category, str(warning.message)) == (dctv.DctvWarning, TOLD)
    assert warning.filename == __file__


def test_to_look_warns_on_the_screen_alone(session: dctv.Session) -> None:
    result = session.sql(ROWS)
    assert told(lambda: str(result)) == []
    assert str(result).endswith(f"warning: {TOLD}")


@pytest.mark.parametrize("mount", ["method", "statement"])
def test_mounts(session: dctv.Session, tmp_path: Path, mount: str) -> None:
    trace = tmp_path / "t.json"
    trace.write_text('{"traceEvents": []}')
    ways = {
        "method": lambda: session.mount(trace, "t"),
        "statement": lambda: session.sql(f"MOUNT TRACE '{trace}' AS t"),
    }
    (warning,) = told(ways[mount])
    assert str(warning.message) == f"found no event in `{trace}`, which was read as chrome-json"
    assert warning.filename == __file__
    assert told(lambda: session.sql("SELECT 1").fetchall()) == []


def test_incompletely_read_traces(session: dctv.Session, tmp_path: Path) -> None:
    trace = tmp_path / "t.txt"
    trace.write_text("How to read a trace\n\n# tracer: nop\n\nlines follow\n")
    messages = [str(one.message) for one in told(lambda: session.mount(trace, "t"))]
    assert messages[1:] == session.incomplete()
    assert messages[1].startswith("t: ")
    assert told(lambda: session.sql("SELECT 1").fetchall()) == []


def test_filters(session: dctv.Session, tmp_path: Path) -> None:
    trace = tmp_path / "t.json"
    trace.write_text('[{"name": "a", "ph": "X", "pid": 1, "tid": 1, "ts": 1, "dur": 1}]')
    session.mount(trace, "t")
    (warning,) = told(lambda: session.matches("t", "nothing == 1"))
    assert "nothing" in str(warning.message)
    assert session.warnings() == [str(warning.message)]


def test_each_call_warns_anew(session: dctv.Session) -> None:
    found = told(lambda: [session.sql(ROWS).fetchall() for _ in range(2)])
    assert [str(one.message) for one in found] == [TOLD, TOLD]


def test_filters_of_the_program_decide(session: dctv.Session) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", dctv.DctvWarning)
        result = session.sql(ROWS)
        with pytest.raises(dctv.DctvWarning, match="division by zero"):
            result.fetchall()
    assert session.sql("SELECT 1").fetchall() == [(1,)]


def test_a_session_can_be_quiet() -> None:
    with dctv.Session(warn=False) as session:
        result = session.sql(ROWS)
        assert told(result.fetchall) == []
        assert result.warnings == [("division by zero gave NULL", 3)]


def test_the_command_line_prints_warnings_itself() -> None:
    found = []
    caught = told(lambda: found.append(run("query", ROWS)))
    assert (found[0].err, caught) == (f"warning: {TOLD}\n", [])
