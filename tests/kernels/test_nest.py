"""Nesting of calls against a replay with a plain list as the stack."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import UNTIMED, Row, Table, make, rows

NAMES = "_ts tid kind duration name"
KINDS = {"kind": pa.int8(), "name": pa.string()}


def oracle(table: Table) -> tuple[list[Row], int]:
    """Replay the calls; a frame is (number, end or None, depth)."""
    stacks: dict[Any, list[Any]] = {}
    out: list[list[Any]] = []
    unmatched = 0
    for t, tid, kind, duration, name in table.rows:
        stack = stacks.setdefault(tid, [])
        if kind == -1:
            begun = [frame for frame in stack if frame[1] is None]
            unmatched += not begun
            for frame in begun[-1:]:
                stack.remove(frame)
                out[frame[0] - 1][1] = t - out[frame[0] - 1][0]
            continue
        end = t + duration if kind == 0 else None
        while stack and stack[-1][1] is not None and stack[-1][1] <= t:
            stack.pop()
        open_now = [frame for frame in stack if frame[1] is None or frame[1] > t]
        around = [f for f in open_now if f[1] is None or end is None or f[1] >= end]
        depth = stack[-1][2] + 1 if stack else 0
        parent = around[-1][0] if around else None
        out.append([t, duration if kind == 0 else None, tid, len(out) + 1, parent, depth, name])
        stack.append((len(out), end, depth))
    return [tuple(row) for row in out], unmatched


def nest(table: Any) -> tuple[list[Row], int]:
    names = ["_ts", "_duration", "tid", "id", "parent_id", "depth", "name"]
    reader, counter = kernels.nest(table, partitions=1, names=names)
    return rows(reader), counter.value


@UNTIMED
@given(st.data())
def test_oracle(data: st.DataObject) -> None:
    call = st.tuples(st.integers(0, 12), st.sampled_from([1, 2, None]), st.sampled_from([0, 1, -1]), st.integers(0, 8))
    drawn = sorted(data.draw(st.lists(call, max_size=16)), key=lambda row: row[0])
    calls = [(t, tid, kind, d if kind == 0 else None, f"f{n}") for n, (t, tid, kind, d) in enumerate(drawn)]
    cuts = tuple(data.draw(st.lists(st.integers(0, 16), max_size=5)))
    whole = make(NAMES, calls, **KINDS)
    table = Table(whole.fields, whole.rows, cuts)
    assert nest(table.whole()) == nest(table.cut()) == oracle(table)


def test_a_small_trace() -> None:
    calls = [
        (0, 1, 1, None, "main"),
        (1, 1, 0, 4, "read"),
        (2, 1, 0, 1, "copy"),
        (6, 1, -1, None, None),
        (7, 1, -1, None, None),
        (8, 1, 1, None, "open"),
        (9, 1, 0, 4, "overlapped"),
        (11, 1, 0, 9, "overlapping"),
    ]
    found, unmatched = nest(make(NAMES, calls, **KINDS).whole())
    assert found == [
        (0, 6, 1, 1, None, 0, "main"),
        (1, 4, 1, 2, 1, 1, "read"),
        (2, 1, 1, 3, 2, 2, "copy"),
        (8, None, 1, 4, None, 0, "open"),
        (9, 4, 1, 5, 4, 1, "overlapped"),
        (11, 9, 1, 6, 4, 2, "overlapping"),
    ]
    assert unmatched == 1


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ((5, 7, 2, None, "f"), "kind is not -1, 0 or 1 at 5 in partition tid=7"),
        ((5, 7, None, None, "f"), "kind is not -1, 0 or 1 at 5 in partition tid=7"),
        ((5, 7, 0, None, "f"), "complete call without a possible duration at 5 in partition tid=7"),
        ((5, 7, 0, -1, "f"), "complete call without a possible duration at 5 in partition tid=7"),
        ((5, 7, 0, (1 << 63) - 1, "f"), "complete call without a possible duration at 5 in partition tid=7"),
    ],
)
def test_impossible_calls_are_refused(row: Row, message: str) -> None:
    with pytest.raises(pa.ArrowInvalid, match=message):
        nest(make(NAMES, [row], **KINDS).whole())
