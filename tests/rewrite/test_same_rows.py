"""Rules change no result: random queries with rules on and off; `tests/sqltest.py` asks those of the `.test` files."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import DctvError
from dctv.run.result import Asserted, Result
from dctv.session import Session
from tests.bounds import bounded
from tests.semantics.oracle import END
from tests.semantics.plans import PAYLOADS, POSSIBLE, Query, queries, shaped, values


def _set(session: Session, choice: str) -> None:
    for _ in session.execute(f"SET rewrite = '{choice}'"):
        pass


def outcome(session: Session, sql: str) -> list[object]:
    """Run statements: the rows and warnings of each, up to the first error."""
    found: list[object] = []
    try:
        for outcome in session.execute(sql):
            match outcome:
                case Result():
                    found.append((outcome.schema.describe(), outcome.schema.names))
                    found.append([repr(row) for row in outcome.fetchall()])
                    found.append(outcome.warnings)
                case Asserted():
                    found.append((outcome.passed, outcome.message))
    except DctvError as error:
        found.append(str(error))
    return found


@pytest.fixture(scope="module", params=["kernel", pytest.param("relational", marks=pytest.mark.ci)])
def session(request: pytest.FixtureRequest) -> Iterator[Session]:
    with Session(threads=1) as made:
        made.sql(f"SET span_engine = '{request.param}'")
        yield made


_settings = bounded(20)


_HOW = st.sampled_from(["<", "<=", ">", ">=", "="])


@st.composite
def _conditions(draw: st.DrawFn, partitions: tuple[str, ...]) -> str:
    """Draw a conjunct over times, partitions or payload."""
    number, how = draw(st.integers(-1, 30)), draw(st.sampled_from(["<", "<=", ">", ">=", "=", "!="]))
    forms = [
        f"_ts {how} {number}ns",
        f"{number}ns {how} _ts",
        f"_ts + _duration {how} {number}ns",
        f"_ts BETWEEN {number}ns AND {number + 7}ns",
        f"_ts {how} {number}ns OR v IS NULL",
        f"v {how} {number % 6}",
        "v IS NOT NULL",
        f"v IN ({number % 5}, {number % 3})",
        f"NOT (v {how} 1)",
        f"v + 1 {how} {number % 5}",
    ]
    if "p" in partitions:
        forms += [f"p {how} {number % 2}", "p IS NULL", "p <=> NULL", f"p = {number % 2} OR p IS NULL", f"p = v % {2}"]
    if "q" in partitions:
        forms += ["q = 'x'", "q LIKE 'x%'", "q <!=> ''", f"q = '' OR v {how} 1"]
    return draw(st.sampled_from(forms))


@st.composite
def selections(draw: st.DrawFn, query: Query, partitions: tuple[str, ...]) -> str:
    """Draw a select over a query: some of its columns or aggregates of them, and conditions."""
    tests = draw(st.lists(_conditions(partitions), max_size=3))
    where = " AND ".join(f"({t})" for t in tests) or "true"
    keys = "".join(f"{p}, " for p in partitions)
    form = draw(
        st.sampled_from(
            [
                "SELECT COUNT(*) AS n FROM ({q}) WHERE {w}",
                "SELECT COUNT(*) AS n, SUM(_duration) AS d, MAX(v) AS m FROM ({q}) WHERE {w}",
                "SELECT _ts FROM ({q}) WHERE {w}",
                "SELECT {k}v FROM ({q}) WHERE {w}",
                "SELECT * FROM (SELECT SPAN v + 1 AS x, v FROM ({q})) WHERE {w}",
                "SELECT SPAN 1 AS one FROM ({q}) WHERE {w}",
                "SELECT SPAN v FROM ({q}) HAVING {w}",
                "SELECT SPAN v AS x FROM (SELECT SPAN v, _duration AS d FROM ({q}) WHERE {w}) HAVING {w2}",
                "SELECT _ts, COUNT(*) AS n FROM ({q}) GROUP BY _ts HAVING _ts > 3ns",
                "SELECT v, COUNT(*) AS n FROM (SELECT * FROM ({q}) ORDER BY _ts) WHERE {w} GROUP BY v",
                "SELECT * FROM ({q}) WHERE {w} LIMIT 3",
                "SELECT * FROM (SELECT * FROM ({q}) LIMIT 3) WHERE {w}",
                "SELECT a.v AS x, b.v AS y FROM ({q}) AS a LEFT JOIN ({q}) AS b ON a._ts = b._ts WHERE b._ts > 5ns",
                "SELECT v, lag(v) OVER (ORDER BY _ts) AS before FROM ({q}) WHERE {w}",
            ]
        )
    )
    second = f"x {draw(st.sampled_from(['<', '>']))} 2" if "AS x FROM (SELECT SPAN v" in form else "true"
    return form.format(q=query.sql, w=where, k=keys, w2=second)


def _same(session: Session, sql: str) -> None:
    found = []
    for choice in ("on", "off"):
        _set(session, choice)
        found.append(outcome(session, sql))
    assert found[0] == found[1]
    assert not isinstance(found[0][-1], str), found[0][-1]


@pytest.mark.parametrize("depth", [1, 2])
@_settings
@given(data=st.data())
def test_random_selections(session: Session, depth: int, data: st.DataObject) -> None:
    partitions = data.draw(st.sampled_from([(), ("p",), ("q",), ("p", "q")]))
    query = data.draw(queries(partitions, depth))
    _same(session, data.draw(selections(query, partitions)))


_RANGES = ["_ts {} {}ns", "_ts + _duration {} {}ns"]


@pytest.mark.parametrize("shape", sorted(POSSIBLE))
@_settings
@given(data=st.data())
def test_time_ranges(session: Session, shape: str, data: st.DataObject) -> None:
    query = data.draw(shaped(shape, data.draw(st.sampled_from(POSSIBLE[shape])), 0))
    whole = [span for spans in query.table.spans.values() for span in spans]
    edges = sorted({time for start, stop, _ in whole for time in (start, stop)}) or [END]
    bound = st.tuples(st.sampled_from(_RANGES), _HOW, st.sampled_from(edges))
    bounds = data.draw(st.lists(bound, min_size=1, max_size=2))
    tests = " AND ".join(form.format(how, number) for form, how, number in bounds)
    _same(session, f"SELECT * FROM ({query.sql}) WHERE {tests} ORDER BY 1, 2, 3")


@_settings
@given(data=st.data())
def test_events(session: Session, data: st.DataObject) -> None:
    partitions = data.draw(st.sampled_from([(), ("p",)]))
    spans = data.draw(queries(partitions, 0))
    rows = data.draw(st.lists(st.tuples(st.integers(0, END), st.sampled_from([0, 1, None]), PAYLOADS), max_size=6))
    events = f"dctv.as_events({values(['_ts', 'p', 'e'], list(rows), ['BIGINT', 'INT', 'BIGINT'])})"
    kind = data.draw(st.sampled_from(["", "LEFT"]))
    join = f"SELECT EVENT e, s.v AS v FROM ({{}}) AS a SPAN {kind} JOIN ({spans.sql}) AS s"
    join = join.format(f"SELECT EVENT {'p, ' if partitions else ''}e FROM {events}")
    forms = [
        "_ts < {}ns",
        "_ts >= {}ns",
        "e > {}",
        "v < {}",
        "v IS NULL",
        "v > {} OR e > {}",
        *(["p = {}"] * len(partitions)),
    ]
    tests = data.draw(st.lists(st.tuples(st.sampled_from(forms), st.integers(0, 5)), min_size=1, max_size=2))
    where = " AND ".join(f"({form.format(number, number)})" for form, number in tests)
    _same(session, f"SELECT COUNT(*) AS n, MIN(_ts) AS t, SUM(e) AS e FROM ({join}) WHERE {where}")
    _same(session, f"SELECT * FROM ({join}) WHERE {where}")


@_settings
@given(data=st.data())
def test_series(session: Session, data: st.DataObject) -> None:
    rows = data.draw(st.lists(st.tuples(st.integers(0, END), st.sampled_from([0, 1, None]), PAYLOADS), max_size=8))
    table = f"dctv.as_events({values(['_ts', 'p', 'e'], list(rows), ['BIGINT', 'INT', 'BIGINT'])})"
    sources = f"{{source=>{table}, partition=>'p', nickname=>'a'}}, {{source=>{table}, partition=>'p', role=>'stop'}}"
    columns = (
        "{column=>'x', source=>'a', source_column=>'e'}, {column=>'y', source=>1, source_column=>'e', edge=>'falling'}"
    )
    made = f"dctv.time_series_to_spans(sources=>[{sources}], columns=>[{columns}], partition=>'p')"
    test = data.draw(st.sampled_from(["p = 0", "p IS NULL", "x > 1", "_ts >= 5ns", "y IS NULL AND p >= 0"]))
    some = data.draw(st.sampled_from(["x", "y", "_ts", "p, y", "COUNT(*)"]))
    _same(session, f"SELECT {some} FROM {made} WHERE {test}")


_LEFT = "(0, 20, 1, 1), (20, 4, 1, 2), (26, 3, 1, NULL), (5, 9, 2, 4)"
_RIGHT = "(2, 8, 1, 1), (12, 3, 1, 3), (24, 3, 1, 5), (9, 9, 2, 2), (1, 2, 3, 7)"
_OPERATORS = [
    *(f"SELECT SPAN l.v AS v, r.v AS w FROM l SPAN {kind} JOIN r" for kind in ("INNER", "LEFT", "RIGHT", "OUTER")),
    "SELECT SPAN COUNT(*) AS v, SUM(v) AS w FROM l GROUP USING PARTITION",
    "SELECT SPAN COUNT(*) AS v, median(v) AS w FROM l GROUP AND INTERSECT USING PARTITION",
    "SELECT SPAN COUNT(*) AS v, SUM(v) AS w FROM l GROUP USING SPANS FROM g",
    "SELECT SPAN COUNT(*) AS v, median(v) AS w FROM l GROUP AND INTERSECT USING SPANS FROM g",
    "SELECT SPAN COUNT(*) AS v, MAX(v) AS w FROM flat GROUP USING SPANS FROM g",
]


# Rules come before span operators become queries, so what these make of each edge is left to CI.
@pytest.mark.parametrize("session", ["kernel", pytest.param("relational", marks=pytest.mark.ci)], indirect=True)
@pytest.mark.parametrize("operator", _OPERATORS)
def test_every_edge(session: Session, operator: str) -> None:
    """Spans that end and begin at a bound, or cut others there: every bound of a small table."""
    for name, rows in (("l", _LEFT), ("r", _RIGHT)):
        table = f"(SELECT * FROM (VALUES {rows}) AS t(_ts, _duration, p, v))"
        session.sql(f"CREATE OR REPLACE VIEW {name} AS SELECT SPAN * FROM dctv.as_spans({table}, partition=>'p')")
    session.sql("CREATE OR REPLACE VIEW flat AS SELECT SPAN MAX(v) AS v FROM l GROUP USING PARTITION")
    grouper = "(SELECT * FROM (VALUES (0, 10), (10, 5), (18, 2), (40, 1)) AS t(_ts, _duration))"
    session.sql(f"CREATE OR REPLACE VIEW g AS SELECT SPAN * FROM dctv.as_spans({grouper})")
    forms = [form.format(how, time) for form in _RANGES for how in ("<", "<=", ">", ">=") for time in (10, 24)]
    partitions = [] if "USING PARTITION" in operator or "flat" in operator else ["p = 1", "p != 1", "p IS NULL"]
    # What a condition keeps of rows that are there is a rewrite of nothing, so without rules they are made once.
    _set(session, "off")
    whole = session.sql(f"SELECT * FROM ({operator})").arrow()
    assert whole.num_rows
    kept = f"whole{_OPERATORS.index(operator)}"
    session.add_table(kept, whole)
    for test in [*forms, *partitions, "v > 1", "w IS NULL", "w > 1", "v IS NULL"]:
        # Groups come in no promised order when the engine makes them.
        _set(session, "on")
        found = outcome(session, f"SELECT * FROM ({operator}) WHERE {test} ORDER BY 1, 2, 3")
        assert found == outcome(session, f"SELECT * FROM {kept} WHERE {test} ORDER BY 1, 2, 3")
        assert not isinstance(found[-1], str), found[-1]


_SPANS = "dctv.as_spans({t}{by}, on_overlap=>'truncate')"
_EVENTS = "dctv.as_events((SELECT _ts, p, v FROM {t}){by})"
_LABELS = "dctv.as_events((SELECT _ts + 2 AS _ts, {k}v AS x FROM {t}){by})"
_MADE = {
    _SPANS: "v",
    "dctv.from_overlapping({t}{by})": "v",
    "dctv.flatten({t}{by})": "v",
    "dctv.concurrency({t}{by}, idle=>TRUE)": "open",
    "dctv.concurrency({t}{by}, merge=>TRUE)": "open",
    "dctv.concurrency_events({t}{by}, merge=>TRUE)": "open",
    f"dctv.fill_gaps({_SPANS}, 2ns, 11ns)": "v",
    f"dctv.fill_gaps({_SPANS})": "v",
    f"dctv.complement({_SPANS}, 2ns, 11ns)": "1",
    f"dctv.merge_adjacent({_SPANS})": "v",
    f"dctv.zoom({_SPANS}, step=>5ns)": "count",
    f"dctv.zoom_counter({_SPANS}, column=>'v', step=>5ns, to=>15ns)": "last",
    f"dctv.range_aggregate({_SPANS}, 'v', 'sum', {_SPANS})": "sum",
    f"dctv.range_aggregate({_SPANS}, 'v', 'last', {{t}}{{by}})": "last",
    f"dctv.range_aggregate({_EVENTS}, 'v', 'count', {_SPANS})": "count",
    f"dctv.session({_EVENTS}, 2ns)": "events",
    f"dctv.label_events({_EVENTS}, {_LABELS})": "x",
}
"""Functions over intervals `t`, each with a column that it makes or hands on."""


@pytest.mark.parametrize("form", sorted(_MADE))
@bounded(15)
@given(data=st.data())
def test_functions_of_intervals(session: Session, form: str, data: st.DataObject) -> None:
    one = st.tuples(st.integers(0, 12), st.integers(1, 8), st.sampled_from([0, 1, None]), st.sampled_from([1, 2, None]))
    rows = data.draw(st.lists(one, max_size=7))
    table = f"({values(['_ts', '_duration', 'p', 'v'], list(rows), ['BIGINT', 'BIGINT', 'INT', 'BIGINT'])})"
    partitioned = data.draw(st.booleans())
    by = {"by": ", partition=>'p'", "k": "p, "} if partitioned else {"by": "", "k": ""}
    made, column = form.format(t=table, **by), _MADE[form]
    ended = [] if "events" in form and "session" not in form else ["_ts + _duration {} {}ns"]
    tests = ["_ts {} {}ns", *ended, f"{column} {{}} {{}} % 3", *(["p {} {} % 2"] if partitioned else [])]
    bound = st.tuples(st.sampled_from(tests), _HOW, st.integers(0, 20))
    where = " AND ".join(test.format(how, number) for test, how, number in data.draw(st.lists(bound, max_size=2)))
    some = data.draw(st.sampled_from(["*", "_ts", column, "COUNT(*) AS n", f"_ts, {column}"]))
    _same(session, f"SELECT {some} FROM {made} WHERE {where or 'true'}")


@_settings
@given(data=st.data())
def test_slices_of_stacks(session: Session, data: st.DataObject) -> None:
    one = st.tuples(st.integers(0, 12), st.sampled_from([0, 1, None]), PAYLOADS)
    starts, stops = (
        f"({values(['_ts', 'p', 'name'], data.draw(st.lists(one, max_size=6)), ['BIGINT'] * 3)})" for _ in range(2)
    )
    rank = data.draw(st.sampled_from(["", ', order=>"name"']))
    made = f"dctv.slices_from_stack(starts=>{starts}, stops=>{stops}, partition=>'p'{rank})"
    some = data.draw(st.sampled_from(["*", "id, parent_id", "SUM(self_time) AS s", "depth, name"]))
    test = data.draw(st.sampled_from(["true", "p = 0", "depth = 0", "name IS NULL", "_ts > 5ns"]))
    _same(session, f"SELECT {some} FROM {made} WHERE {test}")
