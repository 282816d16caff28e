"""Patterns of tracks, and timelines of several traces as one."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pytest

from dctv.draw.choice import chosen
from dctv.draw.joined import joined
from dctv.errors import UsageError
from dctv.timeline.track import Track, TrackKind
from tests.draw.scenes import cell, table, track

TREE = [
    track(0, TrackKind.GROUP, "CPUs"),
    track(1, name="CPU 0", parent=0),
    track(2, name="CPU 1", parent=0),
    track(3, TrackKind.GROUP, "Processes"),
    track(4, TrackKind.GROUP, "server: 7", parent=3, depth=1),
    track(5, name="main", parent=4, depth=2),
    track(6, name="worker", parent=4, depth=2),
    track(7, name="alone"),
]


@pytest.mark.parametrize(
    ("patterns", "ids"),
    [
        ([], [0, 1, 2, 3, 4, 5, 6, 7]),
        (["CPUs"], [0, 1, 2]),
        (["cpus/cpu 1"], [0, 2]),
        (["*/CPU ?"], [0, 1, 2]),
        (["*/MAIN", "al*"], [3, 4, 5, 7]),
        (["processes/server*"], [3, 4, 5, 6]),
        (["*/worker", "*/main"], [3, 4, 5, 6]),
        (["*"], [0, 1, 2, 3, 4, 5, 6, 7]),
        (["cpus/cpu [12]"], [0, 2]),
    ],
)
def test_patterns_choose_tracks_with_their_children_and_parents(patterns: list[str], ids: list[int]) -> None:
    assert [one.id for one in chosen(TREE, patterns)] == ids


@pytest.mark.parametrize(
    ("pattern", "hint"),
    [
        ("CPUs/CPU 17", "did you mean `CPUs/CPU 1`?"),
        ("wrker", "did you mean `Processes/server: 7/worker`?"),
        ("*mian*", "did you mean `Processes/server: 7/main`?"),
        ("zzz", "tracks are such as `CPUs`"),
    ],
)
def test_a_pattern_without_matches_is_refused(pattern: str, hint: str) -> None:
    with pytest.raises(UsageError) as raised:
        chosen(TREE, ["CPUs", pattern])
    assert (raised.value.message, raised.value.hint) == (f"no track fits `{pattern}`", hint)


def test_there_may_be_no_tracks_to_choose_from() -> None:
    assert chosen([], []) == []
    with pytest.raises(UsageError, match=r"^error: no track fits `x`: there are none$"):
        chosen([], ["x"])


def test_hostile_patterns_and_names_are_answered() -> None:
    tracks = [track(0, name="a" * 10**6), track(1, name="\x1b[31m/[!]")]
    assert [one.id for one in chosen(tracks, ["*a" * 40])] == [0]
    with pytest.raises(UsageError, match=r"^error: no track fits `b`\n") as raised:
        chosen(tracks, ["b"])
    assert raised.value.hint == "tracks are such as `" + "a" * 239 + "…`"


class Fake:
    """A timeline of which every track has one cell, named after what was asked."""

    def __init__(self, tracks: Sequence[Track], begin: int, end: int) -> None:
        self.tracks, self.begin, self.end = tuple(tracks), begin, end

    def cells(self, tracks: Sequence[int], start: int, stop: int, step: int) -> pa.Table:
        return table(cell(number, start, stop - start, f"{self.tracks[number].name} {step}") for number in tracks)


def test_one_timeline_is_as_it_is() -> None:
    one = Fake(TREE, 0, 9)
    assert joined({"a": one}) is one


def test_timelines_are_groups_of_one() -> None:
    both = joined({"a": Fake(TREE[:3], 5, 90), "none": Fake([], 0, 0), "b": Fake(TREE, 3, 70)})
    assert (both.begin, both.end) == (3, 90)
    assert [one.id for one in both.tracks] == list(range(14))
    assert [(one.name, one.parent, one.depth) for one in both.tracks[:7]] == [
        ("a", None, 0),
        ("CPUs", 0, 1),
        ("CPU 0", 1, 2),
        ("CPU 1", 1, 2),
        ("none", None, 0),
        ("b", None, 0),
        ("CPUs", 5, 1),
    ]
    found = both.cells([0, 2, 5, 13], 10, 20, 4)
    assert list(zip(*(found.column(name).to_pylist() for name in ("track", "name")), strict=True)) == [
        (2, "CPU 0 4"),
        (13, "alone 4"),
    ]
