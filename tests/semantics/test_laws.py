"""Laws of the span algebra: two queries that must give the same rows, at any times that there are."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.semantics.clocks import LAST, clocks, rows_at
from tests.semantics.oracle import END, in_order
from tests.semantics.plans import POSSIBLE, leaves, literal, moved, outcome, shaped

_settings = bounded(6)
KEYS: list[tuple[str, ...]] = [(), ("p",), ("p", "q")]
KINDS = st.sampled_from(["INNER", "OUTER", "LEFT", "RIGHT"])
MIRRORED = {"INNER": "INNER", "OUTER": "OUTER", "LEFT": "RIGHT", "RIGHT": "LEFT"}
SUMMABLE = LAST // 8
"""How long a clock runs that the durations of all spans of a table can be added up."""


class Draw:
    """Tables of one example, all by one clock."""

    def __init__(self, data: st.DataObject, partitions: tuple[str, ...] = (), longest: int = LAST) -> None:
        self.data = data
        self.partitions = partitions
        self.clock = data.draw(clocks(longest))

    def table(self, partitions: tuple[str, ...] | None = None) -> str:
        """Draw a table and return it as a subquery."""
        drawn = self.data.draw(leaves(self.partitions if partitions is None else partitions))
        return f"({moved(drawn.sql, self.clock)})"

    def whole(self) -> str:
        """Return one span over the whole time."""
        start, stop = self.clock[0], self.clock[END]
        one = f"SELECT CAST({start} AS BIGINT) AS _ts, {stop - start} AS _duration"
        return f"(SELECT SPAN 'w' AS w FROM dctv.as_spans(({one})))"


def rows(session: Session, sql: str) -> list[tuple[object, ...]]:
    return in_order(session.sql(sql).fetchall())


def total(session: Session, sql: str) -> int:
    """Return how long the spans of a query are together."""
    ((found,),) = session.sql(f"SELECT COALESCE(SUM(unitless(_duration)), 0) FROM ({sql})").fetchall()
    return int(found)


@pytest.mark.parametrize("shape", sorted(POSSIBLE))
@_settings
@given(data=st.data())
def test_operators_at_any_time(one: Session, shape: str, data: st.DataObject) -> None:
    query = data.draw(shaped(shape, data.draw(st.sampled_from(POSSIBLE[shape])), 0))
    assume(
        "SUM(_duration)" not in query.sql and "MIN(_ts)" not in query.sql
    )  # the oracle's own SUM(_duration) and MIN(_ts) are of small times
    clock = data.draw(clocks())
    found = one.sql(moved(query.sql, clock)).fetchall()
    assert in_order(found) == rows_at(query.table, clock)
    times = [row[:1] for row in found]
    assert times == sorted(times)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS), kind=KINDS)
def test_joins_commute(one: Session, data: st.DataObject, partitions: tuple[str, ...], kind: str) -> None:
    draw = Draw(data, partitions)
    a, b = draw.table(), draw.table()
    left = f"SELECT SPAN a.v AS x, b.v AS y FROM {a} AS a SPAN {kind} JOIN {b} AS b"
    right = f"SELECT SPAN a.v AS x, b.v AS y FROM {b} AS b SPAN {MIRRORED[kind]} JOIN {a} AS a"
    assert rows(one, left) == rows(one, right)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS), kind=st.sampled_from(["INNER", "OUTER"]))
def test_joins_associate(one: Session, data: st.DataObject, partitions: tuple[str, ...], kind: str) -> None:
    draw = Draw(data, partitions)
    a, b, c = draw.table(), draw.table(), draw.table()
    join = f"SPAN {kind} JOIN"
    chain = f"SELECT SPAN a.v AS x, b.v AS y, c.v AS z FROM {a} AS a {join} {b} AS b {join} {c} AS c"
    right = f"""SELECT SPAN a.v AS x, y, z FROM {a} AS a {join}
        (SELECT SPAN b.v AS y, c.v AS z FROM {b} AS b {join} {c} AS c)"""
    assert rows(one, chain) == rows(one, right)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS), kind=KINDS)
def test_joining_with_the_whole_time_changes_nothing(
    one: Session, data: st.DataObject, partitions: tuple[str, ...], kind: str
) -> None:
    draw = Draw(data, partitions)
    a, whole = draw.table(), draw.whole()
    how = f"{'OUTER' if kind == 'OUTER' else 'INNER'} BROADCAST FROM" if partitions else "JOIN"
    assert rows(one, f"SELECT SPAN v FROM {a} SPAN {how} {whole}") == rows(one, f"SELECT SPAN v FROM {a}")


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_outer_where_both_are_is_inner(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    draw = Draw(data, partitions)
    a, b = (f"(SELECT SPAN v, 1 AS here FROM {draw.table()})" for _ in range(2))
    columns = "SELECT SPAN a.v AS x, b.v AS y"
    inner = rows(one, f"{columns} FROM {a} AS a SPAN JOIN {b} AS b")
    for kind, having in [("OUTER", "a.here = 1 AND b.here = 1"), ("LEFT", "b.here = 1"), ("RIGHT", "a.here = 1")]:
        assert rows(one, f"{columns} FROM {a} AS a SPAN {kind} JOIN {b} AS b HAVING {having}") == inner


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_times_of_joins_add_up(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    draw = Draw(data, partitions, SUMMABLE)
    a, b = (f"(SELECT SPAN v, 1 AS here FROM {draw.table()})" for _ in range(2))
    joined = {kind: f"SELECT SPAN FROM {a} AS a SPAN {kind} JOIN {b} AS b" for kind in MIRRORED}
    inner, of_a, of_b = (
        total(one, joined["INNER"]),
        total(one, f"SELECT SPAN FROM {a}"),
        total(one, f"SELECT SPAN FROM {b}"),
    )
    assert total(one, joined["LEFT"]) == of_a == inner + total(one, f"{joined['LEFT']} HAVING b.here IS NULL")
    assert total(one, joined["RIGHT"]) == of_b == inner + total(one, f"{joined['RIGHT']} HAVING a.here IS NULL")
    assert total(one, joined["OUTER"]) == of_a + of_b - inner


@_settings
@given(data=st.data(), kind=st.sampled_from(["INNER", "OUTER"]), into=st.booleans())
def test_a_broadcast_is_a_join_per_partition(one: Session, data: st.DataObject, *, kind: str, into: bool) -> None:
    draw = Draw(data, ("p",))
    a, b = draw.table(), draw.table(())
    many, single = ("a", "b")
    source = (
        f"{b} AS b SPAN {kind} BROADCAST INTO {a} AS a" if into else f"{a} AS a SPAN {kind} BROADCAST FROM {b} AS b"
    )
    whole = rows(one, f"SELECT SPAN a.v AS x, b.v AS y FROM {source}")
    parts: list[tuple[object, ...]] = []
    for (key,) in one.sql(f"SELECT DISTINCT p FROM {a}").fetchall():
        part = f"dctv.as_spans((SELECT _ts, _duration, v FROM {a} WHERE p IS {literal(key)}))"
        join = "JOIN" if kind == "INNER" else "LEFT JOIN"
        found = one.sql(f"SELECT SPAN {many}.v AS x, {single}.v AS y FROM {part} AS a SPAN {join} {b} AS b").fetchall()
        parts += [(*row[:2], key, *row[2:]) for row in found]
    assert whole == in_order(parts)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS[1:]))
def test_departition_keeps_sums(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    draw = Draw(data, partitions, SUMMABLE)
    a = draw.table()
    lengths = total(one, f"SELECT SPAN FROM {a}")
    gone = f"GROUP USING PARTITION ({data.draw(st.sampled_from(partitions))})"
    for group in (gone, "GROUP USING PARTITION"):
        grouped = f"""SELECT SPAN SUM(unitless(_duration)) AS d, COUNT(*) AS n, SUM(v) AS s, COUNT(v) AS c
            FROM {a} {group}"""
        sums = f"SELECT SUM(d), SUM(n * unitless(_duration)), SUM(s % 97) IS NULL FROM ({grouped})"
        empty = lengths == 0
        nothing = one.sql(f"SELECT COUNT(v) = 0 FROM {a}").fetchall()[0][0]
        assert one.sql(sums).fetchall() == [(None, None, True) if empty else (lengths, lengths, nothing)]


@_settings
@given(data=st.data())
def test_departitions_in_turn(one: Session, data: st.DataObject) -> None:
    a = Draw(data, ("p", "q")).table()
    once = f"SELECT SPAN SUM(v) AS s, COUNT(*) AS n, MAX(v) AS m FROM {a} GROUP USING PARTITION"
    for first in ("p", "q"):
        inner = f"SELECT SPAN SUM(v) AS s, COUNT(*) AS n, MAX(v) AS m FROM {a} GROUP USING PARTITION ({first})"
        twice = f"SELECT SPAN SUM(s) AS s, SUM(n) AS n, MAX(m) AS m FROM ({inner}) GROUP USING PARTITION"
        assert rows(one, twice) == rows(one, once)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS[1:]))
def test_intersect_is_where_all_are(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    a = Draw(data, partitions).table()
    ((count,),) = one.sql(f"SELECT COUNT(*) FROM (SELECT DISTINCT {', '.join(partitions)} FROM {a})").fetchall()
    columns = f"SELECT SPAN SUM(v) AS s, MIN(v) AS m FROM {a} GROUP"
    union = f"{columns} AND UNION USING PARTITION HAVING COUNT(*) = {count}"
    assert rows(one, f"{columns} AND INTERSECT USING PARTITION") == rows(one, union)


AGGREGATES = """COUNT(*) AS n, COUNT(v) AS c, SUM(v) AS s, MIN(v) AS l, MAX(v) AS h, SUM(unitless(_duration)) AS d,
    unitless(MIN(_ts)) AS t, COUNT(DISTINCT v) AS k"""


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_a_group_of_the_whole_time_is_an_aggregate(
    one: Session, data: st.DataObject, partitions: tuple[str, ...]
) -> None:
    draw = Draw(data, partitions, SUMMABLE)
    a, whole = draw.table(), draw.whole()
    keys = "".join(f"{p}, " for p in partitions)
    by = f" GROUP BY {', '.join(partitions)}" if partitions else ""
    plain = f"SELECT {keys}{AGGREGATES} FROM {a}{by}"
    grouped = one.sql(f"SELECT SPAN {AGGREGATES} FROM {a} GROUP USING SPANS FROM {whole}").fetchall()
    assert {row[:2] for row in grouped} <= {(draw.clock[0], draw.clock[END] - draw.clock[0])}
    assert in_order(row[2:] for row in grouped) == rows(one, plain)


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_a_group_adds_up_to_the_join(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    draw = Draw(data, partitions, SUMMABLE)
    a, g = draw.table(), draw.table(())
    joined = f"SELECT SPAN a.v AS v FROM {a} AS a SPAN {'BROADCAST FROM' if partitions else 'JOIN'} {g} AS g"
    columns = "COUNT(*) AS n, COUNT(v) AS c, SUM(_duration) AS d, SUM(v) AS s"
    grouped = f"SELECT SPAN {columns} FROM {a} GROUP USING SPANS FROM {g}"
    pieces = one.sql(f"SELECT COUNT(*), COUNT(v), COALESCE(SUM(unitless(_duration)), 0), SUM(v) FROM ({joined})")
    sums = "COALESCE(SUM(n), 0), COALESCE(SUM(c), 0), COALESCE(SUM(unitless(d)), 0), SUM(s)"
    assert one.sql(f"SELECT {sums} FROM ({grouped})").fetchall() == pieces.fetchall()


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_distinct_is_done_once(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    draw = Draw(data, partitions, SUMMABLE)
    a, b = draw.table(), draw.table()
    once = f"SELECT SPAN DISTINCT v FROM {a}"
    cut = f"SELECT SPAN DISTINCT a.v AS v FROM {a} AS a SPAN LEFT JOIN {b} AS b"
    assert rows(one, cut) == rows(one, once) == rows(one, f"SELECT SPAN DISTINCT v FROM ({once})")
    assert total(one, once) == total(one, f"SELECT SPAN FROM {a}")


@_settings
@given(data=st.data(), partitions=st.sampled_from(KEYS))
def test_starts_of_spans_are_in_their_spans(one: Session, data: st.DataObject, partitions: tuple[str, ...]) -> None:
    a = Draw(data, partitions).table()
    by = f", partition=>[{', '.join(repr(p) for p in partitions)}]"
    keys = "".join(f", {p}" for p in partitions)
    events = f"SELECT _ts{keys}, v AS w, unitless(_duration) AS d FROM {a}"
    joined = f"SELECT EVENT w, d, v FROM dctv.as_events(({events}){by if partitions else ''}) AS e SPAN JOIN {a} AS a"
    expected = f"SELECT _ts{keys}, v, unitless(_duration) AS d, v AS w FROM {a}"
    assert rows(one, joined) == rows(one, expected)


@_settings
@given(data=st.data())
def test_spans_that_overlap_are_an_error_anywhere(one: Session, data: st.DataObject) -> None:
    clock = data.draw(clocks())
    a, b, c, d = sorted(data.draw(st.lists(st.integers(0, END), min_size=4, max_size=4, unique=True)))
    first, second = data.draw(st.permutations([(clock[a], clock[c]), (clock[b], clock[d])]))
    values = ", ".join(f"({start}, {stop - start})" for start, stop in (first, second))
    found = outcome(one, f"SELECT SPAN * FROM dctv.as_spans((SELECT * FROM (VALUES {values}) AS t(_ts, _duration)))")
    assert f"spans overlap: [{clock[a]}, {clock[c]}) and [{clock[b]}, {clock[d]})" in found
