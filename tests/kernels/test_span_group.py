"""Span groups with aggregates against the groups' pieces, aggregated in plain Python."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.aggregates import aggregate, numbers
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, Table, event_tables, make, rows, span_tables
from tests.kernels.test_span_pieces import oracle, tuples

COMPUTING = ["sum", "wide_sum", "avg", "time_sum"]
SHARED = ["count", "min", "max", "first", "last"]
KINDS = [pa.int64(), pa.int16(), pa.float64(), pa.float32(), pa.string(), pa.dictionary(pa.int8(), pa.string())]

Call = tuple[str, int | str | None]


def group(grouped: Any, grouper: Any, parts: int, calls: list[Call], **options: Any) -> list[Row]:
    names = ["_ts", "_duration", "label", *(f"k{n}" for n in range(parts)), *(f"a{n}" for n in range(len(calls)))]
    options = {"events": False, **options}
    options["aggregates"] = calls
    required = options.pop("intersect", None)
    inputs = [grouped, grouper, *([] if required is None else [required])]
    found = rows(kernels.span_group(inputs, partitions=parts, names=names, **options))
    return [tuple(int(value) if isinstance(value, Decimal) else value for value in row) for row in found]


def grouped_by_head(pieces: list[Row], width: int, calls: list[Call]) -> list[Row]:
    """Aggregate rows of `group, _ts, _duration, label, keys, present, piece's times, value`."""
    found: dict[Row, list[Row]] = {}
    for row in pieces:
        found.setdefault(row[:width], []).extend([row[width + 1 :]] if row[width] else [])
    wanted = []
    for head, own in found.items():
        values = []
        for function, taken in calls:
            at = {"_ts": 0, "_duration": 1, None: 0}.get(taken, 2) if isinstance(taken, str | None) else 2
            values.append(aggregate(function, [(ts, duration, (ts, duration, v)[at]) for ts, duration, v in own]))
        wanted.append((*head[1:], *values))
    return wanted


@UNTIMED
@given(data=st.data(), keys=st.sampled_from(KEY_SETS), kind=st.sampled_from(KINDS), intersect=st.booleans())
def test_oracle_of_spans(data: st.DataObject, keys: list[str], kind: pa.DataType, *, intersect: bool) -> None:
    grouped = data.draw(span_tables(keys, "value"))
    text = pa.types.is_string(kind) or pa.types.is_dictionary(kind)
    if text:
        grouped = Table((*grouped.fields[:-1], ("value", kind)), grouped.rows, grouped.cuts)
    else:
        grouped = numbers(grouped, kind)
    grouper = data.draw(span_tables([], "label"))
    parts = len(keys)
    calls: list[Call] = [*((f, 0) for f in SHARED), ("time_known", 0), ("count", None)]
    calls += [(f, time) for f in [*COMPUTING, *SHARED] for time in ("_ts", "_duration")]
    calls += [] if text else [(f, 0) for f in COMPUTING]
    found = []
    for one, two in ((grouped.whole(), grouper.whole()), (grouped.cut(), grouper.cut())):
        distinct = one.select(range(2, 2 + parts)) if intersect and parts else None
        found.append(group(one, two, parts, calls, intersect=distinct))
    assert found[0] == found[1]
    wanted = grouped_by_head(oracle(grouped, grouper, parts, intersect=intersect), 4 + parts, calls)
    assert sorted(found[0], key=repr) == sorted(wanted, key=repr)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_oracle_of_events(data: st.DataObject, keys: list[str]) -> None:
    grouped = data.draw(event_tables(keys, "value"))
    grouper = data.draw(span_tables([], "label"))
    parts = len(keys)
    calls: list[Call] = [("count", None), ("first", 0), ("last", 0), ("max", 0), ("sum", "_ts"), ("min", "_ts")]
    found = group(grouped.whole(), grouper.whole(), parts, calls, events=True)
    assert found == group(grouped.cut(), grouper.cut(), parts, calls, events=True)
    pieces: list[Row] = []
    for number, (start, length, label) in enumerate(grouper.rows):
        for key in tuples(grouped, 1, parts):
            head = (number, start, length, label, *key)
            here = [row for row in grouped.rows if row[1:-1] == key and start <= row[0] < start + length]
            pieces += [(*head, True, row[0], 0, row[-1]) for row in here] or [(*head, False, None, None, None)]
    wanted = grouped_by_head(pieces, 4 + parts, calls)
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


def test_many_batches() -> None:
    total, width = 300_000, 7
    ts = range(total)
    spans = pa.table({"_ts": ts, "_duration": [1] * total, "k0": [0] * total, "value": ts})
    windows = range(0, total, width)
    grouper = pa.table({"_ts": windows, "_duration": [width] * len(windows), "label": windows})
    calls: list[Call] = [("count", None), ("first", 0), ("last", 0), ("sum", "_duration"), ("max", 0)]
    found = group(spans, grouper, 1, calls)
    ends = [min(t + width, total) for t in windows]
    assert found == [
        (t, width, t, 0, end - t, t, end - 1, end - t, end - 1) for t, end in zip(windows, ends, strict=True)
    ]


def test_one_group_of_many_batches_and_partitions() -> None:
    total, parts = 300_000, 150_000
    ts = range(total)
    spans = pa.table({"_ts": ts, "_duration": [1] * total, "k0": [t % parts for t in ts], "value": map(str, ts)})
    grouper = make("_ts _duration label", [(0, total, 0)]).whole()
    calls: list[Call] = [("count", 0), ("first", 0), ("last", 0)]
    assert sorted(row[3:] for row in group(spans, grouper, 1, calls)) == [
        (part, total // parts, str(part), str(total - parts + part)) for part in range(parts)
    ]


def test_sums_at_the_edge() -> None:
    big = 2**63 - 1
    grouper = make("_ts _duration label", [(0, 10, 0)]).whole()
    spans = make("_ts _duration value", [(0, 1, big), (1, 1, 1)]).whole()
    with pytest.raises(pa.ArrowInvalid, match="integer overflow: 9223372036854775808 does not fit into 64 bits"):
        group(spans, grouper, 0, [("sum", 0)])
    assert group(spans, grouper, 0, [("wide_sum", 0), ("time_sum", 0)])[0][3:] == (2**63, 2**63)
    spans = make("_ts _duration value", [(0, 2, big)]).whole()
    assert group(spans, grouper, 0, [("time_sum", 0)])[0][3:] == (2 * big,)
    grouper = make("_ts _duration label", [(-5, big, 0)]).whole()
    for value in (big, -big - 1):
        spans = make("_ts _duration value", [(-5, big - 2, value), (big - 7, 2, value)]).whole()
        assert group(spans, grouper, 0, [("time_sum", 0)])[0][3:] == (big * value,)


def test_wrong_aggregates_are_refused() -> None:
    table = make("_ts _duration value", [], value=pa.string()).whole()
    wrong: list[tuple[list[Call], str]] = [
        ([("mode", 0)], r'^aggregate is "mode", expected sum,'),
        ([("sum", 0)], r"^cannot aggregate Utf8, expected integers up to Int64 or floats$"),
        ([("count", 1)], r"^the payload has no column 1$"),
        ([("count", "ts")], r'^argument is "ts", expected "_ts" or "_duration"$'),
        ([("sum", None)], r"^only count takes nothing$"),
    ]
    for calls, message in wrong:
        with pytest.raises(ValueError, match=message):
            group(table, table, 0, calls)
    names = ["_ts", "_duration", "label"]
    with pytest.raises(ValueError, match=r"^found 1 inputs, expected what is grouped, the grouper"):
        kernels.span_group([table], events=False, partitions=0, aggregates=[], names=names)
    events = make("_ts value", []).whole()
    with pytest.raises(ValueError, match=r"^events have no duration to aggregate$"):
        group(events, table, 0, [("sum", "_duration")], events=True)
