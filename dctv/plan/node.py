"""What plans are written with: expressions, queries, and parts of these."""

from __future__ import annotations

from dctv.record import record


@record
class Node:
    """An expression, a query, or a part of one."""


class Query(Node):
    """Something that gives rows."""

    __slots__ = ()
