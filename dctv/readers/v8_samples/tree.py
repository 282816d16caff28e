"""Parse the call tree of a V8 profile, in any of its forms, into nodes with parents and stacks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from dctv.record import field, record, replace

_LONGEST = 1 << 20
"""The maximum length of a stack in characters; functions in longer ones have their caller's stack."""
_STACKS = 256 << 20
"""The maximum length of all stacks together: each repeats its caller's."""


@record
class ProfileNode:
    """A function in a call path."""

    number: int
    parent: int | None
    name: str
    url: str | None
    line: int | None
    column: int | None
    own: int
    """Samples, or bytes, of the function itself."""
    stack: str


@record(frozen=False)
class ProfileTree:
    """All nodes by number."""

    nodes: dict[int, ProfileNode] = field(default_factory=dict)
    bad: int = 0
    """Nodes that are invalid, duplicate, or not reachable from the root."""
    deep: int = 0
    """Nodes whose stacks are too long."""


def tree_of(profile: Mapping[str, Any]) -> ProfileTree:
    """Parse the tree of a profile: `nodes` with numbers of children or parents, or `head` with nested children.

    Raises:
        ValueError: its stacks are too long.
    """
    tree = ProfileTree()
    listed = profile.get("nodes")
    size = 0
    for parent, one in _listed(listed, tree) if isinstance(listed, list) else _nested(profile.get("head"), tree):
        node = _node(one, tree.nodes.get(parent) if parent is not None else None)
        if node is None or node.number in tree.nodes:
            tree.bad += 1
            continue
        if len(node.stack) > _LONGEST:
            tree.deep += 1
            node = replace(node, stack=tree.nodes[parent].stack if parent is not None else "")
        size += len(node.stack)
        if size > _STACKS:
            raise ValueError(f"the stacks of its functions have more than {_STACKS >> 20} million characters")
        tree.nodes[node.number] = node
    return tree


def _nested(head: object, tree: ProfileTree) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    waiting: list[tuple[int | None, Any]] = [(None, head)]
    while waiting:
        parent, one = waiting.pop()
        if not isinstance(one, dict):
            tree.bad += 1
            continue
        number = int64_or_none(one.get("id"))
        yield parent, one
        children = one.get("children")
        if isinstance(children, list) and number in tree.nodes:
            waiting += [(number, child) for child in reversed(children)]


def _listed(listed: list[Any], tree: ProfileTree) -> Iterator[tuple[int | None, Mapping[str, Any]]]:
    by_id = {int64_or_none(one.get("id")): one for one in listed if isinstance(one, dict)}
    tree.bad += len(listed) - len(by_id)
    inside: dict[int | None, list[int | None]] = {}
    child_ids: set[int | None] = set()
    for number, one in by_id.items():
        children = one.get("children")
        below = [int64_or_none(child) for child in children] if isinstance(children, list) else []
        inside.setdefault(number, []).extend(below)
        child_ids.update(below)
        if (above := int64_or_none(one.get("parent"))) is not None:
            inside.setdefault(above, []).append(number)
            child_ids.add(number)
    waiting: list[tuple[int | None, int | None]] = [
        (None, number) for number in reversed(by_id) if number not in child_ids
    ]
    visited: set[int | None] = set()
    while waiting:
        parent, number = waiting.pop()
        if number in visited or number not in by_id:
            tree.bad += 1
            continue
        visited.add(number)
        yield parent, by_id[number]
        waiting += [(number, child) for child in reversed(inside.get(number, ()))]
    tree.bad += len(by_id) - len(visited)


def _node(one: Mapping[str, Any], above: ProfileNode | None) -> ProfileNode | None:
    number = int64_or_none(one.get("id"))
    if number is None:
        return None
    frame = one.get("callFrame")
    frame_of: Mapping[str, Any] = frame if isinstance(frame, dict) else one
    name = text(frame_of.get("functionName")) or "(anonymous)"
    own = int64_or_none(one.get("selfSize", one.get("hitCount"))) or 0
    # The root is not a function, and has no time of its own to show.
    shown = name.replace(";", ":")
    if above is None and name == "(root)":
        shown = ""
    stack = f"{above.stack};{shown}" if above is not None and above.stack else shown
    return ProfileNode(
        number,
        None if above is None else above.number,
        name,
        text(frame_of.get("url")) or None,
        int64_or_none(frame_of.get("lineNumber")),
        int64_or_none(frame_of.get("columnNumber")),
        own,
        stack,
    )


def int64_or_none(value: object) -> int | None:
    """Return a number as an integer that fits into 64 bits, else None."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    fits = isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
    return value if fits and isinstance(value, int) else None


def text(value: object) -> str | None:
    """Return a text that is valid UTF-8, else None."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else None
