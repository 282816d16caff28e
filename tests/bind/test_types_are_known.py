"""Binding does not query the engine: types come from the table of signatures, and match the engine's."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from dctv.bind import relations
from dctv.bind.library import library_function
from dctv.catalog.mount import Mount, attach
from dctv.catalog.stdlib import library
from dctv.contracts.reader import LoadedTrace
from dctv.functions.table.generate_sequential_spans import quantize
from dctv.run.view_templates import VIEWS
from dctv.session import Session
from tests.engine_types import compared
from tests.formats import EACH, FORMATS

SPANS = "(SELECT * FROM (VALUES (0, 5, 1.5, 'a'), (5, 10, 2.5, NULL)) AS v(_ts, _duration, x, n))"
QUERIES = (
    "SELECT 1, 'x', NULL, TRUE, 1.5, 5ms, -3, 9223372036854775807, INTERVAL '1 day'",
    "SELECT n, COUNT(*), SUM(x), AVG(x), MAX(x) + 1, COUNT(DISTINCT n) FILTER (WHERE x > 2) FROM {spans} GROUP BY n",
    "SELECT GREATEST(x, 3), COALESCE(n, 'none'), x // 2, x % 2, CASE n WHEN 'a' THEN 1 END FROM {spans}",
    "SELECT n, ROW_NUMBER() OVER w, SUM(x) OVER (PARTITION BY n) FROM {spans} QUALIFY RANK() OVER w < 3 "
    "WINDOW w AS (ORDER BY x)",
    "SELECT a.x, b.n FROM {spans} AS a ASOF JOIN {spans} AS b ON a._ts >= b._ts AND a.n = b.n ORDER BY a.x LIMIT 3",
    "SELECT x FROM {spans} WHERE x IN (SELECT x FROM {spans}) AND EXISTS (SELECT 1) UNION ALL SELECT 2 ORDER BY 1",
    "SELECT unnest(list_value(x, 2)) AS each FROM {spans} GROUP BY each ORDER BY each",
    "SELECT SPAN x * 2 AS y, UPPER(n) AS m FROM dctv.as_spans({spans}) HAVING _duration > 3ns",
    'SELECT SPAN time_avg(x) AS mean, SUM(x) AS total, MIN(n) AS first FROM dctv.as_spans({spans}, partition => "n") '
    "GROUP USING PARTITION",
    "SELECT quantile_cont(x, 0.5), list(n ORDER BY x), trim(any_value(n)) FROM {spans}",
    "SELECT [], [1, NULL], [x, 2], [[n]], {{'a': x, `select`: n, \"B c\": []}}, {{a: NULL}} FROM {spans}",
    "SELECT MAP {{}}, MAP {{x: [n]}}, MAP {{x: [n]}}[1.5], MAP {{'a': 1ms}}['a'] FROM {spans}",
    "SELECT [x][1], [1, 2][2:], n[1:2], [1, 2][: : -1], {{a: {{b: n}}}}.a.b, {{a: 1}}['A'] FROM {spans}",
    "SELECT j.a, j['a']['b'], j->'a', j->>'a', j->0, j->>'$.a[0].b', j[0] FROM (SELECT '[]'::JSON AS j)",
    "SELECT DATE '2024-01-02', TIMESTAMP '2024-01-02 10:00:00', INTERVAL 2 DAYS, INTERVAL (1 + 1) WEEK",
    "SELECT 5ms > INTERVAL 1 SECOND, INTERVAL 1 HOUR IN ms, DATE '2024-01-02' + 5s, 1s - INTERVAL 5 MILLISECONDS",
    "SELECT (d - d) IN s, d - d > 1h, d + t, EXTRACT(year FROM d), EXTRACT(epoch FROM d), t < 2 * INTERVAL 1 DAY "
    "FROM (SELECT TIMESTAMP '2024-01-02 10:00:00' AS d, 5ms AS t)",
    "SELECT list_transform([x], y -> y * 2), list_filter([n], lambda t: t > 'a'), [[i] FOR i IN [1, 2] IF i > _ts], "
    "list_reduce([1, 2], (a, b) -> a + b), list_reduce([x], lambda a, b: a * b, 1.5), [1 FOR x IN [2ms]] FROM {spans}",
    "SELECT quantile_cont(x, [0.5, 1]), quantile_disc(n, [0, 1]), [1s, 2ms] IN us FROM {spans}",
)


@contextmanager
def of_nothing(reader: str) -> Iterator[Session]:
    """Return a session with a trace of a format that has no rows, whose views are bound from their texts."""
    VIEWS.clear()
    with Session() as session:
        mount = Mount(("t",), "nothing", reader, LoadedTrace({}, [], 0))
        attach(session._context.catalog, mount, library(), [quantize(0, 0)], library_function)
        yield session


def refuse_to_be_asked(session: Session, patch: pytest.MonkeyPatch) -> None:
    def describe(query: object, _: object = None) -> list[tuple[str, str]]:
        raise AssertionError(query)

    patch.setattr(session._context.engine, "describe", describe)
    patch.setattr(relations, "_known", {})


@pytest.mark.parametrize("reader", EACH)
def test_views_are_bound_without_the_engine(reader: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with of_nothing(reader) as session:
        refuse_to_be_asked(session, monkeypatch)
        views = [t.name for t in session.tables("t") if t.kind == "view"]
        assert all(session.columns(name) for name in views)


@pytest.mark.parametrize("sql", QUERIES)
def test_queries_are_bound_without_the_engine(sql: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with Session() as session:
        refuse_to_be_asked(session, monkeypatch)
        assert session.sql(sql.format(spans=SPANS)).schema.columns


@pytest.mark.parametrize("sql", QUERIES)
def test_types_of_queries_match_the_engine(sql: str) -> None:
    with Session() as session, compared() as seen:
        session.sql(sql.format(spans=SPANS)).fetchall()
    assert seen


@pytest.mark.parametrize("reader", EACH)
def test_types_of_views_match_the_engine(reader: str) -> None:
    with of_nothing(reader) as session, compared() as seen:
        for name in [t.name for t in session.tables("t") if t.kind == "view"]:
            session.columns(name)
    assert len(seen) > len(FORMATS)
