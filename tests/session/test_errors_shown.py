"""Errors as a program and a notebook meet them: their text is what the terminal shows, and fits on a screen."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pyarrow as pa
import pytest

import dctv
from dctv.engines.failures import failure
from dctv.errors import BindError, DctvError, EngineError, TraceError
from tests.command_line import run

TYPO = "SELECT cmm FROM (SELECT 1 AS comm)"
SHOWN = """\
<query>:1:8: unknown column `cmm`
  SELECT cmm FROM (SELECT 1 AS comm)
         ^^^
hint: did you mean `comm`?"""


@pytest.fixture
def session() -> Iterator[dctv.Session]:
    with dctv.Session() as one:
        yield one


def raised(session: dctv.Session, text: str) -> DctvError:
    with pytest.raises(DctvError) as caught:
        session.sql(text)
    return caught.value


def test_the_text_is_what_the_terminal_shows(session: dctv.Session) -> None:
    error = raised(session, TYPO)
    assert str(error) == SHOWN
    assert run("query", TYPO).err == f"{error}\n"
    assert error.message == "unknown column `cmm`"


def test_errors_without_a_place_are_shown_too(session: dctv.Session, tmp_path: Path) -> None:
    path = tmp_path / "none\x1b[31m.pfw"
    with pytest.raises(TraceError) as caught:
        session.mount(path, "t")
    assert run("query", f"t={path}", "SELECT 1").err == f"{caught.value}\n"
    assert r"none\x1b[31m.pfw" in str(caught.value)


def test_copies_say_the_same(session: dctv.Session) -> None:
    error = raised(session, TYPO)
    for other in (copy.copy(error), pickle.loads(pickle.dumps(error))):
        assert (type(other), str(other)) == (BindError, SHOWN)


def test_a_notebook_shows_one_screen(session: dctv.Session) -> None:
    def outer() -> None:
        inner()

    def inner() -> None:
        session.sql(TYPO)

    with pytest.raises(BindError) as caught:
        outer()
    # IPython asks errors for this, and shows what it gets.
    lines = caught.value._render_traceback_()
    assert lines[-4:] == f"BindError: {SHOWN}".splitlines()
    assert [line.strip() for line in lines[:-4]] == [
        f"{__file__}:{outer.__code__.co_firstlineno + 7}, in {test_a_notebook_shows_one_screen.__name__}",
        "outer()",
        f"{__file__}:{outer.__code__.co_firstlineno + 1}, in outer",
        "inner()",
        f"{__file__}:{inner.__code__.co_firstlineno + 1}, in inner",
        "session.sql(TYPO)",
    ]


def test_an_error_that_was_never_raised_has_no_frames() -> None:
    assert DctvError("it is wrong", hint="mend it")._render_traceback_() == [
        "DctvError: error: it is wrong",
        "hint: mend it",
    ]


def test_our_errors_keep_message_and_hint_on_their_way_through_the_engine() -> None:
    class Vanished:
        def __arrow_c_schema__(self) -> object:
            return pa.schema([("x", pa.int64())]).__arrow_c_schema__()

        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            raise TraceError("cannot read `t.pfw`: it vanished", hint="mount it again")

    with duckdb.connect() as connection:
        connection.register("t", Vanished())
        rows = connection.sql("FROM t")
        with pytest.raises(duckdb.Error) as caught:
            rows.fetchall()
    found = failure(caught.value)
    assert isinstance(found, EngineError)
    assert (found.message, found.hint) == ("cannot read `t.pfw`: it vanished", "mount it again")


def test_an_error_that_names_no_kind_is_read() -> None:
    """As one of a thread that reads a damaged file."""
    text = '{"exception_type":"Invalid","exception_message":"TProtocolException: Invalid data"}'
    assert failure(duckdb.Error(text)).message == "invalid data"


def test_an_engine_that_fails_shows_no_stack() -> None:
    """As an as-of join within a subquery does when it compares columns of the query around it."""
    inner = "SELECT b.y FROM (VALUES (3)) AS b(y) ASOF JOIN (VALUES (3)) AS c(y) ON b.y >= c.y + a.x"
    with duckdb.connect() as connection, pytest.raises(duckdb.InternalException) as caught:
        connection.execute(f"SELECT ({inner}) FROM (VALUES (1)) AS a(x)")
    assert "Stack Trace" in str(caught.value)
    found = failure(caught.value)
    assert isinstance(found, EngineError)
    assert found.message.startswith("the engine failed: failed to bind column reference")
    assert "\n" not in found.message
    assert "Stack" not in found.message
    assert found.hint == "this is a fault of DuckDB's, not of the query; another form of the query may work"
