"""Errors of a run: a value that cannot be converted is reported at the expression that converts it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.errors import DctvError, EngineError
from dctv.session import Session
from tests.fleet.traces import write_fleet

WORDS = "(SELECT 'x' || range AS w, range AS n FROM range(3))"
SPANS = "dctv.as_spans((SELECT range * 10s AS _ts, 5s AS _duration, 'x' || range AS w FROM range(3)))"
HINT = "TRY_CAST(value AS type) makes such values NULL"


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(index=False, threads=2) as one:
        yield one


def raised(session: Session, text: str) -> DctvError:
    """Run a query that fails."""
    with pytest.raises(DctvError) as caught:
        session.sql(text).fetchall()
    return caught.value


def placed(session: Session, query: str) -> DctvError:
    """Run a query that fails, without its brackets; the place of the error is between them."""
    before, _, rest = query.partition("[")
    written, _, after = rest.partition("]")
    error = raised(session, before + written + after)
    assert error.place is not None
    assert (error.place.start, error.place.text) == (len(before), written)
    return error


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT [w::INT] FROM {WORDS}",
        f"SELECT [CAST(w || 'ä' AS INT)] + 1, 'ü' AS u FROM {WORDS} WHERE w < 'ö'",
        f"SELECT n FROM {WORDS} WHERE [w::INT] > 1",
        f"SELECT n FROM {WORDS} ORDER BY [w::DATE]",
        f"SELECT SUM([w::INT]) OVER (ORDER BY n) FROM {WORDS}",
        f"SELECT COUNT(*) FROM {WORDS} GROUP BY [w::INT]",
        f"SELECT a.n FROM {WORDS} AS a JOIN {WORDS} AS b ON [a.w::INT] = b.n",
        f"WITH t AS (SELECT [w::INT] AS i FROM {WORDS}) SELECT a.i FROM t AS a JOIN t AS b USING (i)",
        f"SELECT i FROM (SELECT [w::INT] AS i FROM {WORDS} UNION ALL SELECT n FROM {WORDS})",
        "SELECT [300::TINYINT]",
        "SELECT 1, [{'a': 'x'}::STRUCT(a INT)]",
        f"SELECT SPAN [w::INT] AS i FROM {SPANS}",
        f"SELECT SPAN a.i FROM (SELECT SPAN [w::INT] AS i FROM {SPANS}) AS a SPAN JOIN {SPANS} AS b",
        f"SELECT '/* dctv: expression 0 */', [w::INT] FROM {WORDS}".replace("[w", "[(w || '')"),
    ],
)
def test_a_cast_that_fails(session: Session, query: str) -> None:
    error = placed(session, query)
    assert error.hint == HINT
    assert "source column" not in error.message
    assert "{" not in error.message.replace("STRUCT(a", "")


@pytest.mark.parametrize("query", ["SELECT sqrt(['x'])", "SELECT 1, ['it''s'] IN [1, 2]", "SELECT * FROM range(['x'])"])
def test_a_string_that_is_converted_for_a_function(session: Session, query: str) -> None:
    assert placed(session, query).hint is None


def test_the_place_is_in_the_text_of_the_view(session: Session) -> None:
    session.sql(f"CREATE VIEW numbers AS SELECT w::INT AS i FROM {WORDS}")
    error = raised(session, "SELECT i + 1 FROM numbers")
    assert error.place is not None
    assert error.place.text == "w::INT"
    assert error.place.source.text.startswith("CREATE VIEW")


def test_the_same_query_written_twice_has_two_places(session: Session) -> None:
    for text in (f"SELECT w::INT AS i FROM {WORDS}", f"SELECT  CAST(w AS INT) AS i FROM {WORDS}"):
        error = raised(session, text)
        assert error.place is not None
        assert error.place.source.text == text
        assert error.place.text == text.removeprefix("SELECT").strip().partition(" AS i")[0]


@pytest.mark.parametrize("processes", [False, True])
def test_a_trace_of_a_fleet(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, processes: bool) -> None:
    monkeypatch.setattr("dctv.run.trace_workers.MANY", 6 if processes else 1000)
    write_fleet(tmp_path, 6)
    with Session(index=False, threads=2) as session:
        session.mount_traces(tmp_path / "*.json", "runs")
        error = raised(session, "SELECT SUM(name::INT) AS s FROM runs.slices")
    assert error.message.startswith(f"{tmp_path / 'run000.json'}: could not convert string")
    assert error.place is not None
    assert error.place.text == "name::INT"


def test_two_queries_with_a_cast_at_the_same_place_of_their_sql(session: Session) -> None:
    halves = [f"(SELECT SPAN w::INT AS {name} FROM {SPANS})" for name in ("i", "j")]
    error = raised(session, f"SELECT SPAN a.i, b.j FROM {halves[0]} AS a SPAN JOIN {halves[1]} AS b")
    assert error.message == "could not convert string 'x0' to INT32"
    assert error.place is None


def test_what_is_no_cast_of_the_text_has_no_place(session: Session) -> None:
    assert raised(session, "SELECT 9223372036854775807 + range FROM range(1, 3)").place is None
    # The engine gives the argument's place in the function for that of the cast.
    assert raised(session, f"SELECT [x::INT FOR x IN [w]] FROM {WORDS}").place is None


@pytest.mark.parametrize(
    "value",
    [
        "interrupted",
        "so: interrupted",
        '{"exception_type":"a","exception_message":"b","location":"[0,3]"}',
        'An Error: {"exception_type":"a"}',
        'An Error: {"exception_type":"a","exception_message":"b","location":[0,3]}',
        'An Error: {"exception_type":"a","exception_message":"b","location":"[null,3]"}',
        f'An Error: {{"exception_type":{"[" * 9_000}',
        "LINE 1: a",
    ],
)
def test_a_value_that_reads_like_a_message(session: Session, value: str) -> None:
    error = raised(session, f"SELECT ('{value}' || range)::INT FROM range(1)")
    assert type(error) is EngineError
    assert error.message == f"could not convert string '{value}0' to INT32"
    assert error.place is not None


@pytest.mark.parametrize(
    "query",
    [
        f"SELECT i FROM (SELECT [w::INT] AS i, n FROM {WORDS}) AS few",
        f"SELECT i FROM (SELECT [w::INT] AS i, 1 AS a FROM {WORDS} UNION ALL SELECT 2, 2 FROM {WORDS}) WHERE a = 1",
    ],
)
def test_the_place_is_that_in_the_last_of_equal_queries(session: Session, query: str) -> None:
    for text in (query, query.replace("SELECT", "SELECT  "), "\n" + query):
        placed(session, text)
