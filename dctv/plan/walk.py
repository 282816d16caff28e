"""Walk expressions and queries, and put them together again with other parts."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator
from typing import Any, TypeVar, cast

from dctv.errors import SourceText
from dctv.plan.expressions import Binary, Call, Cast, Column, Subquery, Text
from dctv.plan.node import Node, Query
from dctv.plan.queries import FromItem, Select
from dctv.record import fields, replace

N = TypeVar("N", bound=Node)

_PLAIN = frozenset(("str", "bool", "str | None", "bool | None", "tuple[str, ...]", "Place | None"))
"""Types of fields, as they are annotated, that hold no nodes."""
_parts: dict[type, tuple[str, ...]] = {}
"""Fields of each class that may hold nodes."""


def _fields_of(kind: type) -> tuple[str, ...]:
    if kind not in _parts:
        named = [one for one in fields(kind) if one.type not in _PLAIN and not str(one.type).startswith("Literal")]
        _parts[kind] = tuple(one.name for one in named)
    return _parts[kind]


def children(node: Node) -> Iterator[Node]:
    """Yield the direct children of a node, in the order of its fields."""
    for name in _fields_of(type(node)):
        value = getattr(node, name)
        if type(value) is tuple:
            yield from _within(value)
        elif value is not None and isinstance(value, Node):
            yield value


def _within(values: tuple[Any, ...]) -> Iterator[Node]:
    for value in values:
        if type(value) is tuple:
            yield from _within(value)
        elif isinstance(value, Node):
            yield value


def walk(*roots: Node | None) -> Iterator[Node]:
    """Yield nodes and all that is within them, in no order."""
    stack: list[Any] = [root for root in roots if root is not None]
    while stack:
        node = stack.pop()
        if type(node) is tuple:
            stack += node
            continue
        if not isinstance(node, Node):
            continue
        yield node
        for name in _fields_of(type(node)):
            value = getattr(node, name)
            if value:  # Neither None nor an empty tuple; a node is always true.
                stack.append(value)


def own(*roots: Node | None) -> Iterator[Node]:
    """Yield nodes and their descendants, without nested queries."""
    stack = [root for root in roots if root is not None]
    while stack:
        node = stack.pop()
        yield node
        stack += [one for one in children(node) if not isinstance(one, Query)]


def columns_in(*roots: Node | None) -> list[Column]:
    """Return the columns that are named within some nodes."""
    return [node for node in walk(*roots) if isinstance(node, Column)]


_PLACED = Binary | Call | Cast | Subquery | Text
Places = tuple[tuple[SourceText, ...], bytes]
"""Places in some texts, in a form that is compared and hashed quickly."""


def places_in(query: Query) -> Places:
    """Return where parts of a query are written, for what is kept by query: equal ones may be written elsewhere."""
    return query.once(_places_in)


def _places_in(query: Query) -> Places:
    places = [node.place for node in walk(query) if isinstance(node, _PLACED) and node.place is not None]
    sources = {id(place.source): place.source for place in places}
    numbers = {one: number for number, one in enumerate(sources)}
    packed = array("q", [n for one in places for n in (numbers[id(one.source)], one.start, one.stop)])
    return tuple(sources.values()), packed.tobytes()


def free(query: Query) -> list[Column]:
    """Return the columns in a query that are of no source within it, and so of a query around it."""
    nodes = list(walk(query))
    own = {node.called for node in nodes if isinstance(node, FromItem)}
    return [node for node in nodes if isinstance(node, Column) and node.table is not None and node.table not in own]


def nested(*roots: Node | None) -> list[Query]:
    """Return the outermost queries within some nodes."""
    return [one for node in own(*roots) for one in children(node) if isinstance(one, Query)]


def is_single(query: Query) -> bool:
    """Whether a query is one select without another one within."""
    return isinstance(query, Select) and sum(isinstance(node, Query) for node in walk(query)) == 1


def mapped(node: N, change: Callable[[Node], Node]) -> N:
    """Return a node whose direct parts are changed; the same object where they are the same."""
    changes: dict[str, Any] = {}
    for name in _fields_of(type(node)):
        value = getattr(node, name)
        new = _changed(value, change)
        if new is not value:
            changes[name] = new
    return replace(node, **changes) if changes else node


def _changed(value: Any, change: Callable[[Node], Node]) -> Any:
    if type(value) is tuple:
        made = tuple([_changed(one, change) for one in value])
        return value if all(a is b for a, b in zip(made, value, strict=True)) else made
    return change(value) if isinstance(value, Node) else value


def replaced(node: N, change: Callable[[Node], Node | None]) -> N:
    """Return a node with some descendants replaced by the result of `change`, where that is not None.

    `change` is called from the top down, and not for its own results.
    """
    new = change(node)
    # No recursive closure: its reference cycle would keep the objects of `change` until garbage collection.
    return cast("N", mapped(node, lambda part: replaced(part, change)) if new is None else new)
