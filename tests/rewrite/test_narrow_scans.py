"""Scans leave out what queries do not need, by an index or to the last row: the same rows as of plans as written."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.rewrite.strict import strict
from tests.rewrite.test_same_rows import outcome
from tests.sqltest import ROOT

TRACE = "tests/data/dftracer/loader"


def _plain() -> Session:
    session = Session(index=False)
    session.sql("SET rewrite = 'off'")
    return session


@pytest.fixture(scope="module", params=["held", "indexed"])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Session, Session]]:
    folder = tmp_path_factory.mktemp("index")
    with Session(threads=1, index=request.param == "indexed", index_dir=folder) as session, _plain() as plain:
        for one in (session, plain):
            one.mount(str(ROOT / TRACE), "t")
            one.sql("CREATE VIEW v AS SELECT _ts, _duration AS d, name AS n, pid AS p, category AS c FROM t.events")
            one.sql("CREATE VIEW w AS SELECT EVENT dur, pid, tid, fname, ret FROM t.raw_events.read")
        yield session, plain


def _tests(alias: str = "") -> st.SearchStrategy[str]:
    """Draw conditions over the columns of `v`."""
    a = f"{alias}." if alias else ""
    how = st.sampled_from(["=", "!=", "<", "<=", ">", ">=", "<=>", "<!=>"])
    name = st.sampled_from(["'read'", "'write'", "'unlink'", "'r'", "NULL"])
    number = st.sampled_from(["4711", "4712", "1.5", "1e3", "9223372036854775808", "NULL", "-1"])
    time = st.sampled_from(["0ns", "1ms", "300us", "2.5us", "1s", "NULL"])
    leaves = st.one_of(
        st.tuples(st.just(f"{a}n"), how, name).map(" ".join),
        st.tuples(name, how, st.just(f"{a}n")).map(" ".join),
        st.tuples(st.sampled_from([f"{a}p"]), how, number).map(" ".join),
        st.tuples(st.sampled_from([f"{a}d", f"{a}_ts", f"{a}_ts + {a}d"]), how, time).map(" ".join),
        st.sampled_from(
            [
                f"{a}n IN ('read', 'open64', NULL)",
                f"{a}n NOT IN ('read', 'lseek64')",
                f"{a}n LIKE 're%'",
                f"{a}n LIKE 'r_ad'",
                f"{a}n NOT LIKE '%e%'",
                f"{a}n ILIKE 'READ'",
                f"{a}n LIKE 'read!_%' ESCAPE '!'",
                f"{a}c IS NULL",
                f"{a}c IS NOT NULL",
                f"{a}d BETWEEN 1us AND 1ms",
                f"{a}p % 2 = 0",
                f"upper({a}n) = 'READ'",
                f"CASE WHEN {a}n = 'read' THEN TRUE END",
                "TRUE",
                "FALSE",
                "1 = 2",
            ]
        ),
    )
    return st.recursive(
        leaves,
        lambda inner: (
            st.tuples(inner, st.sampled_from(["AND", "OR"]), inner).map(lambda t: f"({t[0]}) {t[1]} ({t[2]})")
            | inner.map(lambda t: f"NOT ({t})")
        ),
        max_leaves=4,
    )


_SHAPES = [
    "SELECT n, p, d FROM v WHERE {0} ORDER BY _ts, n, p, d",
    "SELECT n, COUNT(*) AS k, SUM(d) AS s FROM v WHERE {0} GROUP BY n ORDER BY n",
    "SELECT n, COUNT(*) AS k FROM v WHERE {0} GROUP BY n HAVING n > 'o' AND COUNT(*) > 1 ORDER BY n",
    "SELECT * FROM (SELECT n, p, SUM(d) AS d, NULL AS c, MIN(_ts) AS _ts FROM v GROUP BY n, p) AS x WHERE {0x} "
    "ORDER BY n, p",
    "SELECT * FROM (SELECT DISTINCT n, p, d, c, _ts FROM v WHERE {0}) AS x WHERE {1x} ORDER BY _ts, n, p, d",
    "SELECT n FROM (SELECT * FROM v ORDER BY _ts, n, p, d LIMIT 9) AS x WHERE {0x} ORDER BY _ts, n, p, d",
    "SELECT n, p FROM (SELECT * FROM v WHERE {0} UNION ALL SELECT * FROM v WHERE {1}) AS x WHERE {0x} "
    "ORDER BY _ts, n, p, d",
    "SELECT n FROM (SELECT n, p, d, c, _ts FROM v EXCEPT SELECT n, p, d, c, _ts FROM v WHERE {1}) AS x WHERE {0x} "
    "ORDER BY _ts, n, p, d",
    "WITH q AS (SELECT * FROM v WHERE {0}) SELECT x.n, y.p FROM q AS x JOIN q AS y ON x._ts = y._ts AND {1y} "
    "WHERE {0x} ORDER BY 1, 2",
    "SELECT x.n, y.p FROM v AS x LEFT JOIN v AS y ON x._ts = y._ts AND {0y} WHERE {1x} ORDER BY 1, 2",
    "SELECT x.n, y.p FROM v AS x LEFT JOIN v AS y ON x._ts = y._ts WHERE {0y} ORDER BY 1, 2",
    "SELECT x.n, y.p FROM v AS x RIGHT JOIN v AS y ON x._ts = y._ts AND {0x} WHERE {1y} ORDER BY 1, 2",
    "SELECT x.n, y.p FROM v AS x FULL JOIN v AS y ON x._ts = y._ts AND {0x} WHERE {1y} ORDER BY 1, 2",
    "SELECT n FROM v AS x WHERE p IN (SELECT y.p FROM v AS y WHERE {0y}) AND {1x} ORDER BY _ts, n, p, d",
    "SELECT n FROM v AS x WHERE EXISTS (SELECT 1 FROM v AS y WHERE y._ts = x._ts AND {0x} AND {1y}) "
    "ORDER BY _ts, n, p, d",
    "SELECT n, row_number() OVER (ORDER BY _ts, n, p, d) AS k FROM v AS x WHERE {0x} ORDER BY k",
    "SELECT * FROM (SELECT *, row_number() OVER (ORDER BY _ts, n, p, d) AS k FROM v) AS x WHERE {0x} ORDER BY k",
    "SELECT * FROM (SELECT n, p, d, c, _ts FROM v QUALIFY row_number() OVER (PARTITION BY p ORDER BY _ts, n, d) = 1) "
    "AS x WHERE {0x} ORDER BY _ts, n, p, d",
    "SELECT COUNT(*) AS k FROM v WHERE {0} HAVING COUNT(*) > 2",
    "SELECT n, (SELECT COUNT(*) FROM v AS y WHERE {1y}) AS k FROM v AS x WHERE {0x} ORDER BY _ts, n, p, d",
    "SELECT pid, fname FROM w WHERE pid IN (SELECT p FROM v WHERE {0}) ORDER BY _ts, pid, tid",
]


@pytest.mark.parametrize("shape", _SHAPES)
@bounded(4)
@given(data=st.data())
def test_shapes(pair: tuple[Session, Session], shape: str, data: st.DataObject) -> None:
    places = set(re.findall(r"\{(\w+)\}", shape))
    tests = {place: f"({data.draw(_tests(place[1:]))})" for place in sorted(places)}
    sql = re.sub(r"\{(\w+)\}", lambda match: tests[match[1]], shape)
    session, plain = pair
    with strict():
        found = outcome(session, sql)
    assert found == outcome(plain, sql)
    assert not isinstance(found[-1], str), found[-1]
