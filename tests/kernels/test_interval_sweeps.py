"""Sweeps over one table, and labels, against brute force, however the input is cut into batches."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels import intervals_oracle as oracle
from tests.kernels.tables import KEY_SETS, KEYS, UNTIMED, Row, Table, event_tables, make, rows

LAST = 2**63 - 1


def _names(table: Table, parts: int, *made: str, times: int = 2, payload: bool = True) -> list[str]:
    own = [name for name, _ in table.fields]
    return [*own[: times + parts], *made, *(own[times + parts :] if payload else [])]


def _sorted(found: list[Row]) -> list[Row]:
    return sorted(found, key=lambda row: [(x is None, str(type(x)), x) for x in row])


@st.composite
def overlapping_tables(draw: st.DrawFn, keys: list[str], *, disjoint: bool = False) -> Table:
    """Draw spans in order of time that may overlap, with a payload of few values."""
    choices = [KEYS[key][1] for key in keys]
    span = st.tuples(st.integers(0, 12), st.integers(1, 8), *(st.sampled_from(c) for c in choices))
    drawn = sorted(draw(st.lists(span, max_size=14)), key=lambda row: row[0])
    kept: list[Row] = []
    for row in drawn:
        if not disjoint or all(r[0] + r[1] <= row[0] for r in kept if r[2:-1] == row[2:]):
            kept.append((*row, draw(st.sampled_from(["a", None]))))
    fields = [("_ts", pa.int64()), ("_duration", pa.int64())]
    fields += [(f"k{n}", KEYS[key][0]) for n, key in enumerate(keys)]
    return Table((*fields, ("v", pa.string())), tuple(kept), tuple(draw(st.lists(st.integers(0, 14), max_size=6))))


def _same(table: Table, run: Callable[[Any], Any], expected: list[Row], *, in_order: bool = False) -> None:
    found = rows(run(table.whole()))
    assert found == rows(run(table.cut()))
    assert _sorted(found) == _sorted(expected)
    if in_order:
        assert [row[0] for row in found] == sorted(row[0] for row in found)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_fill_gaps(data: st.DataObject, keys: list[str]) -> None:
    keep = data.draw(st.booleans())
    table = data.draw(overlapping_tables(keys, disjoint=True))
    start, stop = data.draw(st.none() | st.integers(-3, 22)), data.draw(st.none() | st.integers(-3, 22))
    parts, names = len(keys), _names(table, len(keys), payload=keep)
    expected = oracle.fill_gaps(table.rows, parts, start, stop, keep=keep)
    options: dict[str, Any] = {"partitions": parts, "keep": keep, "names": names, "start": start, "stop": stop}
    _same(table, lambda t: kernels.fill_gaps(t, **options), expected, in_order=not keys)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_merge_adjacent(data: st.DataObject, keys: list[str]) -> None:
    table = data.draw(overlapping_tables(keys, disjoint=True))
    parts, names = len(keys), _names(table, len(keys))
    expected = oracle.merge_adjacent(table.rows, parts)
    _same(table, lambda t: kernels.merge_adjacent(t, partitions=parts, names=names), expected, in_order=not keys)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_zoom(data: st.DataObject, keys: list[str]) -> None:
    table = data.draw(overlapping_tables(keys, disjoint=True))
    start, stop = data.draw(st.none() | st.integers(-3, 22)), data.draw(st.none() | st.integers(-3, 22))
    parts, names = len(keys), _names(table, len(keys), "count", "total", "longest")
    for step in (1, 2, 3, 4, 8, 16, 1 << 40):
        expected = oracle.zoom(table.rows, parts, step, start, stop)
        of: dict[str, Any] = {"partitions": parts, "names": names, "step": step, "start": start, "stop": stop}
        _same(table, partial(kernels.zoom, **of), expected, in_order=not keys)


@UNTIMED
@given(st.data(), st.integers(-20, 0))
def test_zoom_from_further_away(data: st.DataObject, begin: int) -> None:
    """Counts stay, and the longest of a step is the longest of one of its halves, also before time 0."""
    drawn = data.draw(overlapping_tables([], disjoint=True))
    table = Table(drawn.fields, tuple((row[0] + begin, *row[1:]) for row in drawn.rows))
    names = _names(table, 0, "count", "total", "longest")
    total = sum(row[1] for row in table.rows)
    longest: dict[int, list[int]] = {}
    for level in range(6):
        found = rows(kernels.zoom(table.whole(), partitions=0, names=names, step=1 << level))
        assert (sum(row[2] for row in found), sum(row[3] for row in found)) == (len(table.rows), total)
        finer, longest = longest, {}
        for row in found:
            longest.setdefault(row[0] >> level, []).append(row[4])
        for step, lengths in longest.items():
            halves = finer.get(2 * step, []) + finer.get(2 * step + 1, [])
            assert level == 0 or max(lengths) == max(halves)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_overlaps(data: st.DataObject, keys: list[str]) -> None:
    table = data.draw(overlapping_tables(keys))
    parts, names = len(keys), _names(table, len(keys))
    of: dict[str, Any] = {"partitions": parts, "names": names}
    lanes: dict[str, Any] = {"partitions": parts, "names": _names(table, parts, "lane")}
    flat = [(*row[:-1], f"{number}") for number, row in enumerate(table.rows)]
    unlike = Table(table.fields, tuple(flat), table.cuts)
    _same(unlike, lambda t: kernels.flatten(t, **of), oracle.flatten(flat, parts), in_order=not keys)
    _same(unlike, lambda t: kernels.truncate(t, **of), oracle.truncate(flat, parts), in_order=not keys)
    _same(unlike, lambda t: kernels.lanes(t, **lanes), oracle.lanes(flat, parts), in_order=True)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_concurrency(data: st.DataObject, keys: list[str]) -> None:
    events, idle, merge = (data.draw(st.booleans()) for _ in range(3))
    table = data.draw(overlapping_tables(keys))
    parts = len(keys)
    names = ["_ts", *([] if events else ["_duration"]), *_names(table, parts, payload=False)[2:], "open"]
    options: dict[str, Any] = {"result": "events" if events else "spans", "idle": idle, "merge": merge}
    expected = oracle.concurrency(table.rows, parts, events=events, idle=idle, merge=merge)
    options |= {"partitions": parts, "names": names}
    _same(table, lambda t: kernels.concurrency(t, **options), expected, in_order=not keys)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS), st.integers(0, 5))
def test_sessions(data: st.DataObject, keys: list[str], gap: int) -> None:
    table = data.draw(event_tables(keys, "e"))
    parts = len(keys)
    names = ["_ts", "_duration", *(f"k{n}" for n in range(parts)), "events"]
    expected = oracle.sessions(table.rows, parts, gap)
    _same(table, lambda t: kernels.sessions(t, gap=gap, partitions=parts, names=names), expected, in_order=not keys)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_label_events(data: st.DataObject, keys: list[str]) -> None:
    broadcast = data.draw(st.booleans())
    events, labels = data.draw(event_tables(keys, "e")), data.draw(event_tables([] if broadcast else keys, "label"))
    parts = len(keys)
    names = [*_names(events, parts, times=1), "label"]
    options: dict[str, Any] = {"partitions": parts, "names": names, "broadcast": broadcast}
    found = rows(kernels.label_events(events.whole(), labels.whole(), **options))
    assert found == rows(kernels.label_events(events.cut(), labels.cut(), **options))
    assert found == oracle.label_events(events.rows, labels.rows, 0 if broadcast else parts)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_valid_rows_pass_the_check(data: st.DataObject, keys: list[str]) -> None:
    table = data.draw(overlapping_tables(keys))
    parts, names = len(keys), _names(table, len(keys))
    apart = _sorted(oracle.truncate(table.rows, parts)) == _sorted(list(table.rows))
    for disjoint in (False, True):
        for stream in (table.whole(), table.cut()):
            made = kernels.checked(stream, events=False, disjoint=disjoint, partitions=parts, names=names)
            if apart or not disjoint:
                assert tuple(rows(made)) == table.rows
            else:
                with pytest.raises(pa.ArrowInvalid, match="spans overlap: "):
                    rows(made)


def _checked(table: Table, **options: Any) -> list[Row]:
    settings: dict[str, Any] = {"events": False, "disjoint": True, "partitions": 0, **options}
    names = [name for name, _ in table.fields]
    return rows(kernels.checked(table.whole(), names=names, **settings))


@pytest.mark.parametrize(
    ("spans", "message"),
    [
        ([(0, 5), (1, 1), (2, 1)], r"spans overlap: \[0, 5\) and \[1, 2\); \[0, 5\) and \[2, 3\)$"),
        ([(0, 9), *((n, 1) for n in range(1, 6))], r"\[0, 9\) and \[3, 4\); and more$"),
        ([(0, 1), (5, 1), (4, 1)], r"the rows are not in order of time: 4 comes after 5$"),
        ([(0, 0), (1, -3)], r"the duration of a span is positive, found 0 at _ts 0; -3 at _ts 1$"),
        ([(0, None)], r"the duration of a span is positive, found NULL at _ts 0$"),
        ([(None, 4)], r"the start of a span is NULL: duration 4$"),
        ([(LAST - 3, 4)], rf"the end of a span is beyond the end of time: duration 4 at _ts {LAST - 3}$"),
    ],
)
def test_invalid_rows_are_reported(spans: list[Row], message: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match=message):
        _checked(make("_ts _duration", spans))


def test_a_fault_names_the_partition() -> None:
    table = make("_ts _duration cpu", [(0, 5, 1), (1, 1, None), (1, 2, 1)])
    with pytest.raises(pa.ArrowInvalid, match=r"\[0, 5\) and \[1, 3\) in partition cpu=1$"):
        _checked(table, partitions=1)


def test_the_ends_of_time() -> None:
    first = -(2**63)
    table = make("_ts _duration", [(first, 10), (LAST - 4, 4)])
    of: dict[str, Any] = {"partitions": 0, "names": ["_ts", "_duration"]}
    assert _checked(table) == list(table.rows)
    assert rows(kernels.flatten(table.whole(), **of)) == list(table.rows)
    assert rows(kernels.merge_adjacent(table.whole(), **of)) == list(table.rows)
    with pytest.raises(pa.ArrowInvalid, match="is longer than a duration can say"):
        rows(kernels.fill_gaps(table.whole(), keep=True, **of))
    names = ["_ts", "_duration", "open"]
    assert rows(kernels.concurrency(table.whole(), partitions=0, names=names)) == [(*row, 1) for row in table.rows]
    events = make("_ts", [(first,), (LAST,)])
    names = ["_ts", "_duration", "events"]
    with pytest.raises(pa.ArrowInvalid, match="a session at the end of time has no end"):
        rows(kernels.sessions(events.whole(), gap=5, partitions=0, names=names))
    with pytest.raises(pa.ArrowInvalid, match="is longer than a duration can say"):
        rows(kernels.sessions(events.whole(), gap=2**64 - 1, partitions=0, names=names))
    labels = make("_ts l", [(LAST, 1)])
    assert rows(kernels.label_events(events.whole(), labels.whole(), partitions=0, names=["_ts", "l"])) == [
        (first, None),
        (LAST, 1),
    ]


def test_floats_that_are_equal_merge() -> None:
    nan = float("nan")
    table = make("_ts _duration v", [(0, 1, 0.0), (1, 1, -0.0), (2, 1, nan), (3, 1, -nan), (4, 1, 1.0)], v=pa.float64())
    found = rows(kernels.merge_adjacent(table.whole(), partitions=0, names=["_ts", "_duration", "v"]))
    assert [row[:2] for row in found] == [(0, 2), (2, 2), (4, 1)]


def test_spans_that_overlap_are_refused() -> None:
    table = make("_ts _duration", [(0, 5), (1, 1)]).whole()
    of: dict[str, Any] = {"partitions": 0, "names": ["_ts", "_duration"]}
    zoomed = kernels.zoom(table, step=9, partitions=0, names=[*of["names"], "count", "total", "longest"])
    valued = make("_ts _duration v", [(0, 5, 1), (1, 1, 2)]).whole()
    counted = kernels.zoom_counter(valued, step=9, partitions=0, names=[*of["names"], "min", "max", "last", "mean"])
    for stream in (kernels.fill_gaps(table, keep=True, **of), kernels.merge_adjacent(table, **of), zoomed, counted):
        with pytest.raises(pa.ArrowInvalid, match=r"spans overlap: \[0, 5\) and \[1, 2\) \(span input\)$"):
            rows(stream)
