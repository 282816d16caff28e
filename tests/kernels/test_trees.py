"""Questions of rows that name their parents against walks over dictionaries."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.bounds import bounded
from tests.kernels.tables import Row, rows

Edge = tuple[int | None, int | None]
EDGES = st.lists(
    st.tuples(st.one_of(st.none(), st.integers(0, 9)), st.one_of(st.none(), st.integers(0, 9))), max_size=14
)


def _table(names: str, found: list[Row], cut: int) -> pa.Table:
    columns = list(zip(*found, strict=True)) or [()] * len(names.split())
    text = {"name", "stack"}
    whole = pa.table(
        {n: pa.array(c, pa.string() if n in text else pa.int64()) for n, c in zip(names.split(), columns, strict=True)}
    )
    cut = min(cut, len(whole))
    return pa.concat_tables([whole.slice(0, cut), whole.slice(cut)])


def _walk(edges: list[Edge], row: int) -> list[int]:
    """Return the rows above one, circles cut at their row that comes first."""
    first: dict[int, int] = {}
    for n, (own, _) in enumerate(edges):
        if own is not None:
            first.setdefault(own, n)
    above = [first.get(p) if p is not None else None for _, p in edges]
    for start in range(len(edges)):
        seen: list[int] = []
        at: int | None = start
        while at is not None and at not in seen:
            seen.append(at)
            at = above[at]
        if at is not None:
            above[at] = None
    walked: list[int] = []
    at = above[row]
    while at is not None:
        walked.append(at)
        at = above[at]
    return walked


@bounded(300)
@given(EDGES, st.integers(0, 9), st.integers(0, 14))
def test_ancestry(edges: list[Edge], wanted: int, cut: int) -> None:
    table = _table("id parent_id", edges, cut)
    start = next((n for n, (own, _) in enumerate(edges) if own == wanted), None)
    names = ["id", "distance"]
    up = rows(kernels.ancestry(table, start=wanted, down=False, names=names))
    down = rows(kernels.ancestry(table, start=wanted, down=True, names=names))
    if start is None:
        assert up == down == []
        return
    assert up == [(edges[row][0], n + 1) for n, row in enumerate(_walk(edges, start))]
    below = [(n, _walk(edges, n)) for n in range(len(edges))]
    expected = [(edges[n][0] or 0, above.index(start) + 1) for n, above in below if start in above]
    assert down == expected


@bounded(200)
@given(EDGES, st.integers(0, 9))
def test_reachable(edges: list[Edge], start: int) -> None:
    found: dict[Any, Any] = dict(
        rows(kernels.reachable(_table("from_id to_id", edges, 3), start=start, names=["id", "distance"]))
    )
    expected, edge = {start: 0}, [start]
    while edge:
        edge = [to for source in edge for own, to in edges if own == source and to is not None]
        edge = [to for to in dict.fromkeys(edge) if to not in expected]
        distance = max(expected.values()) + 1
        expected |= dict.fromkeys(edge, distance)
    assert found == expected


SLICES = st.lists(
    st.tuples(
        st.integers(0, 12),
        st.one_of(st.none(), st.integers(0, 9)),
        st.integers(0, 9),
        st.sampled_from(["a", "b", None]),
    ),
    max_size=9,
)


def _tree(drawn: list[tuple[int, int | None, int, str | None]]) -> list[Row]:
    """Give slices in order of time ids, and parents that came before."""
    ordered = sorted(drawn, key=lambda row: row[0])
    return [(t, n + 1, None if n == 0 or p > n else p or None, d, name) for n, (t, d, p, name) in enumerate(ordered)]


def _own(slices: list[Row]) -> dict[int, int | None]:
    """Count the nanoseconds of each slice that no child covers."""
    found: dict[int, int | None] = {}
    for t, own, _, d, _ in slices:
        inside = [(s, None if e is None else s + e) for s, _, p, e, _ in slices if p == own]
        free = [x for x in range(t, t + (d or 0)) if not any(s <= x and (e is None or x < e) for s, e in inside)]
        found[own] = None if d is None else len(free)
    return found


@bounded(300)
@given(SLICES, st.integers(0, 9))
def test_self_time(drawn: Any, cut: int) -> None:
    slices = _tree(drawn)
    table = _table("_ts id parent_id duration name", slices, cut).drop_columns(["name"])
    assert dict(rows(kernels.self_time(table, names=["id", "self"]))) == _own(slices)


def _stack(slices: list[Row], own: int) -> tuple[str | None, ...]:
    by_id = {row[1]: row for row in slices}
    names: list[str | None] = []
    at: int | None = own
    while at is not None:
        names.append(by_id[at][4])
        at = by_id[at][2]
    return tuple(reversed(names))


FLAME = ["id", "parent_id", "depth", "name", "count", "total", "self", "recursive", "stack"]


@bounded(300)
@given(SLICES, st.integers(0, 9))
def test_flame_graph_of_slices(drawn: Any, cut: int) -> None:
    slices = _tree(drawn)
    found = rows(kernels.flame_slices(_table("_ts id parent_id duration name", slices, cut), names=FLAME))
    _check(found, _sums(slices))


@bounded(300)
@given(SLICES, st.integers(0, 9))
def test_flame_graph_of_slices_within_their_parents(drawn: Any, cut: int) -> None:
    ends: dict[int, int | None] = {}
    slices: list[Row] = []
    for t, own, parent, d, name in _tree(drawn):
        end = ends.get(parent)
        slices.append((t, own, None if end is not None and end < t else parent, d, name))
        ends[own] = None if d is None else t + d
    table = _table("_ts id parent_id duration name", slices, cut)
    _check(rows(kernels.flame_slices(table, names=FLAME, strict=True)), _sums(slices))


def _sums(slices: list[Row]) -> dict[tuple[str | None, ...], Any]:
    own = _own(slices)
    sums: dict[tuple[str | None, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for row in slices:
        sums[_stack(slices, row[1])][0] += 1
        sums[_stack(slices, row[1])][1] += row[3] or 0
        sums[_stack(slices, row[1])][2] += own[row[1]] or 0
    return {stack: tuple(values) for stack, values in sums.items()}


def _check(found: list[Row], expected: dict[tuple[str | None, ...], Any]) -> None:
    stacks: dict[int, tuple[str | None, ...]] = {}
    for number, parent, depth, name, count, total, own, recursive, text in found:
        stack = (*(stacks[parent] if parent is not None else ()), name)
        stacks[number] = stack
        assert (count, total, own) == expected[stack]
        assert (depth, recursive) == (len(stack) - 1, name in stack[:-1])
        assert text == ";".join(one or "?" for one in stack)
    assert Counter(stacks.values()) == Counter(list(expected))


@bounded(200)
@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(0, 9), st.lists(st.sampled_from("ab"), min_size=1, max_size=3)))
)
def test_flame_graph_of_samples(drawn: list[tuple[int, int, list[str]]]) -> None:
    table = _table("count weight stack", [(c, w, ";".join(s)) for c, w, s in drawn], 2)
    sums: dict[tuple[str | None, ...], list[int]] = defaultdict(lambda: [0, 0, 0])
    for count, weight, stack in drawn:
        for length in range(1, len(stack) + 1):
            sums[tuple(stack[:length])][0] += count
            sums[tuple(stack[:length])][1] += weight
        sums[tuple(stack)][2] += weight
    found = rows(kernels.flame_stacks(table, names=FLAME))
    _check(found, {stack: tuple(values) for stack, values in sums.items()})


def test_the_greatest_comes_first_and_each_before_what_is_in_it() -> None:
    slices = [(0, 1, None, 9, "b"), (1, 2, 1, 2, "y"), (4, 3, 1, 3, "x"), (20, 4, None, 10, "a"), (40, 5, None, 9, "c")]
    found = rows(kernels.flame_slices(_table("_ts id parent_id duration name", slices, 0), names=FLAME))
    assert [row[8] for row in found] == ["a", "b", "b;x", "b;y", "c"]


def test_deep_stacks_are_cut_in_the_middle() -> None:
    slices = [(n, n + 1, n or None, 5000 - 2 * n, f"f{n}") for n in range(1000)]
    table = _table("_ts id parent_id duration name", slices, 0)
    last = rows(kernels.flame_slices(table, names=FLAME))[-1]
    assert last[2] == 999
    assert last[8].split(";")[254:258] == ["f254", "f255", "...", "f744"]
    assert len(last[8].split(";")) == 513
