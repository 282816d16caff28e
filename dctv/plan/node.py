"""The base of the nodes of plans: expressions, queries, and parts of these."""

from __future__ import annotations

from dctv.record import fields, record


@record
class Node:
    """An expression, a query, or a part of one."""


class Query(Node):
    """Something that gives rows; its classes take its hash, which is found once, since much is remembered by query."""

    __slots__ = ("_hash",)

    _hash: int

    def __hash__(self) -> int:
        try:
            return self._hash
        except AttributeError:
            found = hash((type(self).__name__, *[getattr(self, one.name) for one in fields(self) if one.compare]))
            object.__setattr__(self, "_hash", found)
            return found
