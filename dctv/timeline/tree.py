"""Paths of tracks -> a tree, in the order in which people look for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dctv.record import record
from dctv.timeline.gathering import FoundTrack
from dctv.timeline.track import Track, TrackKind

_DIGITS = re.compile(r"(\d+)")


@record
class TrackLeaf:
    """A track with rows, and what is known of them."""

    found: FoundTrack
    home: int
    """Which of several sources it came from."""
    source: str
    rows: int
    first: int
    last: int
    busy: int
    """For how many ns something was done on it."""


class _Node:
    """A name below another one, and the tracks that are called that."""

    __slots__ = ("busy", "children", "leaves", "name", "ranks")

    def __init__(self, name: str) -> None:
        self.name = name
        self.leaves: list[TrackLeaf] = []
        self.children: dict[str, _Node] = {}
        self.ranks: set[int] = set()
        self.busy = 0

    def key(self) -> tuple[bool, int, int, list[tuple[bool, int, str]]]:
        """Return what it is ordered by among its siblings."""
        return not self.ranks, min(self.ranks, default=0), -self.busy, natural(self.name)


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Return what names are ordered by so that `CPU 10` comes after `CPU 9`."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _DIGITS.split(name)]


def tree(found: Sequence[TrackLeaf]) -> Iterator[tuple[Track, TrackLeaf | None]]:
    """Yield all tracks with what they were made of, and the groups that they are in, parents before their children."""
    root = _Node("")
    for one in found:
        node = root
        for level, name in enumerate(one.found.path):
            node = node.children.setdefault(name, _Node(name))
            node.busy += one.busy
            rank = one.found.ranks[level] if level < len(one.found.ranks) else None
            if rank is not None:
                node.ranks.add(rank)
        node.leaves.append(one)
    number = 0
    # Not by recursion: a path may have more names than Python has frames.
    waiting: list[tuple[_Node, int | None, int]] = [(node, None, 0) for node in _last_first(root)]
    while waiting:
        node, parent, depth = waiting.pop()
        own = number
        # Rows of one name that came from several sources are tracks side by side.
        leaves: list[TrackLeaf | None] = [*node.leaves] or [None]
        for leaf in leaves:
            yield _track(node, leaf, number, parent, depth), leaf
            number += 1
        waiting += [(child, own, depth + 1) for child in _last_first(node)]


def _last_first(node: _Node) -> list[_Node]:
    return sorted(node.children.values(), key=_Node.key, reverse=True)


def _track(node: _Node, leaf: TrackLeaf | None, number: int, parent: int | None, depth: int) -> Track:
    if leaf is None:
        return Track(number, parent, node.name, TrackKind.GROUP, depth, 0, 0, None, None, None, "")
    found = leaf.found
    rows, first, last = leaf.rows, leaf.first, leaf.last
    return Track(number, parent, node.name, found.kind, depth, found.lanes, rows, first, last, found.unit, leaf.source)
