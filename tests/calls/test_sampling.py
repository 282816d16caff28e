"""Samples of calls, and each point that the request for them left open, on small trees."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from dctv.errors import UsageError
from tests.calls.trees import Call, filtered, filters

Tree = tuple[Any, ...]
A: Tree = ("a", ("b", ("c", ("e",))))
ABC5 = [("d", A, A, A, A, A)]


def calls_of(*threads: list[Tree]) -> list[Call]:
    """Write trees of threads, one after the other, as calls that take twice as long as their children."""
    clock, ids = count(1), count(1)
    made: list[Call] = []

    def call(tree: Tree, tid: int, parent: Call | None) -> None:
        one = Call(next(ids), tid, next(clock), tree[0], 0, parent=parent)
        made.append(one)
        for inner in tree[1:]:
            call(inner, tid, one)
        one.end = next(clock)

    for tid, trees in enumerate(threads):
        for tree in trees:
            call(tree, tid, None)
    return made


def shown(calls: list[Call], *words: str, **options: Any) -> str:
    """Return the shown calls: names, with `>` per level, and `|` between threads."""
    names = {call.id: call.name for call in calls}
    rows = sorted(filtered(calls, filters(*words, **options)), key=lambda row: row[2])
    texts: list[str] = []
    for tid in sorted({call.tid for call in calls}):
        own = [f"{'>' * row[4]}{names[row[2]]}" for row in rows if row[1] == tid]
        texts.append(" ".join(own))
    return " | ".join(texts)


def test_a_filter_hides_other_executions_with_their_callees() -> None:
    assert shown(calls_of(ABC5), "-F d", "-F a@sample=2") == "d >a >>b >>>c >>>>e >a >>b >>>c >>>>e"


def test_a_trigger_hides_the_call_alone() -> None:
    odd, even = ">b >>c >>>e", ">a >>b >>>c >>>>e"
    assert shown(calls_of(ABC5), "-T a@sample=2") == f"d {odd} {even} {odd} {even} {odd}"


def test_a_trigger_that_filters_is_a_filter() -> None:
    words = ("-F d", "-T a@filter,sample=2")
    assert shown(calls_of(ABC5), *words) == shown(calls_of(ABC5), "-F d", "-F a@sample=2")


def test_hidden_calls_are_not_counted() -> None:
    assert shown(calls_of(ABC5), "-F a@sample=2", "-F c@sample=2") == "a >b a >b >>c >>>e"
    assert shown(calls_of(ABC5), "-F a", "-F c@sample=2") == "a >b a >b >>c >>>e a >b a >b >>c >>>e a >b"


@pytest.mark.parametrize(("n", "times"), [(1, 5), (3, 1), (5, 1), (6, 0)])
def test_each_nth_is_shown(n: int, times: int) -> None:
    assert shown(calls_of(ABC5), f"-F a@sample={n}") == " ".join(["a >b >>c >>>e"] * times)


def test_each_thread_counts_by_itself() -> None:
    threads = calls_of([("a",)] * 3, [("a",)] * 4, [("a",)] * 5)
    assert shown(threads, "-F a@sample=2") == "a | a a | a a"
    assert shown(threads, "-F a@sample=4") == " | a | a"


def test_time_does_not_matter_for_counting() -> None:
    calls = calls_of([("a",), ("a", ("b",)), ("a",), ("a", ("b",))])
    assert shown(calls, "-F a@sample=2", time=2) == "a a"
    assert shown(calls_of([("a", ("b",)), ("a",)]), "-F a@sample=2", time=2) == ""


def test_callers_do_not_matter_for_counting() -> None:
    calls = calls_of([("a",), ("a", ("b",)), ("a", ("b",)), ("a",)])
    assert shown(calls, "-F a@sample=2", "-C b") == "a >b"


def test_calls_below_the_depth_are_not_counted() -> None:
    calls = calls_of([("b", ("c", ("a",)), ("a",), ("c", ("a",)), ("a",))])
    assert shown(calls, "-T a@sample=2", depth=2) == "b >c >c >a"


def test_calls_while_the_trace_is_off_are_not_counted() -> None:
    calls = calls_of([("a",), ("b",), ("a",), ("a",), ("c",), ("a",), ("b",), ("a",), ("a",)])
    words = ("-T b@trace_on", "-T c@trace_off", "-T a@sample=2")
    assert shown(calls, *words, enabled=False) == "b a b a"


def test_calls_outside_the_range_are_not_counted() -> None:
    calls = calls_of([("a",), ("a",), ("a",), ("a",)])
    ids = [row[2] for row in filtered(calls, filters("-F a@sample=2", start=3))]
    assert ids == [3]


def test_recursion_counts_shown_calls() -> None:
    nested = ("a", ("a", ("a",)))
    assert shown(calls_of([nested]), "-F a@sample=2") == ""
    assert shown(calls_of([("a",), nested]), "-F a@sample=2") == "a"
    assert shown(calls_of([("a",), nested]), "-F a@sample=3") == ""
    assert shown(calls_of([("a",), ("a",), nested]), "-F a@sample=3") == "a"
    assert shown(calls_of([nested, nested]), "-T a@sample=2") == "a a >a"


def test_every_zeroth_is_an_error() -> None:
    with pytest.raises(UsageError, match="expected a number from 1, found `0`"):
        filters("-F a@sample=0")


def test_conditions_apply_before_sampling() -> None:
    calls = calls_of([("a",)] * 6)
    for number, call in enumerate(calls):
        call.args = number % 2
    assert [row[2] for row in filtered(calls, filters("-F a@if:arg1==1,sample=2"))] == [4]


@pytest.mark.parametrize("words", [["-N a"], ["-H a"]])
def test_calls_hidden_by_other_filters_are_not_counted(words: list[str]) -> None:
    calls = calls_of([("a", ("b",)), ("b",)])
    assert shown(calls, *words, "-T b@sample=1", "-T a@sample=2") == shown(calls, *words)


def test_a_new_thread_counts_anew() -> None:
    assert shown(calls_of([("a",)], [("a",)], [("a",), ("a",)]), "-F a@sample=2") == " |  | a"


def test_the_later_number_counts() -> None:
    assert shown(calls_of([("a",)] * 6), "-F a@sample=2", "-F ^a$@sample=3") == "a a"
    assert shown(calls_of([("a",)] * 6), "-F a@sample=3", "-T a@sample=2") == "a a a"
