"""Walks a plan and puts it together again with other inputs; a plan that is used twice stays one plan."""

from __future__ import annotations

from collections.abc import Callable

from dctv.plan.nodes import Kernel, Plan, Relation
from dctv.record import replace


def inputs(plan: Plan) -> tuple[Plan, ...]:
    """Return the plans that a plan reads."""
    match plan:
        case Relation():
            return tuple(leaf for _, leaf in plan.leaves)
        case Kernel():
            return plan.inputs
        case _:
            return ()


def with_inputs(plan: Plan, new: tuple[Plan, ...]) -> Plan:
    """Return a plan that reads other inputs; the same object where nothing changes."""
    if all(a is b for a, b in zip(inputs(plan), new, strict=True)):
        return plan
    match plan:
        case Relation():
            return replace(plan, leaves=tuple((name, leaf) for (name, _), leaf in zip(plan.leaves, new, strict=True)))
        case Kernel():
            return replace(plan, inputs=new)
        case _:
            raise AssertionError(type(plan))


def bottom_up(plan: Plan, change: Callable[[Plan], Plan]) -> Plan:
    """Return a plan in which every node was changed, inputs before what reads them."""
    done: dict[int, tuple[Plan, Plan]] = {}

    def visit(node: Plan) -> Plan:
        if id(node) not in done:
            done[id(node)] = (node, change(with_inputs(node, tuple(visit(i) for i in inputs(node)))))
        return done[id(node)][1]

    return visit(plan)


def readers_first(plan: Plan) -> list[Plan]:
    """Return every plan once, each before what it reads."""
    seen: set[int] = set()
    found: list[Plan] = []

    def visit(node: Plan) -> None:
        if id(node) not in seen:
            seen.add(id(node))
            for one in inputs(node):
                visit(one)
            found.append(node)

    visit(plan)
    return found[::-1]
