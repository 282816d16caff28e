"""Trees of frames against sums made by walking them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from dctv.cli.flame.frames import FlameTree, compare, shown
from tests.bounds import bounded

Paths = dict[tuple[str, ...], int]


@st.composite
def paths(draw: st.DrawFn) -> Paths:
    """Draw stacks with their own widths; all prefixes of a stack exist too."""
    found: Paths = {}
    own = st.tuples(st.lists(st.sampled_from("abc"), min_size=1, max_size=5), st.integers(0, 20))
    for names, weight in draw(st.lists(own, max_size=15)):
        for length in range(1, len(names) + 1):
            found.setdefault(tuple(names[:length]), 0)
        found[tuple(names)] += weight
    return found


def widths(stacks: Paths) -> Paths:
    return {one: sum(own for path, own in stacks.items() if path[: len(one)] == one) for one in stacks}


def tree(stacks: Paths) -> FlameTree:
    order = sorted(stacks, key=lambda path: (len(path), path))
    place = {path: number for number, path in enumerate(order)}
    wide = widths(stacks)
    sums = np.array([wide[path] for path in order], dtype=np.int64)
    parents = np.array([place[path[:-1]] if len(path) > 1 else -1 for path in order], dtype=np.int64)
    return FlameTree(
        parents,
        np.ones(len(order), dtype=np.int64),
        sums,
        sums,
        pa.chunked_array([[p[-1] for p in order]], pa.string()),
    )


@bounded(80)
@given(paths(), st.integers(0, 30))
def test_omitted_frames_are_counted(stacks: Paths, least: int) -> None:
    wide = widths(stacks)
    drawn = shown(tree(stacks), None, least)
    kept = {path for path, width in wide.items() if width >= max(least, 1)}
    assert len(drawn.frames) == len(kept)
    assert drawn.left_out == len(stacks) - len(kept)
    assert drawn.whole == sum(stacks.values())
    left = [path for path in stacks if path not in kept and (len(path) == 1 or path[:-1] in kept)]
    assert drawn.narrow == sum(wide[path] for path in left)
    for frame in drawn.frames:
        assert frame.before >= 0
        assert frame.before + frame.width <= drawn.whole
        outer = [o for o in drawn.frames if o.depth == frame.depth - 1 and o.before <= frame.before]
        assert frame.depth == 0 or any(frame.before + frame.width <= o.before + o.width for o in outer)


@bounded(80)
@given(paths(), paths())
def test_frames_are_found_by_their_names_and_those_above(first: Paths, other: Paths) -> None:
    compared = compare(tree(first), tree(other))
    wide = widths(other)
    order = sorted(first, key=lambda path: (len(path), path))
    assert compared.widths.tolist() == [wide.get(path, 0) for path in order]
    assert compared.whole == sum(other.values())
    only = [path for path in other if path not in first]
    assert compared.only_other == len(only)
    assert compared.missing == sum(wide[path] for path in only if len(path) == 1 or path[:-1] in first)
