"""Functions over spans, intervals and events give what brute force gives, by sweep and as a query of the engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from dctv.session import Session
from tests.bounds import bounded
from tests.kernels import intervals_oracle as oracle
from tests.kernels.tables import Row
from tests.semantics.oracle import in_order
from tests.semantics.plans import outcome, values

_settings = bounded(12)
_KEYS: dict[str, list[Any]] = {"p": [0, 1, None], "q": ["", "x", None]}
_TYPES = {"p": "INT", "q": "STRING", "v": "STRING"}
_NUMBERS = ["TINYINT", "BIGINT", "UBIGINT", "FLOAT", "DOUBLE", "DECIMAL(9, 2)", "DECIMAL(38, 5)"]
KEY_SETS = st.sampled_from([(), ("p",), ("p", "q")])


@st.composite
def intervals(draw: st.DrawFn, keys: tuple[str, ...], *, disjoint: bool = False) -> list[Row]:
    """Draw rows of start, duration, keys and a payload, in any order; those that overlap are left out on request."""
    one = st.tuples(st.integers(0, 12), st.integers(1, 8), *(st.sampled_from(_KEYS[key]) for key in keys))
    drawn = draw(st.lists(one, max_size=10))
    kept: list[Row] = []
    for number, row in enumerate(drawn):
        if not disjoint or all(r[0] + r[1] <= row[0] or row[0] + row[1] <= r[0] for r in kept if r[2:-1] == row[2:]):
            kept.append((*row, draw(st.sampled_from(["a", None])) if disjoint else f"row {number}"))
    return kept


@st.composite
def events(draw: st.DrawFn, keys: tuple[str, ...]) -> list[Row]:
    """Draw rows of time, keys and a payload."""
    one = st.tuples(st.integers(0, 20), *(st.sampled_from(_KEYS[key]) for key in keys))
    return [(*row, f"row {number}") for number, row in enumerate(draw(st.lists(one, max_size=10)))]


def _table(rows: list[Row], keys: tuple[str, ...], *, spans: bool = True, payload: str = "v") -> str:
    times = ["_ts", "_duration"] if spans else ["_ts"]
    types = [*("BIGINT" for _ in times), *(_TYPES[key] for key in keys), "STRING"]
    return values([*times, *keys, payload], rows, types)


def _types(keys: tuple[str, ...], value: str) -> list[str]:
    return ["BIGINT", "BIGINT", *(_TYPES[key] for key in keys), value]


def _by(keys: tuple[str, ...]) -> str:
    return f", partition=>[{', '.join(repr(key) for key in keys)}]" if keys else ""


def _check(session: Session, sql: str, expected: list[Row]) -> None:
    found = session.sql(sql).fetchall()
    assert in_order(found) == in_order(expected)
    times = [row[0] for row in found]
    assert times == sorted(times)


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_gaps(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    rows = data.draw(intervals(keys, disjoint=True))
    start, stop = data.draw(st.none() | st.integers(-3, 9)), data.draw(st.none() | st.integers(9, 22))
    spans, limits = (
        f"dctv.as_spans({_table(rows, keys)}{_by(keys)})",
        [f"{x}ns" if x else "NULL" for x in (start, stop)],
    )
    start = start or None
    for name, keep in (("fill_gaps", True), ("complement", False)):
        sql = f"SELECT SPAN * FROM dctv.{name}({spans}, {', '.join(limits)})"
        _check(one, sql, oracle.fill_gaps(rows, len(keys), start, stop, keep=keep))


@_settings
@given(data=st.data(), keys=KEY_SETS, step=st.sampled_from([1, 2, 3, 5, 8, 100]))
def test_zoom(one: Session, data: st.DataObject, keys: tuple[str, ...], step: int) -> None:
    rows = data.draw(intervals(keys, disjoint=True))
    start, stop = data.draw(st.none() | st.integers(-3, 9)), data.draw(st.none() | st.integers(9, 22))
    limits = [f"{x}ns" if x is not None else "NULL" for x in (start, stop)]
    spans = f"dctv.as_spans({_table(rows, keys)}{_by(keys)})"
    sql = f"SELECT SPAN * FROM dctv.zoom({spans}, step=>{step}ns, from=>{limits[0]}, to=>{limits[1]})"
    _check(one, sql, oracle.zoom(rows, len(keys), step, start, stop))


@_settings
@given(data=st.data(), keys=KEY_SETS, step=st.sampled_from([1, 2, 3, 5, 100]), kind=st.sampled_from(_NUMBERS))
def test_zoom_counter(one: Session, data: st.DataObject, keys: tuple[str, ...], step: int, kind: str) -> None:
    rows = [(*row[:-1], data.draw(st.none() | st.integers(0, 3))) for row in data.draw(intervals(keys, disjoint=True))]
    start, stop = data.draw(st.none() | st.integers(-3, 9)), data.draw(st.none() | st.integers(9, 22))
    moved = data.draw(st.sampled_from([0, -7 * step]))
    table = values(["_ts", "_duration", *keys, "v"], [(row[0] + moved, *row[1:]) for row in rows], _types(keys, kind))
    spans = f"dctv.as_spans({table}{_by(keys)})"
    limits = [f"{x + moved}ns" if x is not None else "NULL" for x in (start, stop)]
    of = f"column=>'v', step=>{step}ns, from=>{limits[0]}, to=>{limits[1]}"
    expected = [(r[0] + moved, *r[1:]) for r in oracle.zoom_counter(rows, len(keys), step, start, stop)]
    made = ", ".join(f"{name}::DOUBLE AS {name}" for name in ("min", "max", "last"))
    sql = f"SELECT SPAN {made}, round(mean, 9) AS mean FROM dctv.zoom_counter({spans}, {of})"
    rounded = [(*r[:-4], *(None if x is None else round(float(x), 9) for x in r[-4:])) for r in expected]
    _check(one, sql, rounded)


_AGGREGATES: dict[str, Callable[[list[int]], Any]] = {
    "count": len,
    "sum": lambda found: sum(found) if found else None,
    "min": lambda found: min(found, default=None),
    "max": lambda found: max(found, default=None),
    "mean": lambda found: round(sum(found) / len(found), 9) if found else None,
    "first": lambda found: found[0] if found else None,
    "last": lambda found: found[-1] if found else None,
}


@_settings
@given(data=st.data(), keys=KEY_SETS, aggregate=st.sampled_from(sorted(_AGGREGATES)), kind=st.sampled_from(_NUMBERS))
def test_range_aggregate(one: Session, data: st.DataObject, keys: tuple[str, ...], aggregate: str, kind: str) -> None:
    """Windows that may overlap, or have partitions, some or all of those of the table."""
    of_events = data.draw(st.booleans())
    drawn = data.draw(events(keys) if of_events else intervals(keys, disjoint=True))
    rows = [(*row[:-1], data.draw(st.none() | st.integers(0, 9))) for row in drawn]
    # Of rows that begin at once the first one counts, so they are given in order.
    rows = sorted(rows, key=lambda row: row[0])
    times = ["_ts"] if of_events else ["_ts", "_duration"]
    made = values([*times, *keys, "v"], rows, [*["BIGINT"] * len(times), *_types(keys, kind)[2:]])
    table = f"dctv.as_{'events' if of_events else 'spans'}({made}{_by(keys)})"
    own, overlap = data.draw(st.sampled_from([(), keys, keys[:1]])), data.draw(st.booleans())
    windows = data.draw(intervals(own, disjoint=not overlap))
    looked = f"{_table(windows, own)}{_by(own)}" if overlap else f"dctv.as_spans({_table(windows, own)}{_by(own)})"
    kept = ", ".join(["_ts", "_duration", *own, "v"])
    result = f"{aggregate}::DOUBLE" if aggregate != "mean" else "round(mean, 9)"
    sql = f"SELECT {kept}, {result} AS found FROM dctv.range_aggregate({table}, 'v', '{aggregate}', {looked})"
    expected = []
    for window in windows:
        inside = oracle.in_window(window, rows, len(keys), window[2:-1], of_events=of_events)
        found = _AGGREGATES[aggregate]([row[-1] for row in inside])
        expected.append((*window, None if found is None else float(found)))
    _check(one, f"{sql} ORDER BY _ts", expected)


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_merges(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    rows = data.draw(intervals(keys, disjoint=True))
    sql = f"SELECT SPAN * FROM dctv.merge_adjacent(dctv.as_spans({_table(rows, keys)}{_by(keys)}))"
    _check(one, sql, oracle.merge_adjacent(rows, len(keys)))


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_overlaps(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    rows = data.draw(intervals(keys))
    sql, parts = f"({_table(rows, keys)}{_by(keys)}", len(keys)
    _check(one, f"SELECT SPAN * FROM dctv.flatten{sql})", oracle.flatten(rows, parts))
    _check(one, f"SELECT SPAN * FROM dctv.from_overlapping{sql})", oracle.lanes(rows, parts))
    _check(one, f"SELECT SPAN * FROM dctv.as_spans{sql}, on_overlap=>'truncate')", oracle.truncate(rows, parts))


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_concurrency(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    rows = data.draw(intervals(keys))
    idle, merge = data.draw(st.booleans()), data.draw(st.booleans())
    sql, parts = f"({_table(rows, keys)}{_by(keys)}, merge=>{str(merge).upper()}", len(keys)
    expected = oracle.concurrency(rows, parts, events=False, idle=idle, merge=merge)
    _check(one, f"SELECT SPAN * FROM dctv.concurrency{sql}, idle=>{str(idle).upper()})", expected)
    expected = oracle.concurrency(rows, parts, events=True, idle=True, merge=merge)
    _check(one, f"SELECT EVENT * FROM dctv.concurrency_events{sql})", expected)


@_settings
@given(data=st.data(), keys=KEY_SETS, gap=st.integers(0, 5))
def test_sessions(one: Session, data: st.DataObject, keys: tuple[str, ...], gap: int) -> None:
    rows = data.draw(events(keys))
    table = f"dctv.as_events({_table(rows, keys, spans=False)}{_by(keys)})"
    sql = f"SELECT SPAN * FROM dctv.session({table}, {gap}ns)"
    _check(one, sql, oracle.sessions(rows, len(keys), gap))


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_labels(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    own = data.draw(st.sampled_from([(), keys]))
    rows, labels = data.draw(events(keys)), data.draw(events(own))
    tables = [
        f"dctv.as_events({_table(some, by, spans=False, payload=name)}{_by(by)})"
        for some, by, name in ((rows, keys, "v"), (labels, own, "label"))
    ]
    sql = f"SELECT EVENT * FROM dctv.label_events({', '.join(tables)})"
    _check(one, sql, oracle.label_events(rows, labels, len(own)))


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_clips_and_edges(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    rows = data.draw(intervals(keys, disjoint=True))
    start, stop = data.draw(st.integers(-2, 9)), data.draw(st.integers(9, 22))
    spans = f"dctv.as_spans({_table(rows, keys)}{_by(keys)})"
    cut = [(max(r[0], start), min(r[0] + r[1], stop), *r[2:]) for r in rows]
    inside = [(a, b - a, *rest) for a, b, *rest in cut if a < b]
    _check(one, f"SELECT SPAN * FROM dctv.clip({spans}, {start}ns, {stop}ns)", inside)
    parts = len(keys)
    edges = [
        (time, *r[2 : 2 + parts], edge, *r[2 + parts :])
        for r in rows
        for edge, time in (("start", r[0]), ("end", r[0] + r[1]))
    ]
    sql = f"EVENT * FROM dctv.spans_to_events({spans}, edge=>'both')"
    _check(one, f"SELECT {sql}", edges)
    clipped = [edge for edge in edges if start <= edge[0] < stop]
    _check(one, f"SELECT EVENT * FROM dctv.clip((SELECT {sql}), {start}ns, {stop}ns)", clipped)


@_settings
@given(data=st.data(), keys=KEY_SETS)
def test_checks(one: Session, data: st.DataObject, keys: tuple[str, ...]) -> None:
    """Rows with faults fail either way; rows without pass."""
    rows = data.draw(intervals(keys))
    rows = [(r[0], r[1] + data.draw(st.sampled_from([-r[1], 0, 0, 0])), *r[2:]) for r in rows]
    drop, declared = data.draw(st.booleans()), data.draw(st.booleans())
    options = f"on_empty=>'{'drop' if drop else 'error'}', sorted=>{str(declared).upper()}"
    sql = f"SELECT SPAN * FROM dctv.as_spans({_table(rows, keys)}{_by(keys)}, {options})"
    kept = [r for r in rows if r[1] > 0 or not drop]
    times = [r[0] for r in kept]
    wrong = any(r[1] <= 0 for r in kept) or oracle.truncate(kept, len(keys)) != [
        r for own in oracle.by_key(kept, len(keys)).values() for r in own
    ]
    wrong = wrong or (declared and times != sorted(times))
    found = outcome(one, sql)
    assert isinstance(found, str) == wrong
    assert isinstance(found, str) or in_order(found) == in_order(kept)
