"""Choose how to cut an operator's inputs into groups that workers compute by themselves, with the same rows."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from dctv.contracts.remote import Share, Sweep, Typed
from dctv.errors import NotOnThisEngine
from dctv.plan.nodes import ArrowStream, Kernel, Plan, column_names
from dctv.record import record
from dctv.signatures.types import parse
from dctv.types.schema import Kind, Schema

Arrow = Callable[[Schema], Any]
"""Gives the Arrow types of a table's columns."""

_SPREAD = ("time_sum", "time_known")
"""Aggregates that depend on how long a piece is."""


def columns_of(plan: Plan) -> tuple[Typed, ...]:
    """Return the columns of a plan as an engine sees them."""
    return tuple((name, one.type) for name, one in zip(column_names(plan), plan.schema.columns, strict=True))


def sweep_of(kernel: Kernel, arrow: Arrow, apart: Collection[int] = ()) -> tuple[Sweep, Sequence[Plan]]:
    """Return how workers run an operator, and the plans whose rows they need for it.

    Operators below it that are divided by the same partitions run with it, in the same groups, which saves a shuffle;
    those in `apart`, by identity, do not.

    Raises:
        NotOnThisEngine: there is no known way, or its rows would differ.
    """
    cut = _cut_of(kernel)
    chain, leaves = _chain(kernel, cut, apart, 0)
    shares = [
        Share(
            columns_of(plan),
            arrow(plan.schema),
            tuple(column_names(plan)[_first(plan) + n] for n in how.keys),
            how.timed,
            plan.schema.kind is not Kind.EVENT,
        )
        for plan, how in leaves
    ]
    made, result = columns_of(kernel), arrow(kernel.schema)
    sweep = Sweep(tuple(shares), chain.run_all, made, result, cut.slabs, cut.cut_by, chain.is_divisible)
    return sweep, [plan for plan, _ in leaves]


def _cut_of(kernel: Kernel) -> _Cut:
    if kernel.name not in _CUTS:
        raise refused(kernel.name, "its output at a time depends on earlier rows")
    return _CUTS[kernel.name](kernel)


@record
class _Chain:
    """An operator on tables of a group, and on the outputs of other operators there."""

    run: Callable[[list[ArrowStream], Mapping[str, Any], Any], ArrowStream]
    options: Mapping[str, Any]
    inputs: tuple[int | _Chain, ...]
    """Numbers of the group's tables, or other operators."""
    is_divisible: bool
    """Whether groups may be cut by time as well."""

    def run_all(self, tables: list[ArrowStream], cancel: Any) -> ArrowStream:
        """Run the operators."""
        given = [tables[one] if isinstance(one, int) else one.run_all(tables, cancel) for one in self.inputs]
        return self.run(given, self.options, cancel)


def _chain(kernel: Kernel, cut: _Cut, apart: Collection[int], first: int) -> tuple[_Chain, list[tuple[Plan, _Input]]]:
    """Return an operator with those below it that run with it, and their inputs, whose tables count from `first`."""
    inputs: list[int | _Chain] = []
    leaves: list[tuple[Plan, _Input]] = []
    divisible = cut.divisible
    for plan, how in zip(kernel.inputs, cut.inputs, strict=True):
        below = _together(plan, how, cut) if id(plan) not in apart else None
        if below is None:
            inputs.append(first + len(leaves))
            leaves.append((plan, how))
        else:
            inner, read = _chain(*below, apart, first + len(leaves))
            inputs.append(inner)
            leaves += read
            divisible = divisible and inner.is_divisible
    return _Chain(kernel.run, kernel.options, tuple(inputs), divisible), leaves


def _together(plan: Plan, how: _Input, cut: _Cut) -> tuple[Kernel, _Cut] | None:
    """Return an input and how it is cut, if its reader cuts it the same way: by all partitions that it has."""
    if cut.slabs or not how.keys or not isinstance(plan, Kernel) or plan.name not in _KEEP or not plan.ordered:
        return None
    if how.keys != tuple(range(len(plan.schema.partitions))):
        return None
    try:
        below = _cut_of(plan)
    except NotOnThisEngine:
        return None
    is_same = not below.slabs and all(len(one.keys) == len(how.keys) for one in below.inputs)
    return (plan, below) if is_same else None


_KEEP = ("check", "departition", "fill gaps", "merge adjacent", "span join")
"""Operators with output partitioned by the same columns that their inputs are cut by, in the same order."""


def refused(name: str, why: str) -> NotOnThisEngine:
    """Return the error for an operator that workers cannot run."""
    return NotOnThisEngine(f"the operator `{name}` is not on workers: {why}", hint="it runs here")


def _first(plan: Plan) -> int:
    return len(plan.schema.kind.time_columns)


@record
class _Input:
    keys: tuple[int, ...] = ()
    """Numbers of partitions, from 0."""
    timed: bool = True


@record
class _Cut:
    inputs: tuple[_Input, ...]
    slabs: bool
    cut_by: tuple[int, ...] = ()
    divisible: bool = False
    """Whether what is cut by partitions may be cut by time as well."""


def _by_partitions(kernel: Kernel, keys: Sequence[int] | None = None, *, divisible: bool = False) -> _Cut:
    """Cut by all partitions, or some, that all inputs have."""
    chosen = tuple(range(kernel.options["partitions"])) if keys is None else tuple(keys)
    return _Cut(tuple(_Input(chosen) for _ in kernel.inputs), slabs=False, divisible=divisible)


def _span_join(kernel: Kernel) -> _Cut:
    """Cut by partitions; a join without them, or a broadcast, by time.

    Both sides go whole to the slabs that they touch, so a piece that starts in a slab is made there. It ends where a
    side ends, which is known there, or, where a side is missing, where that one starts, which may be later. That is
    another time in each partition, so only inner joins by partitions may be cut by time as well.
    """
    how, broadcast = kernel.options["how"], kernel.options.get("broadcast")
    if kernel.options.get("compared") is not None and how == "inner":
        raise refused(kernel.name, "it tells whether anything has matched at all")
    if kernel.options["partitions"] and broadcast is None:
        return _by_partitions(kernel, divisible=how == "inner")
    starting = {None: (0, 1), "left": (0,), "right": (1,)}[broadcast]
    return _Cut((_Input(), _Input()), slabs=True, cut_by=() if how == "inner" else starting)


def _event_join(kernel: Kernel) -> _Cut:
    """Cut by partitions or by time: an event is in one slab, and so are the spans that cover it."""
    if kernel.options.get("compared") is not None and kernel.options["how"] == "inner":
        raise refused(kernel.name, "it tells whether anything has matched at all")
    if kernel.options["partitions"] and kernel.options.get("broadcast") is None:
        return _by_partitions(kernel, divisible=True)
    return _Cut((_Input(), _Input()), slabs=True)


def _departition(kernel: Kernel) -> _Cut:
    """Cut by the partitions that are kept, or by time: an interval is of the slab in which it starts."""
    if kernel.options["keep"] and len(kernel.inputs) == 1:
        return _by_partitions(kernel, kernel.options["keep"])
    if any(name in _SPREAD or of == "_duration" for name, of in kernel.options["aggregates"]):
        raise refused(kernel.name, "its aggregates depend on how long the pieces are, which are cut by time")
    if kernel.options["keep"]:
        raise refused(kernel.name, "it keeps some of the partitions, and compares others")
    rest = tuple(_Input(timed=False) for _ in kernel.inputs[1:])
    return _Cut((_Input(), *rest), slabs=True, cut_by=(0,))


def _span_aggregation(kernel: Kernel) -> _Cut:
    """Cut what is grouped by partitions; each bucket has all groups."""
    if len(kernel.inputs) != 2 or not kernel.options["partitions"]:
        raise refused(kernel.name, "it has no partitions by which it could be cut")
    if kernel.options["events"] and any(name in ("first", "last") for name, _ in kernel.options["aggregates"]):
        raise refused(kernel.name, "events of equal time have no order there")
    return _Cut((_Input(tuple(range(kernel.options["partitions"]))), _Input()), slabs=False)


def _check(kernel: Kernel) -> _Cut:
    """Cut by partitions or by time: spans that overlap do so in a slab that both touch."""
    if not (kernel.options["disjoint"] or kernel.options["events"]):
        raise refused(kernel.name, "intervals that begin together have no order there")
    if kernel.options["partitions"]:
        return _by_partitions(kernel, divisible=True)
    return _Cut((_Input(),), slabs=True)


def _alone(kernel: Kernel) -> _Cut:
    if not kernel.options["partitions"]:
        raise refused(kernel.name, "it has no partitions by which it could be cut")
    return _by_partitions(kernel)


def _merge(kernel: Kernel) -> _Cut:
    if any(parse(one.type).children for one in kernel.schema.payload):
        raise refused(kernel.name, "it compares values within lists bit by bit, which engines do not keep")
    return _alone(kernel)


def _fill_gaps(kernel: Kernel) -> _Cut:
    if kernel.options.get("start") is None or kernel.options.get("stop") is None:
        raise refused(kernel.name, "where gaps begin and end depends on all partitions")
    return _alone(kernel)


_CUTS: Mapping[str, Callable[[Kernel], _Cut]] = {
    "span join": _span_join,
    "event join": _event_join,
    "departition": _departition,
    "span aggregation": _span_aggregation,
    "check": _check,
    "merge adjacent": _merge,
    "fill gaps": _fill_gaps,
}


def orderless(kernel: Kernel) -> bool:
    """Whether an operator makes the same rows however those of equal time come."""
    try:
        return bool(_CUTS[kernel.name](kernel))
    except (KeyError, NotOnThisEngine):
        return kernel.name in ("span join", "fill gaps", "merge adjacent", "departition")
