"""The base of all nodes of the syntax tree, with place, equality by meaning, hash and text; and names."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeVar, cast

from dctv.errors import Place
from dctv.patterns import pattern
from dctv.record import field, fields, record, replace

N = TypeVar("N")

_PART = pattern(r"`((?:[^`]|``)++)`(?=\.|\Z)|[^.]*")


@record(eq=False, text=False)
class Node:
    """Anything with a place in the text.

    All nodes share these methods: to generate them for each class would cost a fifth of the start-up time.
    """

    place: Place | None = field(default=None, compare=False, repr=False, kw_only=True)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash((type(self), *_values(self)))

    def __repr__(self) -> str:
        shown = ", ".join(f"{n}={getattr(self, n)!r}" for n in _compared(type(self)))
        return f"{type(self).__name__}({shown})"


_COMPARED: dict[str, tuple[str, ...]] = {}


def _compared(kind: type[Node]) -> tuple[str, ...]:
    """Return the names of the fields that make a node's meaning; every node class has a name of its own."""
    found = _COMPARED.get(kind.__name__)
    if found is None:
        found = _COMPARED[kind.__name__] = tuple(f.name for f in fields(kind) if f.compare)
    return found


def _values(node: object) -> tuple[object, ...]:
    assert isinstance(node, Node)
    return tuple(getattr(node, name) for name in _compared(type(node)))


@record
class WrittenForm:
    """How an expression is written that stands for another one; no node, so that walks meet only what it stands for."""

    pieces: tuple[str | Node, ...]
    """Text, and expressions or selects between it."""


@record(eq=False, text=False)
class Expr(Node):
    """A value computed per row."""

    written: WrittenForm | None = field(default=None, compare=False, repr=False, kw_only=True)
    """What a header shows in its place."""


@record(eq=False, text=False)
class Name(Node):
    """One part of a name, unquoted: `` `print|B` `` has the text `print|B`."""

    text: str
    quoted: bool = field(default=False, compare=False)


@record(eq=False, text=False)
class Path(Node):
    """A dotted name in the namespace of tables or functions."""

    parts: tuple[Name, ...]

    @classmethod
    def of(cls, text: str) -> Path:
        """Return the name that a program writes with dots; as in a query, parts may be in backticks."""
        parts, start = [], 0
        while start <= len(text):
            part = cast("re.Match[str]", _PART.match(text, start))
            quoted = part[1]
            parts.append(Name(part[0] if quoted is None else quoted.replace("``", "`")))
            start = part.end() + 1
        return cls(tuple(parts))

    @property
    def text(self) -> str:
        """The parts joined by dots."""
        return ".".join(p.text for p in self.parts)


@record(eq=False, text=False)
class Alias(Node):
    """`AS name (columns)`."""

    name: Name
    columns: tuple[Name, ...] = ()


@record(eq=False, text=False)
class Table(Node):
    """Something a select draws columns from."""


def nodes(value: object, *, without: tuple[type[Node], ...] = ()) -> Iterator[Node]:
    """Yield a node, or those in a tuple, and all descendants, in pre-order; none of those `without`, nor below them."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, Node):
            if isinstance(one, without):
                continue
            yield one
            waiting += [getattr(one, name) for name in _members(type(one))]
        elif isinstance(one, tuple | list):
            waiting += reversed(one)


def replaced(value: N, old: Node, new: Node) -> N:
    """Return a node with another one in place of one within it, which is found by its identity."""
    if isinstance(value, tuple):
        made = tuple([replaced(one, old, new) for one in value])
        return cast("N", made) if any(one is not other for one, other in zip(made, value, strict=True)) else value
    if value is old or not isinstance(value, Node):
        return cast("N", new) if value is old else value
    changes = {name: replaced(getattr(value, name), old, new) for name in _members(type(value))}
    changes = {name: one for name, one in changes.items() if one is not getattr(value, name)}
    return replace(value, **changes) if changes else value


_MEMBERS: dict[type[Node], tuple[str, ...]] = {}


def _members(kind: type[Node]) -> tuple[str, ...]:
    """Return the names of the fields in which there may be nodes, last ones first."""
    found = _MEMBERS.get(kind)
    if found is None:
        found = _MEMBERS[kind] = tuple(f.name for f in reversed(fields(kind)) if f.name not in ("place", "written"))
    return found
