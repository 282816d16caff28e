"""Walk a plan, and put it together again with other inputs; a plan that is used twice stays one plan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

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
    """Return a plan in which every node was changed, inputs before their readers."""
    done: dict[int, Plan] = {}
    for node in reversed(readers_first(plan)):
        done[id(node)] = change(with_inputs(node, tuple(done[id(one)] for one in inputs(node))))
    return done[id(plan)]


def put_together(order: Sequence[Plan], changed: Mapping[int, Plan]) -> Plan:
    """Return the first of some plans, readers before their inputs, with each in its changed form, by identity.

    Inputs of changed forms that are not among the plans stay as they are.
    """
    new: dict[int, Plan] = {}
    for node in reversed(order):
        one = changed[id(node)]
        new[id(node)] = with_inputs(one, tuple(new.get(id(leaf), leaf) for leaf in inputs(one)))
    return new[id(order[0])]


def readers_first(plan: Plan) -> list[Plan]:
    """Return every plan once, each before its inputs."""
    seen: set[int] = set()
    found: list[Plan] = []
    _collect(plan, seen, found)
    return found[::-1]


def _collect(plan: Plan, seen: set[int], found: list[Plan]) -> None:
    if id(plan) not in seen:
        seen.add(id(plan))
        for one in inputs(plan):
            _collect(one, seen, found)
        found.append(plan)
