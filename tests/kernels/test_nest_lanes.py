"""Slices on lanes against a replay that looks at all open slices."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.bounds import bounded
from tests.kernels.tables import Row, Table, make, rows

NAMES = "_ts track duration name"
KINDS = {"duration": pa.int64(), "name": pa.string()}
FOREVER = float("inf")


def oracle(table: Table, *, paired: bool = False) -> list[Row]:
    """Lay the slices of each track: of those that begin at once the longest first, unless it follows an empty one."""
    given = [row if paired else (*row[:3], None, row[3]) for row in table.rows]
    last = [FOREVER if d is None else t + d for t, _, d, _, _ in given]

    def follows(n: int, longer: list[int]) -> int | None:
        """Return the outermost longer slice from which on all are pairs that begin at later events."""
        own = [k for k in longer if given[k][1] == given[n][1]] if paired else []
        return next((k for at, k in enumerate(own) if all(given[k][3] is not None and k > n for k in own[at:])), None)

    order: list[int] = []
    for ts in sorted({row[0] for row in given}):
        begun = [n for n, row in enumerate(given) if row[0] == ts]
        longer = sorted((n for n in begun if given[n][2] != 0), key=lambda n: -last[n])
        next_ones = {n: follows(n, longer) for n in begun if given[n][2] == 0}
        for k in [*longer, None]:
            order += [n for n, later in next_ones.items() if later == k]
            order += [] if k is None else [k]
    out: list[Row] = []
    met: dict[Any, list[dict[str, Any]]] = {}
    empty: dict[Any, int | None] = {}
    for count, n in enumerate(order, 1):
        ts, track, duration, pair, name = given[n]
        beside = met.get(track, [])
        if duration != 0 or pair is not None or empty.get(track) != ts:
            beside = [one for one in beside if one["end"] > ts or is_around(one, given[n])]
        empty[track] = ts if duration == 0 and pair is None else None
        parent = next((other for other in reversed(beside) if other["end"] >= last[n]), None)
        taken = {other["lane"] for other in beside}
        free = min(set(range(len(taken) + 1)) - taken)
        later = [] if parent is None else [other["lane"] for other in beside if other["id"] > parent["id"]]
        lane = free if parent is None or parent["lane"] in later else parent["lane"]
        depth = 0 if parent is None else parent["depth"] + 1
        place = {"id": count, "end": last[n], "lane": lane, "depth": depth, "pair": pair}
        met[track] = [*beside, place]
        out.append((ts, duration, track, count, parent and parent["id"], depth, lane, name))
    return out


def is_around(one: dict[str, Any], slice_: Row) -> bool:
    """Whether a pair ends when a pair without length that is deeper begins and ends."""
    ts, _, duration, pair, _ = slice_
    return duration == 0 and one["end"] == ts and None not in (pair, one["pair"]) and one["pair"] < pair


def laid(table: Any, *, paired: bool = False) -> list[Row]:
    names = ["_ts", "_duration", "track", "id", "parent_id", "depth", "lane", "name"]
    return rows(kernels.nest_lanes(table, partitions=1, names=names, paired=paired))


@bounded(300)
@given(st.data())
def test_oracle_of_both_kinds(data: st.DataObject) -> None:
    times, lengths = st.integers(0, 4), st.sampled_from([0, 0, 1, 2, 5, None])
    slice_ = st.tuples(times, st.sampled_from([1, 2, None]), lengths, st.sampled_from([None, None, 0, 1, 2]))
    drawn = sorted(data.draw(st.lists(slice_, max_size=16)), key=lambda row: row[0])
    kinds = {"duration": pa.int64(), "pair": pa.int32(), "name": pa.string()}
    whole = make("_ts track duration pair name", [(*row, f"f{n}") for n, row in enumerate(drawn)], **kinds)
    table = Table(whole.fields, whole.rows, tuple(data.draw(st.lists(st.integers(0, 16), max_size=5))))
    assert laid(table.whole(), paired=True) == laid(table.cut(), paired=True) == oracle(table, paired=True)


@bounded(300)
@given(st.data())
def test_oracle(data: st.DataObject) -> None:
    slice_ = st.tuples(st.integers(0, 12), st.sampled_from([1, 2, None]), st.sampled_from([*range(9), None]))
    drawn = sorted(data.draw(st.lists(slice_, max_size=16)), key=lambda row: row[0])
    whole = make(NAMES, [(*row, f"f{n}") for n, row in enumerate(drawn)], **KINDS)
    table = Table(whole.fields, whole.rows, tuple(data.draw(st.lists(st.integers(0, 16), max_size=5))))
    found = laid(table.whole())
    assert found == laid(table.cut()) == oracle(table)
    for a in found:
        for b in found[: a[3] - 1]:
            overlap = b[1] is None or b[0] + b[1] > a[0]
            within = b[1] is None or (a[1] is not None and b[0] + b[1] >= a[0] + a[1])
            assert a[2] != b[2] or a[6] != b[6] or not overlap or within, "slices of one lane nest"


def test_overlapping_slices_are_on_separate_lanes() -> None:
    slices = [(0, 1, 100, "p"), (0, 1, 10, "a"), (5, 1, 10, "b"), (6, 1, 3, "c"), (20, 1, 5, "d"), (90, 1, 20, "e")]
    assert [(r[7], r[4], r[5], r[6]) for r in laid(make(NAMES, slices, **KINDS).whole())] == [
        ("p", None, 0, 0),
        ("a", 1, 1, 0),
        ("b", 1, 1, 1),
        ("c", 3, 2, 1),
        ("d", 1, 1, 0),
        ("e", None, 0, 1),
    ]


@pytest.mark.parametrize("duration", [-1, (1 << 63) - 1])
def test_impossible_slices_are_refused(duration: int) -> None:
    with pytest.raises(pa.ArrowInvalid, match="slice without a possible duration at 5 in partition track=7"):
        laid(make(NAMES, [(5, 7, duration, "f")], **KINDS).whole())
