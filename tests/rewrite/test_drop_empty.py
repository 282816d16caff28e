"""What has no rows is left out: random queries over tables, some of them empty, with the rule and without."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.rewrite import rewrite
from dctv.rewrite.drop_empty import drop_empty
from dctv.session import Session
from tests.bounds import bounded
from tests.rewrite.test_same_rows import outcome

TABLES = {
    "full": "SELECT * FROM (VALUES (1, 'x', 0.5), (2, 'y', NULL), (2, NULL, 1.5), (NULL, 'z', 2.5)) AS v(a, b, c)",
    "wide": "SELECT * FROM (VALUES (2, 7000000000, 'w'), (3, NULL, 'v')) AS v(a, b, c)",
    "none": "SELECT a, b, c FROM full WHERE FALSE",
    "other": "SELECT CAST(a AS DOUBLE) AS a, b, c FROM wide WHERE FALSE",
    "groups": "SELECT a, COUNT(*) AS b, MIN(b) AS c FROM none GROUP BY a",
    "total": "SELECT MAX(a) AS a, COUNT(*) AS b, MIN(b) AS c FROM none",
    "listed": "SELECT 1 AS a, 'k' AS b, 2.5 AS c FROM none",
}
NAMES = st.sampled_from(sorted(TABLES))
KINDS = ("INNER JOIN", "LEFT JOIN", "RIGHT JOIN", "FULL JOIN", "SEMI JOIN", "ANTI JOIN")
ORDERED = "ORDER BY 1, 2, 3"


@contextmanager
def with_tables() -> Iterator[Session]:
    """Open a session that has the tables."""
    with Session(threads=1) as made:
        for name, query in TABLES.items():
            made.sql(f"CREATE VIEW {name} AS {query}")
        yield made


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with with_tables() as made:
        yield made


@st.composite
def sources(draw: st.DrawFn, alias: str) -> str:
    """Draw a table, or a query of one."""
    name = draw(NAMES)
    forms = [name, name, f"(SELECT * FROM {name})", f"(SELECT a, b, c FROM {name} WHERE a > 1)"]
    forms += [f"(SELECT a, MAX(b) AS b, MAX(c) AS c FROM {name} GROUP BY a)", f"(SELECT DISTINCT a, b, c FROM {name})"]
    return f"{draw(st.sampled_from(forms))} AS {alias}"


@st.composite
def selects(draw: st.DrawFn) -> str:
    """Draw a select of three columns over one to three sources."""
    joins = draw(st.lists(st.sampled_from(KINDS), max_size=2))
    text, seen = f"FROM {draw(sources('s'))}", ["s"]
    for number, kind in enumerate(joins):
        alias = f"j{number}"
        text += f" {kind} {draw(sources(alias))} ON {draw(st.sampled_from(seen))}.a = {alias}.a"
        if kind not in KINDS[4:]:
            seen.append(alias)
    column = st.builds("{}.{}".format, st.sampled_from(seen), st.sampled_from("abc"))
    values = st.one_of(column, column, st.just("1"), st.just("NULL"), column.map("COALESCE({0}, {0})".format))
    if draw(st.booleans()):
        where = st.sampled_from(["{} IS NULL", "{} = {}", "FALSE"])
        text += f" WHERE {draw(where).format(draw(column), draw(column))}"
    match draw(st.sampled_from(["plain", "plain", "distinct", "grouped", "rollup", "total", "window"])):
        case "grouped":
            key = draw(column)
            return f"SELECT {key} AS a, COUNT(*) AS b, MAX({draw(column)}) AS c {text} GROUP BY {key}"
        case "rollup":
            key = draw(column)
            return f"SELECT {key} AS a, COUNT(*) AS b, MAX({draw(column)}) AS c {text} GROUP BY ROLLUP({key})"
        case "total":
            return f"SELECT COUNT(*) AS a, COUNT({draw(column)}) AS b, MAX({draw(column)}) AS c {text}"
        case "window":
            return f"SELECT {draw(values)} AS a, COUNT(*) OVER () AS b, {draw(values)} AS c {text}"
        case form:
            first = "DISTINCT " if form == "distinct" else ""
            return f"SELECT {first}{draw(values)} AS a, {draw(values)} AS b, {draw(values)} AS c {text}"


@st.composite
def texts(draw: st.DrawFn) -> str:
    """Draw selects, alone or in compounds, which may stand in FROM."""
    parts = draw(st.lists(selects(), min_size=1, max_size=3))
    operator = draw(st.sampled_from(["UNION ALL", "UNION ALL", "UNION", "EXCEPT", "INTERSECT"]))
    whole = f" {operator} ".join(parts)
    match draw(st.sampled_from(["plain", "nested", "sorted"])):
        case "nested":
            return f"SELECT a, b, c FROM ({whole}) AS q {ORDERED}"
        case "sorted" if len(parts) > 1:
            return f"SELECT * FROM ({whole} ORDER BY 1, 2, 3 LIMIT 3) AS q {ORDERED}"
        case _:
            return f"SELECT * FROM ({whole}) AS q {ORDERED}"


@bounded(300)
@given(sql=texts())
def test_rows_names_and_types_stay(session: Session, sql: str) -> None:
    with patch.object(rewrite, "RULES", ()):
        plain = outcome(session, sql)
    with patch.object(rewrite, "RULES", (drop_empty,)):
        assert outcome(session, sql) == plain
    assert outcome(session, sql) == plain


@pytest.mark.parametrize(
    ("query", "left"),
    [
        ("SELECT a, b FROM full UNION ALL SELECT a, b FROM none", "rows"),
        ("SELECT a, b FROM none UNION ALL SELECT a, b FROM full", "rows"),
        ("SELECT f.a, n.b FROM full AS f LEFT JOIN none AS n ON f.a = n.a", "rows"),
        ("SELECT f.a FROM full AS f ANTI JOIN none AS n ON f.a = n.a", "rows"),
        ("SELECT f.a FROM full AS f JOIN none AS n ON f.a = n.a", "nothing"),
        ("SELECT a, COUNT(*) FROM none GROUP BY a", "nothing"),
        ("SELECT f.a, n.b FROM full AS f RIGHT JOIN groups AS n ON f.a = n.a", "both"),
        ("SELECT COUNT(*) FROM none", "nothing"),
        ("SELECT COUNT(*) FROM full UNION ALL SELECT COUNT(*) FROM none", "both"),
    ],
)
def test_remaining_plan_after_dropping(session: Session, query: str, left: str) -> None:
    plan = "\n".join(row[0] for row in session.sql(f"EXPLAIN {query}").fetchall())
    assert ("4 rows" in plan) == (left != "nothing"), plan
    assert ("where FALSE" in plan) == (left != "rows"), plan
