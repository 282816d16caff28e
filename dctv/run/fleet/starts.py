"""The starts of a fleet's traces in plans that need them: the part of a trace gets only its own."""

from __future__ import annotations

from collections.abc import Callable

from dctv.plan.build import number
from dctv.plan.expressions import Binary, Number, StartOf, TraceStarts
from dctv.plan.node import Node
from dctv.plan.nodes import Plan, Relation
from dctv.plan.queries import Join
from dctv.plan.walk import replaced, walk
from dctv.record import replace
from dctv.rewrite.graph import bottom_up, readers_first

_UNKNOWN = TraceStarts({})


def without_starts(plan: Plan) -> tuple[Plan, bool]:
    """Return a plan without the starts of traces, and whether it needs them."""
    asks = any(isinstance(one, StartOf) for one in _nodes(plan))
    return (_changed(plan, lambda one: _with(one, _UNKNOWN)) if asks else plan), asks


def with_start(plan: Plan, trace: str, start: int) -> Plan:
    """Return a plan of one trace with its start.

    An index understands comparisons with times before or after that. They stay as they are beside an outer join, since
    a row that it fills with NULLs has no trace.
    """
    known = TraceStarts({trace: start})
    filled = any(isinstance(one, Join) and one.kind not in _INNER for one in _nodes(plan))

    def change(node: Node) -> Node | None:
        match node:
            case Binary("-", Number(text), StartOf()) if not filled and text.isdigit():
                return number(int(text) - start)
            case _:
                return _with(node, known)

    return _changed(plan, change)


_INNER = ("INNER", "CROSS")


def _with(node: Node, starts: TraceStarts) -> Node | None:
    return replace(node, starts=starts) if isinstance(node, StartOf) else None


def _nodes(plan: Plan) -> list[Node]:
    return [node for one in readers_first(plan) if isinstance(one, Relation) for node in walk(one.query)]


def _changed(plan: Plan, change: Callable[[Node], Node | None]) -> Plan:
    def one(part: Plan) -> Plan:
        return replace(part, query=replaced(part.query, change)) if isinstance(part, Relation) else part

    return bottom_up(plan, one)
