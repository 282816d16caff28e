"""Questions that statistics answer: the same rows as the engine counts, or no answer."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from dctv.session import Session
from tests.sqltest import ROOT

TRACE = "tests/data/dftracer/loader"

ANSWERED = [
    "SELECT COUNT(*) FROM t.events",
    "SELECT name, COUNT(*) AS n, SUM(_duration) AS s FROM t.events GROUP BY name",
    "SELECT name, category, COUNT(*), COUNT(name), COUNT(_ts) FROM t.events GROUP BY 2, 1",
    "SELECT category, COUNT(*) AS n FROM t.events GROUP BY category HAVING COUNT(*) > 100 ORDER BY n DESC",
    "SELECT pid, COUNT(*) FROM t.events GROUP BY pid",
    "SELECT tid, COUNT(*), COUNT(tid) FROM t.events GROUP BY tid ORDER BY 2 DESC, 1 LIMIT 2 OFFSET 1",
    "SELECT MIN(_ts), MAX(_ts) - MIN(_ts), COUNT(category) FROM t.events",
    "SELECT SUM(_duration) / COUNT(*), AVG(_duration), MIN(_duration), MAX(_duration) FROM t.events",
    "SELECT name, VARIANCE(_duration), STDDEV(_duration), VAR_POP(_duration) FROM t.events GROUP BY name",
    "SELECT COUNT(*), SUM(dur), MAX(dur), COUNT(dur), STDDEV_POP(dur) FROM t.raw_events.read",
    "SELECT cat, COUNT(*) FROM t.raw_events.read GROUP BY cat",
    "SELECT * FROM (SELECT name, COUNT(*) AS n FROM t.events GROUP BY name) WHERE name = 'read' OR n > 100",
    "SELECT a.name, a.n FROM (SELECT name, COUNT(*) AS n FROM t.events GROUP BY name) AS a ORDER BY a.n, 1",
    "SELECT COUNT(*) FROM t.events HAVING COUNT(*) > 10000",
    "SELECT called, COUNT(*), COUNT(what), SUM(took) FROM columns GROUP BY called",
    "SELECT COUNT(*) FROM columns",
]
READ = [
    "SELECT COUNT(*) FROM t.events WHERE pid > 0",
    "SELECT COUNT(DISTINCT name) FROM t.events",
    "SELECT COUNT(*) FILTER (WHERE name = 'read') FROM t.events",
    "SELECT name, MIN(_ts) FROM t.events GROUP BY name",
    "SELECT pid, SUM(_duration) FROM t.events GROUP BY pid",
    "SELECT pid, tid, COUNT(*) FROM t.events GROUP BY pid, tid",
    "SELECT name, MAX(name) FROM t.events GROUP BY name",
    "SELECT upper(name), COUNT(*) FROM t.events GROUP BY upper(name)",
    "SELECT name, COUNT(*) FROM t.events GROUP BY ROLLUP (name)",
    "SELECT median(_duration) FROM t.events",
    "SELECT name FROM t.events LIMIT 3",
    "SELECT COUNT(*), row_number() OVER () FROM t.events",
    "SELECT fname, COUNT(*) FROM t.raw_events.read GROUP BY fname",
    "SELECT lower_name, COUNT(*) FROM columns GROUP BY lower_name",
    "SELECT called, called_too, COUNT(*) FROM columns GROUP BY called, called_too",
    "SELECT SUM(more) FROM columns",
    "SELECT COUNT(*) FROM numbered",
    "SELECT COUNT(*) FROM some",
    "SELECT COUNT(*) FROM one",
    "SELECT COUNT(*) FROM many",
    "SELECT COUNT(*) FROM t.events AS a JOIN t.processes.summary AS b ON a.pid = b.pid",
]
VIEWS = {
    "columns": "name AS called, name AS called_too, category AS what, _duration AS took, lower(name) AS lower_name, "
    "_duration + 1ns AS more",
    "numbered": "DISTINCT name, _duration",
    "some": "name, unnest([1, 2]) AS one",
    "one": "MAX(name) AS name",
    "many": "name, row_number() OVER () AS n, (SELECT 1) AS k",
}


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    folder: Path = tmp_path_factory.mktemp("index")
    with Session(index=True, index_dir=folder) as session, Session(index=False) as plain:
        for one in (session, plain):
            one.mount(str(ROOT / TRACE), "t")
            for name, select in VIEWS.items():
                one.sql(f"CREATE VIEW {name} AS SELECT {select} FROM t.events")
        yield session, plain


def _is_answered(session: Session, sql: str) -> bool:
    return any("answered from statistics" in line for (line,) in session.sql(f"EXPLAIN {sql}").fetchall())


def _near(a: object, b: object) -> bool:
    """Whether two values are the same; of doubles the last digits may differ."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, rel_tol=1e-12)
    return type(a) is type(b) and a == b


def _same(pair: tuple[Session, Session], sql: str) -> None:
    found, expected = (one.sql(sql) for one in pair)
    assert [(c.name, c.type, c.unit) for c in found.schema.columns] == [
        (c.name, c.type, c.unit) for c in expected.schema.columns
    ]
    rows, others = found.fetchall(), expected.fetchall()
    assert len(rows) == len(others)
    for row, other in zip(rows, others, strict=True):
        assert all(_near(a, b) for a, b in zip(row, other, strict=True)), (row, other)


@pytest.mark.parametrize("sql", ANSWERED)
def test_answered(pair: tuple[Session, Session], sql: str) -> None:
    assert _is_answered(pair[0], sql)
    _same(pair, sql)


@pytest.mark.parametrize("sql", READ)
def test_read(pair: tuple[Session, Session], sql: str) -> None:
    assert not _is_answered(pair[0], sql)
    _same(pair, sql)


def test_quantiles_are_near(pair: tuple[Session, Session]) -> None:
    sql = "SELECT name, approx_quantile(_duration, {}) AS q, COUNT(*) FROM t.events GROUP BY name ORDER BY name"
    for share in ("0.25", "0.5", "0.99"):
        assert _is_answered(pair[0], sql.format(share))
        found = pair[0].sql(sql.format(share)).fetchall()
        exact = pair[1].sql(sql.format(share).replace("approx_quantile", "quantile_disc")).fetchall()
        for (name, near, _), (other, right, _) in zip(found, exact, strict=True):
            assert name == other
            assert near == right or math.isclose(near, right, rel_tol=0.01)


COUNTS = [
    ("SELECT COUNT(*) FROM t.events", True),
    ("SELECT COUNT(*) FROM t.raw_events.read", False),
    ("SELECT SUM(dur), MIN(dur), MAX(dur), COUNT(dur) FROM t.raw_events.read", False),
    ("SELECT name, COUNT(*) AS n FROM t.events GROUP BY name ORDER BY n DESC, name LIMIT 3", False),
    ("SELECT category, COUNT(*) AS n FROM t.events GROUP BY category", False),
    ("SELECT SUM(_duration) FROM t.events", False),
]
"""Questions, and whether statistics without counts by name answer them."""


@pytest.mark.parametrize("many", [1023, 1024])
def test_a_chunk_of_too_many_names_is_counted_whole(tmp_path: Path, many: int) -> None:
    names = ["read"] * 500 + [f"step {number}" for number in range(many)]
    event = {"cat": "POSIX", "pid": 1, "tid": 1, "ph": "X", "args": {}}
    lines = [json.dumps({"id": n, "name": one, "ts": n, "dur": n, **event}) for n, one in enumerate(names)]
    path = tmp_path / "many.pfw"
    path.write_text("[\n" + "\n".join(lines) + "\n")
    with Session(index=True, index_dir=tmp_path / "indexes") as session, Session(index=False) as plain:
        for one in (session, plain):
            one.mount(path, "t")
        for sql, without_names in COUNTS:
            assert _is_answered(session, sql) == (without_names or many < 1024), sql
            _same((session, plain), sql)


def test_nothing_is_answered_without_rules(pair: tuple[Session, Session]) -> None:
    pair[0].sql("SET rewrite = 'off'")
    assert not _is_answered(pair[0], ANSWERED[0])
    pair[0].sql("SET rewrite = 'on'")
