"""The base of the nodes of plans: expressions, queries, and parts of these."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from dctv.record import fields, record

T = TypeVar("T")


@record
class Node:
    """An expression, a query, or a part of one."""


class Query(Node):
    """Something that gives rows; its classes take its hash, which is found once, since much is remembered by query."""

    __slots__ = ("_found", "_hash")

    _hash: int
    _found: dict[Callable[[Any], object], Any]

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            found = hash((type(self).__name__, *[getattr(self, one.name) for one in fields(self) if one.compare]))
            object.__setattr__(self, "_hash", found)
            return found

    def once(self, find: Callable[[Query], T]) -> T:
        """Return what a function finds in this query; it looks once, since rules ask the same of a query many times."""
        try:
            known = self._found
        except AttributeError:
            known = {}
            object.__setattr__(self, "_found", known)
        if find not in known:
            known[find] = find(self)
        found: T = known[find]
        return found
