"""Members of `args` are read from columns: the same rows, without making JSON and parsing it again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.sqltest import ROOT

VALUES = [
    *("plain", "", ' a"b\\c\n\t\0\x7f \N{GRINNING FACE} é', "12", "null", "{}", "[1]"),
    *(0, -1, 2**53 + 1, -(2**63), 2**63 - 1, 2**64 - 1, 2**70, 0.5, -0.0, 1e300, 1e-7, 3.0, True, False, None),
    *({"a": 1, "b": None}, {}, [1, "x", None], []),
]
KEYS = ["fname", "Fname", "ret", "size", "hostname", "name", "args", "cat", "x y"]
READ = (
    "SELECT args->>'fname' FROM t.events",
    "SELECT args->>'$.ret', _ts FROM t.events WHERE args->>'fname' IS NOT NULL",
    "SELECT JSON_EXTRACT_STRING(args, 'fname') AS f, COUNT(*) AS n FROM t.events GROUP BY f ORDER BY n DESC, f",
    "SELECT name, (args->>'ret')::INT64 + 1 FROM t.events WHERE (args->>'size') = '4096' OR args->>'ret' > '3'",
    "SELECT a.args->>'fname', b.args->>'ret' FROM t.events a LEFT JOIN t.events b ON b.args->>'fd' = a.args->>'ret'",
    "SELECT x.args->>'fname' FROM (SELECT args, pid FROM t.events WHERE tid > 0) AS x ORDER BY 1",
    "SELECT args->>'fname' FROM (SELECT args FROM t.events UNION ALL SELECT args FROM t.events WHERE pid = 1) AS x",
    "WITH x AS (SELECT * FROM t.events) SELECT COUNT(DISTINCT a.args->>'fname') FROM x a, x b WHERE a.pid = b.tid",
    "SELECT COUNT(*) FROM t.events AS e WHERE EXISTS (SELECT 1 FROM t.events AS f WHERE f.args->>'ret' = e.name)",
    "SELECT MAX(args->>'ret') OVER (PARTITION BY args->>'fname' ORDER BY _ts) FROM t.events",
    "SELECT DISTINCT ON (args->>'hostname') args->>'hostname', name FROM t.events ORDER BY 1, _ts, name",
    "SELECT args->>'none', COUNT(*) FROM t.events GROUP BY 1",
    "SELECT COUNT(*), SUM(bytes) FROM t.io.calls",
    "SELECT name, COUNT(*), SUM(_duration) FROM t.slices GROUP BY name ORDER BY name",
    "SELECT * FROM t.threads",
)
MADE = (
    "SELECT args->>'fname', args FROM t.events",
    "SELECT args->>'$.a.b' FROM t.events",
    "SELECT args->'fname' FROM t.events",
    "SELECT args->>'fname' FROM (SELECT DISTINCT args FROM t.events)",
    "SELECT MAX(args)->>'fname' FROM t.events",
    "SELECT args->>name FROM t.events",
    "SELECT e.args->>'x y', e.args->>'$.\"fname\"' FROM t.events AS e",
    "SELECT args->>'fname' AS args FROM t.slices WHERE args->>'fname' > ''",
)


@pytest.fixture(params=["in memory", "store", "moved"])
def session(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Session]:
    with Session(index=request.param != "in memory", index_dir=tmp_path) as made:
        moved = {"align": 1_000_000_007} if request.param == "moved" else {}
        made.mount(ROOT / "tests" / "data" / "stdlib" / "calls.pfw", "t", **moved)
        yield made


def makes_objects(session: Session, query: str) -> bool:
    return any("json_object" in line.lower() for (line,) in session.sql(f"EXPLAIN (SQL) {query}").fetchall())


def same_rows(session: Session, query: str) -> None:
    found = session.sql(query).fetchall()
    session.sql("SET rewrite = 'off'")
    expected = session.sql(query).fetchall()
    session.sql("SET rewrite = 'on'")
    assert found == expected


@pytest.mark.parametrize("query", READ)
def test_members_are_read_from_columns(session: Session, query: str) -> None:
    assert not makes_objects(session, query)
    same_rows(session, query)


@pytest.mark.parametrize("query", MADE)
def test_objects_that_are_read_are_made(session: Session, query: str) -> None:
    assert makes_objects(session, query)
    same_rows(session, query)


def test_tables_without_the_member_are_not_read(session: Session) -> None:
    plan = "\n".join(line for (line,) in session.sql(f"EXPLAIN {READ[1]}").fetchall())
    assert "raw_events.read" in plan
    assert "raw_events.train" not in plan


@pytest.mark.parametrize("kind", ["dftracer", "chrome-json"])
@pytest.mark.parametrize("way", ["in memory", "store"])
def test_all_values_are_the_same(kind: str, way: str, tmp_path: Path) -> None:
    members = st.dictionaries(st.sampled_from(KEYS), st.sampled_from(VALUES), max_size=5)
    number = iter(range(10**6))

    @bounded(60)
    @given(st.lists(st.tuples(st.sampled_from("ab"), members), min_size=1, max_size=4), st.data())
    def same(events: list[tuple[str, dict[str, object]]], data: st.DataObject) -> None:
        path = tmp_path / f"{next(number)}.{'pfw' if kind == 'dftracer' else 'json'}"
        records = [
            {"id": n, "name": name, "cat": "c", "pid": 1, "tid": 2, "ts": n, "dur": 1, "ph": "X", "args": args}
            for n, (name, args) in enumerate(events)
        ]
        path.write_text("[\n" + "\n".join(map(json.dumps, records)) if kind == "dftracer" else json.dumps(records))
        key = data.draw(st.sampled_from(KEYS[:-1]))
        other = data.draw(st.sampled_from(KEYS[:-1]))
        with Session(index=way == "store", index_dir=tmp_path / "index") as session:
            session.mount(path, "t", format=kind)
            for arrow in ("->", "->>"):
                same_rows(session, f"SELECT _ts, args{arrow}'{key}', args{arrow}'{other}' FROM t.events")
                same_rows(session, f"SELECT name, args{arrow}'{key}' AS v, COUNT(*) FROM t.events GROUP BY ALL")

    same()
