"""Arrange tracks in a tree by their paths, in the order in which users look for them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from dctv.record import record
from dctv.timeline.gathering import FoundTrack
from dctv.timeline.track import Track, TrackKind

_DIGITS = re.compile(r"(\d+)")


@record
class TrackLeaf:
    """A track with rows, and its metadata."""

    found: FoundTrack
    home: int
    """The index of its source."""
    source: str
    rows: int
    first: int
    last: int
    busy: int
    """Its busy time in ns."""


class _Node:
    """A name below another one, and the tracks with that path."""

    __slots__ = ("busy", "children", "leaves", "name", "ranks")

    def __init__(self, name: str) -> None:
        self.name = name
        self.leaves: list[TrackLeaf] = []
        self.children: dict[str, _Node] = {}
        self.ranks: set[int] = set()
        self.busy = 0

    def key(self) -> tuple[bool, int, int, list[tuple[bool, int, str]]]:
        """Return the sort key among its siblings."""
        return not self.ranks, min(self.ranks, default=0), -self.busy, natural(self.name)


def natural(name: str) -> list[tuple[bool, int, str]]:
    """Return a key that sorts `CPU 10` after `CPU 9`."""
    return [(part.isdecimal(), int(part) if part.isdecimal() else 0, part) for part in _DIGITS.split(name)]


def tree(found: Sequence[TrackLeaf]) -> Iterator[tuple[Track, TrackLeaf | None]]:
    """Yield all tracks with their origins, and the groups around them, parents before their children."""
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
    # Not recursive: a path may have more names than Python has frames.
    waiting: list[tuple[_Node, int | None, int]] = [(node, None, 0) for node in _last_first(root)]
    while waiting:
        node, parent, depth = waiting.pop()
        own = number
        # Tracks of the same name from several sources are siblings.
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
