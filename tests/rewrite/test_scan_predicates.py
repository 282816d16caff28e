"""What a query needs of the rows of each scan: the text of a query, and the predicates and columns that reach scans."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from unittest.mock import patch

import pytest

from dctv.plan import predicate as p
from dctv.plan.source import RowsInMemory
from dctv.session import Session
from tests.sqltest import ROOT

TRACE = "tests/data/dftracer/loader"
READ = "t.raw_events.read"


@dataclass
class Told:
    """Which needs and columns reach the tables in memory that are read."""

    needs: list[p.Predicate] = field(default_factory=list)
    columns: list[Collection[str]] = field(default_factory=list)


@pytest.fixture(scope="module")
def session() -> Iterator[Session]:
    with Session(threads=1, index=False) as made:
        made.mount(str(ROOT / TRACE), "t")
        made.sql("CREATE VIEW v AS SELECT name AS n, pid AS p, _duration AS d, _ts FROM t.events")
        yield made


def told(session: Session, sql: str) -> Told:
    noted = Told()

    def narrowed(held: RowsInMemory, predicate: p.Predicate) -> RowsInMemory:
        noted.needs.append(predicate)
        return RowsInMemory(held.data)

    def reading(held: RowsInMemory, columns: Collection[str]) -> RowsInMemory:
        noted.columns.append(columns)
        return held

    with patch.object(RowsInMemory, "narrowed", narrowed), patch.object(RowsInMemory, "reading", reading):
        session.sql(f"EXPLAIN {sql}").fetchall()
    return noted


def _is(column: str, operator: str, value: p.Value) -> p.Compare:
    return p.Compare((column,), operator, value)


CONDITIONS: Mapping[str, p.Predicate | None] = {
    # Numbers: exact, as the engine compares them; times in ns.
    "pid = 4": _is("pid", "=", 4),
    "4 < pid": _is("pid", ">", 4),
    "pid >= -4": _is("pid", ">=", -4),
    "pid <= 9223372036854775808": _is("pid", "<=", 2**63),
    "pid = 9007199254740993": _is("pid", "=", 2**53 + 1),
    "pid < 1.5": _is("pid", "<", Fraction(3, 2)),
    "pid < 1e3": _is("pid", "<", 1000),
    "pid = 1e16": None,
    "pid != CAST('7' AS INT64)": _is("pid", "!=", 7),
    "dur > 1ms": _is("dur", ">", 1_000_000),
    "dur > 1.5us": _is("dur", ">", 1500),
    "1s >= _ts": _is("_ts", "<=", 10**9),
    "count > 2kB": _is("count", ">", 2000),
    "_ts + dur < 5us": p.Compare(("_ts", "dur"), "<", 5000),
    "pid BETWEEN 3 AND 5": p.And((_is("pid", ">=", 3), _is("pid", "<=", 5))),
    "pid NOT BETWEEN 3 AND 5": p.Not(p.And((_is("pid", ">=", 3), _is("pid", "<=", 5)))),
    "pid IN (3, 5, 3)": p.In("pid", (3, 5)),
    "pid IN (3, NULL)": p.In("pid", (3,), has_null=True),
    "pid NOT IN (3, 5)": p.Not(p.In("pid", (3, 5))),
    "CAST(pid AS STRING) = '4'": None,
    "pid + 1 = 4": None,
    "pid = tid": None,
    # Texts.
    "cat = 'POSIX'": _is("cat", "=", "POSIX"),
    "cat LIKE 'PO%'": p.Prefix("cat", "PO"),
    "cat LIKE 'POSIX'": _is("cat", "=", "POSIX"),
    "cat LIKE 'P_S%'": p.Prefix("cat", "P"),
    "cat NOT LIKE 'P_S%'": None,
    "cat LIKE '%X'": p.Prefix("cat", ""),
    "cat LIKE 'a!_b%' ESCAPE '!'": p.Prefix("cat", "a_b"),
    r"cat LIKE 'a\_b%'": p.Prefix("cat", "a\\"),
    "cat ILIKE 'po%'": None,
    "starts_with(cat, 'PO%')": p.Prefix("cat", "PO%"),
    "upper(cat) = 'POSIX'": None,
    # Missing values and truth values.
    "cat IS NULL": p.IsNull("cat"),
    "cat IS NOT NULL": p.Not(p.IsNull("cat")),
    "cat <=> NULL": p.IsNull("cat"),
    "cat <!=> NULL": p.Not(p.IsNull("cat")),
    "pid <=> 4": p.And((_is("pid", "=", 4), p.Not(p.IsNull("pid")))),
    "pid <!=> 4": p.Or((_is("pid", "!=", 4), p.IsNull("pid"))),
    "pid = NULL": p.Or(()),
    "NOT (pid = NULL)": p.Or(()),
    "1 = 2": p.Or(()),
    "1 = 1": None,
    # What is not understood is left out where that is sound.
    "pid = 4 AND pid = tid": _is("pid", "=", 4),
    "pid = 4 OR pid = tid": None,
    "NOT (pid = 4 AND pid = tid)": None,
    "NOT (pid = 4 OR pid = tid)": p.Not(_is("pid", "=", 4)),
    "NOT NOT (pid = 4)": _is("pid", "=", 4),
    "CASE WHEN pid = 4 THEN TRUE END": None,
}


@pytest.mark.parametrize("test", CONDITIONS)
def test_conditions(session: Session, test: str) -> None:
    needs = told(session, f"SELECT ret FROM {READ} WHERE {test}").needs
    expected = CONDITIONS[test]
    assert needs == ([] if expected is None else [expected])


PID, DUR = _is("pid", "=", 4), _is("dur", ">", 1000)

WAYS: Mapping[str, list[p.Predicate]] = {
    "SELECT * FROM (SELECT pid AS x, dur AS y FROM {r}) WHERE x = 4 AND y > 1us": [p.And((PID, DUR))],
    "SELECT * FROM (SELECT pid + 1 AS x FROM {r}) WHERE x = 4": [],
    "SELECT * FROM (SELECT DISTINCT pid FROM {r}) WHERE pid = 4": [PID],
    "SELECT * FROM (SELECT * FROM {r} LIMIT 5) WHERE pid = 4": [],
    "SELECT * FROM (SELECT * FROM {r} WHERE dur > 1us LIMIT 5) WHERE pid = 4": [DUR],
    "SELECT pid, COUNT(*) FROM {r} GROUP BY pid HAVING pid = 4": [PID],
    "SELECT pid, SUM(dur) AS dur FROM {r} GROUP BY pid HAVING SUM(dur) > 1us": [],
    "SELECT * FROM (SELECT pid, SUM(dur) AS dur FROM {r} GROUP BY pid) WHERE pid = 4 AND dur > 1us": [PID],
    "SELECT * FROM (SELECT pid, lag(pid) OVER (ORDER BY _ts) AS b FROM {r}) WHERE pid = 4": [],
    "WITH q AS (SELECT pid, dur FROM {r} WHERE dur > 1us) SELECT * FROM q WHERE pid = 4": [p.And((PID, DUR))],
    "SELECT a.dur FROM {r} AS a JOIN {w} AS b ON a.tid = b.tid WHERE a.pid = 4": [PID],
    "SELECT a.dur FROM {r} AS a LEFT JOIN {w} AS b ON a.tid = b.tid AND b.dur > 1us WHERE a.pid = 4": [PID, DUR],
    "SELECT a.dur FROM {r} AS a LEFT JOIN {w} AS b ON a.tid = b.tid AND a.pid = 4": [],
    "SELECT a.dur FROM {r} AS a LEFT JOIN {w} AS b ON a.tid = b.tid WHERE b.pid = 4": [],
    "SELECT a.dur FROM {r} AS a FULL JOIN {w} AS b ON a.tid = b.tid WHERE a.pid = 4": [],
    "SELECT dur FROM {r} WHERE tid IN (SELECT tid FROM {w} WHERE pid = 4)": [PID],
    "SELECT pid FROM {r} WHERE pid = 4 UNION ALL SELECT pid FROM {w} WHERE dur > 1us": [PID, DUR],
    "SELECT * FROM (SELECT pid FROM {r} UNION SELECT pid FROM {w}) WHERE pid = 4": [PID, PID],
    "SELECT * FROM (SELECT pid FROM {r} UNION ALL SELECT tid AS pid FROM {w}) WHERE pid = 4": [PID, _is("tid", "=", 4)],
    # Read twice: one need or the other.
    "SELECT a.dur FROM {r} AS a JOIN {r} AS b ON a.tid = b.tid WHERE a.pid = 4 AND b.dur > 1us": [p.Or((PID, DUR))],
    "SELECT a.dur FROM {r} AS a JOIN {r} AS b ON a.tid = b.tid WHERE a.pid = 4": [],
    "SELECT pid FROM {r} WHERE pid = 4 UNION ALL SELECT pid FROM {r}": [],
    "SELECT (SELECT COUNT(*) FROM {r}) AS k FROM {r} WHERE pid = 4": [],
    "WITH q AS (SELECT * FROM {r}) SELECT a.pid FROM q AS a JOIN q AS b ON a.tid = b.tid WHERE a.pid = 4": [],
    # What checks its rows is passed by no condition.
    "SELECT * FROM dctv.as_events((SELECT _ts, pid FROM {r} WHERE dur > 1us)) WHERE pid = 4": [DUR],
    # Through span operators, by what these say of their inputs.
    "SELECT * FROM dctv.time_series_to_spans(sources=>[{{source=>{r}, partition=>'pid'}}], columns=>['tid'], "
    "partition=>'pid') WHERE pid = 4": [PID],
    "SELECT * FROM (SELECT EVENT a.tid AS x, b.tid AS y FROM (SELECT EVENT pid, tid FROM {r}) AS a SPAN JOIN "
    "dctv.time_series_to_spans(sources=>[{{source=>{w}, partition=>'pid'}}], columns=>['tid'], partition=>'pid') AS b) "
    "WHERE x = 4 AND _ts < 1us": [p.And((_is("tid", "=", 4), _is("_ts", "<", 1000)))],
}


@pytest.mark.parametrize("way", WAYS)
def test_ways(session: Session, way: str) -> None:
    needs = told(session, way.format(r=READ, w="t.raw_events.write")).needs
    assert sorted(map(repr, needs)) == sorted(map(repr, WAYS[way]))


def test_a_name_chooses_the_tables_of_a_union(session: Session) -> None:
    def scanned(sql: str) -> list[str]:
        rows = [line for (line,) in session.sql(f"EXPLAIN {sql}").fetchall()]
        return [line.split()[1].removesuffix(":") for line in rows if line.strip().startswith("scan ")]

    every = scanned("SELECT n FROM v")
    assert scanned("SELECT p FROM v WHERE n = 'unlink'") == ["t.raw_events.unlink"]
    assert scanned("SELECT n FROM v WHERE n IN ('read', 'nobody')") == [READ]
    assert scanned("SELECT n FROM v WHERE n LIKE 're%' AND n != 'read'") == ["t.raw_events.read_file"]
    assert sorted(scanned("SELECT p FROM v WHERE NOT (n = 'read')")) == sorted(set(every) - {READ})
    assert len(scanned("SELECT p FROM v WHERE n = 'nobody'")) == 1
    assert len(scanned("SELECT p FROM v WHERE n = 'read' OR p = 4")) == len(every)
    assert told(session, "SELECT p FROM v WHERE n = 'nobody'").needs == [p.Or(())]
    assert told(session, "SELECT n FROM v WHERE n = 'read' AND d > 1us AND p = 4").needs == [p.And((DUR, PID))]
    assert session.sql("SELECT p FROM v WHERE n = 'nobody'").fetchall() == []


def test_only_columns_that_are_read_are_requested(session: Session) -> None:
    assert told(session, f"SELECT pid FROM {READ} WHERE dur > 1us").columns == [frozenset({"_ts", "pid", "dur"})]
    assert told(session, f"SELECT * FROM {READ}").columns == []


def test_no_predicates_are_pushed_without_rules(session: Session) -> None:
    session.sql("SET rewrite = 'off'")
    noted = told(session, f"SELECT pid FROM {READ} WHERE pid = 4")
    session.sql("SET rewrite = 'on'")
    assert not noted.needs
    assert not noted.columns
