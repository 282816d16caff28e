"""Stacks and nested calls of start and stop events against a replay with plain lists."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv import _kernels as kernels
from tests.kernels.tables import KEYS, UNTIMED, Row, Table, make, rows

STARTS, STOPS = "_ts k0 k1 rank token", "_ts k0 k1 rank"
TOKENS: dict[str, tuple[pa.DataType, list[Any]]] = {**KEYS, "float": (pa.float64(), [0.5, None])}


def merged(starts: Table, stops: Table, *, ranked: bool) -> Iterator[tuple[int, Row, Row | None]]:
    """Yield time, partition and the row that is pushed, or None."""
    events = [(row, row) for row in starts.rows] + [(row, None) for row in stops.rows]
    late = float("inf")
    rank = (lambda row: late if row[3] is None else row[3]) if ranked else (lambda _: 0)
    events.sort(key=lambda event: (event[0][0], rank(event[0]), event[1] is not None))
    for row, pushed in events:
        yield row[0], row[1:3], pushed


def stacks(starts: Table, stops: Table, *, ranked: bool) -> tuple[list[Row], list[Row], int]:
    """Replay the events; return spans with ids, contents of the ids, and how many stops were ignored."""
    now: dict[Row, tuple[int, tuple[Any, ...]]] = {}
    spans: list[list[Any]] = []
    ignored = 0
    for t, key, pushed in merged(starts, stops, ranked=ranked):
        span, stack = now.get(key, (-1, ()))
        if pushed is None and not stack:
            ignored += 1
            continue
        if stack:
            spans[span][1] = t - spans[span][0]
        now[key] = len(spans), (*stack, pushed[-1]) if pushed else stack[:-1]
        spans.append([t, 0, *key, now[key][1]])
    shown = [span for span in spans if span[1] > 0 and span[-1]]
    ids = {stack: n + 1 for n, stack in enumerate(dict.fromkeys(span[-1] for span in shown))}
    contents = [(n, depth, token) for stack, n in ids.items() for depth, token in enumerate(stack)]
    return [(*span[:-1], ids[span[-1]]) for span in shown], contents, ignored


def nested(starts: Table, stops: Table, *, ranked: bool) -> tuple[list[Row], int]:
    """Replay the events; return calls, and how many stops were without a start."""
    open_calls: dict[Row, list[list[Any]]] = {}
    calls: list[list[Any]] = []
    unmatched = 0
    for t, key, pushed in merged(starts, stops, ranked=ranked):
        stack = open_calls.setdefault(key, [])
        if pushed is not None:
            parent = stack[-1][4] if stack else None
            calls.append([t, None, *key, len(calls) + 1, parent, len(stack), 0, pushed[-1]])
            stack.append(calls[-1])
        elif stack:
            call = stack.pop()
            call[1] = t - call[0]
            call[7] += call[1]
            if stack:
                stack[-1][7] -= call[1]
        else:
            unmatched += 1
    return [(*c[:7], None if c[1] is None else c[7], c[8]) for c in calls], unmatched


@st.composite
def events(draw: st.DrawFn) -> tuple[Table, Table]:
    """Draw starts and stops of a few partitions, unbalanced, with equal times and equal ranks."""
    first, second = (draw(st.sampled_from(sorted(KEYS))) for _ in range(2))
    token = draw(st.sampled_from(sorted(TOKENS)))
    k0, k1 = st.sampled_from(KEYS[first][1][:2]), st.sampled_from(KEYS[second][1][1:])
    rank = st.sampled_from([0, 1, 2, None])
    one = st.tuples(st.integers(0, 12), k0, k1, rank)
    kinds = {"k0": KEYS[first][0], "k1": KEYS[second][0], "token": TOKENS[token][0]}
    tables = []
    for names in (STARTS, STOPS):
        drawn = draw(st.lists(one, max_size=14))
        drawn.sort(key=lambda row: (row[0], float("inf") if row[3] is None else row[3]))
        made = [(*row, draw(st.sampled_from(TOKENS[token][1]))) if names == STARTS else row for row in drawn]
        whole = make(names, made, **kinds)
        tables.append(Table(whole.fields, whole.rows, tuple(draw(st.lists(st.integers(0, 14), max_size=5)))))
    return tables[0], tables[1]


def run(name: str, starts: Any, stops: Any, names: str, *, ranked: bool) -> tuple[list[Row], int]:
    """Run a kernel; without ranks, the inputs have none."""
    if not ranked:
        starts, stops = starts.drop_columns("rank"), stops.drop_columns("rank")
    sweep = getattr(kernels, name)
    reader, counter = sweep(starts, stops, partitions=2, ranked=ranked, names=names.split())
    return rows(reader), counter.value


@UNTIMED
@given(tables=events(), ranked=st.booleans())
def test_stacks(tables: tuple[Table, Table], *, ranked: bool) -> None:
    spans, contents, ignored = stacks(*tables, ranked=ranked)
    names = "_ts _duration k0 k1 stack_id"
    for starts, stops in ([t.whole() for t in tables], [t.cut() for t in tables]):
        assert run("stack_history", starts, stops, names, ranked=ranked) == (spans, ignored)
        assert run("stack_contents", starts, stops, "stack_id depth token", ranked=ranked) == (contents, ignored)


@UNTIMED
@given(tables=events(), ranked=st.booleans())
def test_pairs(tables: tuple[Table, Table], *, ranked: bool) -> None:
    expected = nested(*tables, ranked=ranked)
    names = "_ts _duration k0 k1 id parent_id depth self_time token"
    assert run("nest_pairs", tables[0].whole(), tables[1].whole(), names, ranked=ranked) == expected
    assert run("nest_pairs", tables[0].cut(), tables[1].cut(), names, ranked=ranked) == expected


def test_long_streams() -> None:
    """Many chunks, with one call over all of them, which lets everything else wait."""
    count = 200_000
    starts = pa.table({"_ts": [0, *range(1, 2 * count, 2)], "token": ["main", *(f"f{n % 3}" for n in range(count))]})
    stops = pa.table({"_ts": range(2, 2 * count + 4, 2)})
    reader, counter = kernels.stack_history(
        starts, stops, partitions=0, ranked=False, names=["_ts", "_duration", "stack_id"]
    )
    found = rows(reader)
    ids = [found_id for *_, found_id in found]
    assert (len(found), counter.value) == (2 * count + 1, 0)
    assert ids[:8] == [1, 2, 1, 3, 1, 4, 1, 2]
    assert [ts for ts, *_ in found] == list(range(2 * count + 1))
    names = ["_ts", "_duration", "id", "parent_id", "depth", "self_time", "token"]
    reader, _ = kernels.nest_pairs(starts, stops, partitions=0, ranked=False, names=names)
    calls = rows(reader)
    assert calls[0] == (0, 2 * count + 2, 1, None, 0, count + 2, "main")
    assert calls[-1] == (2 * count - 1, 1, count + 1, 1, 1, 1, f"f{(count - 1) % 3}")


def test_a_deep_recursion() -> None:
    """As many distinct stacks as calls, stored in a trie."""
    depth = 100_000
    starts = pa.table({"_ts": range(depth), "token": ["f"] * depth})
    stops = pa.table({"_ts": range(depth, 2 * depth)})
    reader, _ = kernels.stack_history(starts, stops, partitions=0, ranked=False, names=["_ts", "_duration", "stack_id"])
    # The deepest stack has its span from the last start to the first stop.
    assert [n for *_, n in rows(reader)] == [*range(1, depth + 1), *range(depth - 1, 0, -1)]


def test_many_distinct_stacks() -> None:
    """Tens of thousands of stacks of few tokens, most of them met again."""
    random = Random(5)
    times = sorted(random.sample(range(1_000_000), 24_000))
    pushes = [random.random() < 0.52 for _ in times]
    pairs = list(zip(times, pushes, strict=True))
    starts = make("_ts k0 k1 rank token", [(t, t % 3, 0, 0, random.randrange(4)) for t, push in pairs if push])
    stops = make("_ts k0 k1 rank", [(t, t % 3, 0, 0) for t, push in pairs if not push])
    spans, contents, ignored = stacks(starts, stops, ranked=False)
    assert max(span[-1] for span in spans) > 9_000
    names = "_ts _duration k0 k1 stack_id"
    assert run("stack_history", starts.whole(), stops.whole(), names, ranked=False) == (spans, ignored)
    found, _ = run("stack_contents", starts.whole(), stops.whole(), "stack_id depth token", ranked=False)
    assert found == contents


@pytest.mark.parametrize(
    ("starts", "stops", "ranked", "message"),
    [
        ("_ts", "_ts", False, "the start input has no token"),
        ("_ts token", "_ts", True, "the stop input has no rank of type Int64"),
    ],
)
def test_inputs_that_do_not_fit(starts: str, stops: str, *, ranked: bool, message: str) -> None:
    tables = [make(names, []).whole() for names in (starts, stops)]
    with pytest.raises(ValueError, match=message):
        kernels.stack_history(*tables, partitions=0, ranked=ranked, names=["_ts", "_duration", "stack_id"])


def test_a_span_too_long() -> None:
    starts = make("_ts token", [(-(1 << 62), 1)]).whole()
    stops = make("_ts", [((1 << 63) - 2,)]).whole()
    reader, _ = kernels.stack_history(starts, stops, partitions=0, ranked=False, names=["_ts", "_duration", "id"])
    with pytest.raises(pa.ArrowInvalid, match="is longer than a duration can say"):
        rows(reader)
