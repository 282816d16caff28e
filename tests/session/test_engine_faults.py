"""A fault of the engine ends one query, not the session."""

from __future__ import annotations

import duckdb
import pytest

import dctv
from dctv.errors import EngineError

FAULT = "INTERNAL Error: Attempted to access index 3 within vector of size 3"
ENDED = (
    "FATAL Error: Failed: database has been invalidated because of a previous fatal error. The database must be"
    ' restarted prior to being used again.\nOriginal error: "Attempted to access index 3"'
)


class Ended:
    """A database that a fault has ended: what asks it anything fails."""

    def __init__(self, text: str) -> None:
        self._text = text

    def cursor(self) -> Ended:
        return Ended(self._text)

    def sql(self, _query: str) -> None:
        raise duckdb.FatalException(self._text)

    execute = register = sql

    def interrupt(self) -> None:
        pass

    close = interrupt


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        (FAULT, "the engine failed: attempted to access index 3", "another form of the query may work"),
        (ENDED, "database has been invalidated", "run this one again"),
    ],
)
def test_the_next_query_runs_in_another_database(text: str, message: str, hint: str) -> None:
    with dctv.Session() as session:
        session.sql("SET memory_limit = '300MB'; SET threads = 1")
        engine = session._context.engine
        engine.__dict__["_parallel"] = Ended(text)
        with pytest.raises(EngineError, match=message) as caught:
            session.sql("SELECT SUM(range) AS s FROM range(10)").fetchall()
        assert caught.value.hint is not None
        assert caught.value.hint.endswith(hint)
        assert session.sql("SELECT SUM(range) AS s FROM range(10)").fetchall() == [(45,)]
        assert engine.memory_limit() == pytest.approx(300_000_000, rel=0.01)


def test_other_errors_leave_the_database() -> None:
    with dctv.Session() as session:
        session.sql("SELECT 1").fetchall()
        database = session._context.engine.__dict__["_parallel"]
        with pytest.raises(EngineError):
            session.sql("SELECT v::INT64 FROM (VALUES ('1'), ('x')) AS t(v)").fetchall()
        assert session._context.engine.__dict__["_parallel"] is database
