"""Filters of calls against a walk of each tree, and what must hold of samples."""

from __future__ import annotations

from collections import Counter
from random import Random

from hypothesis import given
from hypothesis import strategies as st

from dctv.calls.rules import CallFilters
from tests.bounds import bounded
from tests.calls.trees import NAMES, Call, filtered, filters, traces, walked

_NAME = st.sampled_from([*NAMES, "a|c", "^[bd]$", "."])
_ACTION = st.sampled_from(
    [
        "sample=1",
        "sample=2",
        "sample=3",
        "depth=0",
        "depth=1",
        "depth=2",
        "time=0",
        "time=4",
        "size=15",
        "size=0",
        "if:arg1==1",
    ]
)
_MORE = st.sampled_from(["trace", "filter", "filter,sample=2", "caller", "hide", "notrace", "filter,depth=1"])
_WORD = st.one_of(
    st.builds("-F {}@sample={}".format, st.sampled_from("abc"), st.integers(2, 3)),
    st.builds("-T {}@trace".format, st.sampled_from("abc")),
    st.builds("-F {}".format, _NAME),
    st.builds("-F {}@{}".format, _NAME, _ACTION),
    st.builds("-N {}".format, _NAME),
    st.builds("-N {}@if:arg1==2".format, _NAME),
    st.builds("-T {}@{}".format, _NAME, st.one_of(_ACTION, _MORE)),
    st.builds("-C {}".format, _NAME),
    st.builds("-H {}".format, _NAME),
    st.builds("-L {}.c".format, st.sampled_from(NAMES)),
    st.builds("-L {}.c@hide".format, st.sampled_from(NAMES)),
)


@st.composite
def some_filters(draw: st.DrawFn) -> CallFilters:
    """Draw up to four words and options."""
    options: dict[str, int] = {}
    for name, values in {"depth": [1, 2, 3], "time": [3, 6], "size": [15, 25]}.items():
        if draw(st.integers(0, 2)) == 0:
            options[name] = draw(st.sampled_from(values))
    return filters(*draw(st.lists(_WORD, max_size=5)), **options)


def _places(calls: list[Call], chosen: CallFilters, cut: int = 0) -> list[tuple[int, int | None, int]]:
    return sorted((row[2], row[3], row[4]) for row in filtered(calls, chosen, cut))


@bounded(600)
@given(traces(), some_filters(), st.integers(0, 40))
def test_a_walk_shows_the_same(calls: list[Call], chosen: CallFilters, cut: int) -> None:
    assert _places(calls, chosen, min(cut, len(calls))) == walked(calls, chosen)


@bounded(50)
@given(traces(), some_filters())
def test_indents_are_depths_where_nothing_is_switched(calls: list[Call], chosen: CallFilters) -> None:
    assert all(row[4] == row[6] == row[7] for row in filtered(calls, chosen))


@bounded(100)
@given(traces(), some_filters())
def test_rows_ascend_unless_they_are_decided_late(calls: list[Call], chosen: CallFilters) -> None:
    ids = [row[2] for row in filtered(calls, chosen)]
    assert len(set(ids)) == len(ids)
    assert not chosen.in_order or ids == sorted(ids)


@bounded(200)
@given(traces(80), some_filters(), st.integers(0, 80), st.randoms(use_true_random=False))
def test_calls_of_one_time_come_in_any_order(calls: list[Call], chosen: CallFilters, cut: int, random: Random) -> None:
    for call in calls:
        call.ts //= 8
        call.end = None if call.end is None else call.end // 8
    mixed = sorted(calls, key=lambda call: (call.ts, random.random()))
    assert filtered(mixed, chosen, min(cut, len(calls))) == filtered(calls, chosen)


@bounded(100)
@given(traces(), st.sampled_from(["-F a", "-T a@depth=2", "-T b@filter", "-F b@if:arg1==1"]))
def test_sampling_one_of_one_keeps_everything(calls: list[Call], word: str) -> None:
    sampled = word + ("," if "@" in word else "@") + "sample=1"
    assert filtered(calls, filters("-F c", sampled)) == filtered(calls, filters("-F c", word))


@bounded(200)
@given(traces(80), st.integers(1, 4), st.sampled_from(["-T", "-F"]))
def test_each_thread_shows_its_share(calls: list[Call], n: int, flag: str) -> None:
    lonely = [Call(call.id, call.tid, call.ts, call.name, 0, call.end) for call in calls if call.parent is None]
    visible = Counter(call.tid for call in lonely if call.name == "a")
    shown = {row[2] for row in filtered(lonely, filters(f"{flag} a@sample={n}"))}
    counted = Counter(call.tid for call in lonely if call.name == "a" and call.id in shown)
    assert counted == Counter({tid: count // n for tid, count in visible.items() if count // n})


@bounded(200)
@given(traces(80), some_filters())
def test_other_threads_do_not_matter(calls: list[Call], chosen: CallFilters) -> None:
    for tid in (1, 2, 3):
        alone = filtered([call for call in calls if call.tid == tid], chosen)
        assert alone == [row for row in filtered(calls, chosen) if row[1] == tid]
