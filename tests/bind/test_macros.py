"""Macros: a call equals its text with the arguments in parentheses, whatever names occur."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from dctv.completion import candidates
from dctv.console.listing import list_functions
from dctv.errors import BindError
from dctv.session import Session
from tests.bounds import bounded

ROWS = "(VALUES (1, 2, 3), (4, 5, 6), (7, 8, 9)) AS v(a, b, c)"


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(index=False) as session:
        yield session


def texts(names: list[str]) -> SearchStrategy[str]:
    """Return expressions over numbers and some names."""
    leaves = st.sampled_from([*names, "1", "2", "10"])
    return st.recursive(
        leaves,
        lambda inner: st.one_of(
            st.tuples(inner, st.sampled_from("+-*"), inner).map(" ".join),
            inner.map(lambda one: f"greatest({one}, 3)"),
            inner.map(lambda one: f"CASE WHEN {one} > 4 THEN {one} ELSE 0 END"),
            inner.map(lambda one: f"list_sum(list_transform([1, 2], b -> b * ({one})))" if "b" not in names else one),
        ),
        max_leaves=5,
    )


@given(body=texts(["x", "y"]), first=texts(["a", "b"]), second=texts(["b", "c"]))
@bounded(600)
def test_a_call_is_its_text_with_the_arguments_in_it(session: Session, body: str, first: str, second: str) -> None:
    session.sql(f"CREATE OR REPLACE MACRO made(x, y) AS {body}")
    written = _with_arguments(body, first, second)
    found = session.sql(f"SELECT made({first}, {second}) AS z FROM {ROWS}")
    expected = session.sql(f"SELECT {written} AS z FROM {ROWS}")
    assert found.schema == expected.schema
    assert found.fetchall() == expected.fetchall()


def _with_arguments(body: str, first: str, second: str) -> str:
    words = body.replace("(", " ( ").replace(")", " ) ").replace(",", " , ").split()
    # A lambda of the text must not take a name of the arguments.
    renamed = {"x": f"({first})", "y": f"({second})", "b": "element"}
    return " ".join(renamed.get(word, word) for word in words).replace("[1 , 2]", "[1, 2]")


def test_columns_of_a_subquery_and_of_an_argument_are_apart(session: Session) -> None:
    session.sql(
        "CREATE OR REPLACE MACRO above(x) AS (SELECT COUNT(*) FROM (VALUES (1), (5), (9)) AS v(a) WHERE v.a > x)"
    )
    assert session.sql(f"SELECT above(a), above(v.b) FROM {ROWS} ORDER BY a").fetchall() == [(2, 2), (2, 1), (1, 1)]


def test_common_tables_of_the_call_match_its_arguments(session: Session) -> None:
    session.sql("CREATE OR REPLACE VIEW numbers AS SELECT 1 AS n")
    session.sql("CREATE OR REPLACE MACRO both(t) AS TABLE SELECT n FROM t UNION ALL SELECT n FROM numbers")
    assert session.sql("WITH numbers AS (SELECT 2 AS n) FROM both(numbers)").fetchall() == [(1,), (2,)]


def test_a_view_calls_the_macro_that_is_there_when_it_is_read(session: Session) -> None:
    session.sql("CREATE OR REPLACE MACRO step(x) AS x + 1; CREATE OR REPLACE VIEW stepped AS SELECT step(1) AS n")
    session.sql("CREATE OR REPLACE MACRO step(x) AS x + 10")
    assert session.sql("FROM stepped").fetchall() == [(11,)]
    session.sql("DROP MACRO step")
    with pytest.raises(BindError, match="unknown function `step`"):
        session.sql("FROM stepped")


def test_parameters_of_the_text_that_calls_are_arguments(session: Session) -> None:
    session.sql("CREATE OR REPLACE MACRO plus(x, more => 1) AS x + more")
    assert session.sql("SELECT plus(:m, more => :n) AS z", {"m": 2, "n": 3}).fetchall() == [(5,)]


def test_a_long_chain_of_macros_is_an_error_at_most(session: Session) -> None:
    session.sql("CREATE OR REPLACE MACRO m0(x) AS x")
    for number in range(1, 400):
        session.sql(f"CREATE OR REPLACE MACRO m{number}(x) AS m{number - 1}(x) + 1")
    assert session.sql("SELECT m20(1) AS z").fetchall() == [(21,)]
    wrong = [one.message for one in session.check("SELECT m399(1) AS z")]
    assert all("nested too deeply" in one for one in wrong)


def test_macros_are_listed_and_completed(session: Session) -> None:
    session.sql("CREATE OR REPLACE MACRO own.half(of_it, parts => 2) AS of_it / parts")
    session.sql("CREATE OR REPLACE MACRO own.rows_of(width) AS TABLE SELECT width AS w")
    assert "own.half" in session.functions()
    assert "own.rows_of" not in session.functions()
    assert session.parameters("own.half") == ["of_it", "parts"]
    assert list(list_functions(session, "own.").chunks()) == [
        [["own.half"], ["macro"], ["own.half(of_it, parts => 2)"], [""]],
    ]
    listed = [(one.name, one.kind) for one in session.tables("own")]
    assert listed == [("own.half", "macro"), ("own.rows_of", "table macro")]
    assert [one.text for one in candidates(session, "SELECT * FROM own.").found] == ["rows_of"]
    assert [one.text for one in candidates(session, "SELECT * FROM own.rows_of(wi").found][:1] == ["width => "]
    assert [one.text for one in candidates(session, "SELECT * FROM own.rows_of(").found][:1] == ["width => "]
