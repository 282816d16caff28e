"""Events beside spans, and spans from events, against plain Python."""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.semantics.oracle import END, Value, in_order
from tests.semantics.plans import PAYLOADS, Query, leaves, outcome, values

_settings = bounded(40)
Event = tuple[int, Value, int | None]
"""Time, partition, payload."""

EVENTS = st.lists(st.tuples(st.integers(0, END), st.sampled_from([0, 1, None]), PAYLOADS), max_size=10)


def _events(rows: Sequence[Event], *, partitioned: bool) -> str:
    data = values(["_ts", "p", "w"], list(rows), ["BIGINT", "INT", "BIGINT"])
    by = ', partition=>"p"' if partitioned else ""
    return f"SELECT EVENT * FROM dctv.as_events({data}{by})"


def _covering(query: Query, time: int, key: tuple[Value, ...]) -> list[int | None]:
    return [v for start, stop, v in query.table.spans.get(key, ()) if start <= time < stop]


@_settings
@given(events=EVENTS, kind=st.sampled_from(["INNER", "LEFT", "OUTER"]), partitioned=st.booleans(), data=st.data())
def test_event_join(one: Session, *, events: list[Event], kind: str, partitioned: bool, data: st.DataObject) -> None:
    spans = data.draw(leaves(("p",) if partitioned else ()))
    columns = "w, v" if partitioned else "p, w, v"
    left = _events(events, partitioned=partitioned)
    sql = f"SELECT EVENT {columns} FROM ({left}) AS e SPAN {kind} JOIN ({spans.sql}) AS s"
    expected = []
    for time, key, payload in events:
        covering = _covering(spans, time, (key,) if partitioned else ())
        if covering or kind != "INNER":
            expected.append((time, key, payload, covering[0] if covering else None))
    assert in_order(one.sql(sql).fetchall()) == in_order(expected)


@_settings
@given(events=EVENTS, partitioned=st.booleans(), data=st.data())
def test_group_of_events(one: Session, *, events: list[Event], partitioned: bool, data: st.DataObject) -> None:
    spans = data.draw(leaves(()))
    sql = f"""SELECT SPAN COUNT(*) AS c, SUM(w) AS s, unitless(MAX(_ts)) AS t
        FROM ({_events(events, partitioned=partitioned)}) GROUP USING SPANS FROM ({spans.sql})"""
    keys: set[tuple[Value, ...]] = {(key,) for _time, key, _w in events} if partitioned else {()}
    expected = []
    for key in keys:
        for start, stop, _v in spans.table.spans[()]:
            inside = [e for e in events if start <= e[0] < stop and (not partitioned or (e[1],) == key)]
            payloads = [e[2] for e in inside if e[2] is not None]
            total = sum(payloads) if payloads else None
            expected.append((start, stop - start, *key, len(inside), total, max((e[0] for e in inside), default=None)))
    assert in_order(one.sql(sql).fetchall()) == in_order(expected)


def _series(starts: list[Event], stops: list[Event], *, partitioned: bool, falling: bool) -> list[tuple[Value, ...]]:
    """Walk the events in time order; at equal times stops come before starts."""
    walk = [(t, source, i, p, w) for source, rows in enumerate([stops, starts]) for i, (t, p, w) in enumerate(rows)]
    walk.sort(key=lambda event: event[:3])
    opened: dict[Value, tuple[int, int | None]] = {}
    found = []
    for time, is_start, _index, partition, payload in walk:
        key = partition if partitioned else 0
        if key in opened:
            begin, held = opened.pop(key)
            value = (payload if is_start else None) if falling else held
            if time > begin:
                found.append((begin, time - begin, *((key,) if partitioned else ()), value))
        if is_start:
            opened[key] = (time, payload)
    return found


@_settings
@given(starts=EVENTS, stops=EVENTS, partitioned=st.booleans(), falling=st.booleans())
def test_time_series_to_spans(
    one: Session, *, starts: list[Event], stops: list[Event], partitioned: bool, falling: bool
) -> None:
    by = ', partition=>"p"' if partitioned else ""
    edge = "falling" if falling else "rising"
    start, stop = _events(starts, partitioned=partitioned), _events(stops, partitioned=partitioned)
    sql = f"""SELECT SPAN * FROM dctv.time_series_to_spans(
        sources=>[{{source=>({start}){by}}}, {{source=>({stop}){by}, role=>"stop"}}],
        columns=>[{{column=>"w", source=>0, edge=>"{edge}"}}]{by})"""
    assert in_order(one.sql(sql).fetchall()) == in_order(
        _series(starts, stops, partitioned=partitioned, falling=falling)
    )


@_settings
@given(
    rows=st.lists(st.tuples(st.integers(0, 12), st.integers(1, 5), st.sampled_from([0, 1])), max_size=6),
    partitioned=st.booleans(),
)
def test_overlap_is_found(one: Session, *, rows: list[tuple[int, int, int]], partitioned: bool) -> None:
    data = values(["_ts", "_duration", "p"], list(rows), ["BIGINT", "BIGINT", "INT"])
    by = ', partition=>"p"' if partitioned else ""
    units = [(t, p if partitioned else 0) for start, length, p in rows for t in range(start, start + length)]
    sql = f"SELECT SPAN * FROM dctv.as_spans({data}{by})"
    found = outcome(one, sql)
    if len(set(units)) < len(units):
        assert "overlap" in found
    else:
        assert len(found) == len(rows)
