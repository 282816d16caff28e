"""Span groups against an oracle over single nanoseconds, and the manual's two diagrams."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import KEY_SETS, UNTIMED, Row, Table, covering, event_tables, make, rows, span_tables


def tuples(table: Table, first: int, parts: int) -> list[Row]:
    seen = list(dict.fromkeys(row[first : first + parts] for row in table.rows))
    return seen if parts else [()]


def oracle(grouped: Table, grouper: Table, parts: int, *, intersect: bool) -> list[Row]:
    """Ask for each group, partition and nanosecond which span is there, and join equal neighbours."""
    out: list[Row] = []
    keys = tuples(grouped, 2, parts)
    for number, (start, length, *label) in enumerate(grouper.rows):
        for key in keys:
            head = (number, start, length, *label, *key)
            pieces: list[Row] = []
            seen = None
            for t in range(start, start + length):
                span = covering(grouped, parts, key, t)
                if intersect and not all(covering(grouped, parts, other, t) for other in keys):
                    span = None
                if span and span == seen:
                    pieces[-1] = (pieces[-1][0], pieces[-1][1] + 1, span[-1])
                elif span:
                    pieces.append((t, 1, span[-1]))
                seen = span
            out += [(*head, True, *piece) for piece in pieces] or [(*head, False, None, None, None)]
    return out


def group(grouped: Any, grouper: Any, parts: int, *, events: bool = False, intersect: Any = None) -> list[Row]:
    keys = [f"k{number}" for number in range(parts)]
    own = ["piece_ts"] if events else ["piece_ts", "piece_duration"]
    names = ["group", "_ts", "_duration", "label", *keys, "present", *own, "value"]
    options: dict[str, Any] = {"events": events, "partitions": parts, "intersect": intersect, "names": names}
    return rows(kernels.span_pieces(grouped, grouper, **options))


@UNTIMED
@given(data=st.data(), keys=st.sampled_from(KEY_SETS), intersect=st.booleans())
def test_oracle_of_spans(data: st.DataObject, keys: list[str], *, intersect: bool) -> None:
    grouped = data.draw(span_tables(keys, "value"))
    grouper = data.draw(span_tables([], "label"))
    parts = len(keys)
    found = []
    for one, two in ((grouped.whole(), grouper.whole()), (grouped.cut(), grouper.cut())):
        distinct = one.select(range(2, 2 + parts)) if intersect and parts else None
        found.append(group(one, two, parts, intersect=distinct))
    assert found[0] == found[1]
    wanted = oracle(grouped, grouper, parts, intersect=intersect)
    assert sorted(found[0], key=repr) == sorted(wanted, key=repr)
    for head in {row[: 4 + parts] for row in found[0]}:
        times = [row[5 + parts] for row in found[0] if row[: 4 + parts] == head]
        assert len(times) == 1 or times == sorted(times)


@UNTIMED
@given(st.data(), st.sampled_from(KEY_SETS))
def test_oracle_of_events(data: st.DataObject, keys: list[str]) -> None:
    grouped = data.draw(event_tables(keys, "value"))
    grouper = data.draw(span_tables([], "label"))
    parts = len(keys)
    found = group(grouped.whole(), grouper.whole(), parts, events=True)
    assert found == group(grouped.cut(), grouper.cut(), parts, events=True)
    wanted: list[Row] = []
    for number, (start, length, label) in enumerate(grouper.rows):
        for key in tuples(grouped, 1, parts):
            head = (number, start, length, label, *key)
            here = [row for row in grouped.rows if row[1:-1] == key and start <= row[0] < start + length]
            wanted += [(*head, True, row[0], row[-1]) for row in here] or [(*head, False, None, None)]
    assert sorted(found, key=repr) == sorted(wanted, key=repr)


PERIODS = make("_ts _duration label", [(1, 2, "A"), (3, 2, "B"), (5, 2, "C"), (7, 2, "D")], label=pa.string())


def extremes(found: list[Row]) -> list[tuple[str, Any, Any]]:
    values = {label: [row[-1] for row in found if row[3] == label and row[4]] for label in "ABCD"}
    return [(label, max(v, default=None), min(v, default=None)) for label, v in values.items()]


def test_diagram_of_the_span_group() -> None:
    arms = make("_ts _duration value", [(t, 1, n) for t, n in enumerate([2, 5, 0, 7, 2, 4, 9, 0], 1)])
    assert extremes(group(arms.whole(), PERIODS.whole(), 0)) == [("A", 5, 2), ("B", 7, 0), ("C", 4, 2), ("D", 9, 0)]


def test_diagram_of_missing_grouped_values() -> None:
    arms = make("_ts _duration value", [(1, 1, 2), (2, 1, 5), (3, 1, 0), (7, 1, 9), (8, 1, 0)])
    wanted = [("A", 5, 2), ("B", 0, 0), ("C", None, None), ("D", 9, 0)]
    assert extremes(group(arms.whole(), PERIODS.whole(), 0)) == wanted


def test_an_empty_unpartitioned_input_has_every_group() -> None:
    arms = make("_ts _duration value", []).whole()
    assert [row[:5] for row in group(arms, PERIODS.whole(), 0)] == [
        (number, 1 + 2 * number, 2, label, False) for number, label in enumerate("ABCD")
    ]
    keyed = make("_ts _duration k0 value", []).whole()
    assert group(keyed, PERIODS.whole(), 1) == []


def test_long_gaps_are_filled() -> None:
    total = 200_000
    grouper = make("_ts _duration label", [(t, 1, t) for t in range(total)]).whole()
    arms = make("_ts _duration k0 value", [(5, 1, 1, 10), (total - 1, 1, 2, 20)]).whole()
    found = group(arms, grouper, 1)
    assert len(found) == 2 * total
    assert len({row[:5] for row in found}) == 2 * total
    assert sorted(row for row in found if row[5]) == [
        (5, 5, 1, 5, 1, True, 5, 1, 10),
        (total - 1, total - 1, 1, total - 1, 2, True, total - 1, 1, 20),
    ]


def test_events_do_not_intersect() -> None:
    table = make("_ts value", []).whole()
    with pytest.raises(ValueError, match=r"^events cover no time"):
        group(table, PERIODS.whole(), 0, events=True, intersect=table)
