"""Map calls of aggregates over pieces to columns of the kernel that cuts these, where it computes them as it cuts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import permutations

from dctv.bind.binding import Binding
from dctv.bind.calls import duration_with_value
from dctv.bind.context import Leaves
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import And, Call, Cast, Column, Expression, Number, Star, State, Window
from dctv.plan.infallible import cannot_fail
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Kernel, Plan, Relation, physical_names
from dctv.record import record, replace
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.values import fits_int64

_FLOATS = ("FLOAT", "DOUBLE")
_COMPUTING = ("sum", "avg")
_PICKING = ("first", "last")
_ORDERING = ("min", "max")
_ORDERED = ("UBIGINT", "BOOLEAN", "VARCHAR", "BLOB", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_WIDE = "DECIMAL(38,0)"
"""How the kernels hand on integers of 128 bits."""
_PASSED = ColumnType("passed", "TINYINT")
"""The column of 1s for rows that pass a test."""


@record
class FusedAggregate:
    """A kernel that aggregates the pieces itself, and the names of the pieces' columns."""

    name: str
    inputs: tuple[Plan, ...]
    """The first is the one that is cut; it is narrowed to the payload that is aggregated."""
    options: Mapping[str, object]
    head: tuple[ColumnType, ...]
    """Its columns before the aggregates, named as in the pieces."""
    ordered: bool
    times: Mapping[str, str]
    """The piece's times, by their names among the pieces' columns."""
    payload: Mapping[str, int]
    """The input's payload columns by their names among the pieces' columns."""
    present: Expression | None
    """What every aggregate is filtered by."""
    picks: bool
    """Whether it knows values of any type, by their order of time."""


@record
class _Filtered:
    """What a kernel aggregates of the rows for which a test holds: a payload column or, with None, the rows."""

    column: int | None
    test: Expression
    """A condition over the input's columns."""


@record
class _Common:
    """One aggregate as the kernels name it, its column's type, and whether that stands for 128 bits."""

    function: str
    argument: int | str | _Filtered | None
    """A payload column, the name of one of the piece's times, a filtered one of either, or just the pieces."""
    type: str

    def read(self, name: str) -> Expression:
        """Return the kernel's column as the engine's aggregate would be."""
        value = Column(name, "pieces")
        return Cast(value, "HUGEINT") if self.type == _WIDE else value


def aggregated(
    binder: Binding, fused: FusedAggregate, values: Sequence[Expression]
) -> tuple[Kernel, list[Expression]] | None:
    """Return the kernel, and expressions that read its columns where they aggregated pieces.

    None where some aggregate is not one that the kernels know, or something else than groups is read.
    """
    found: dict[_Common, str] = {}
    swapped = [_swapped(binder, fused, value, found) for value in values]
    whole = [one for one in swapped if one is not None]
    if len(whole) < len(swapped):
        return None
    made = (*fused.head, *(ColumnType(name, one.type) for one, name in found.items()))
    schema = Schema(Kind.REGULAR, made)
    names = physical_names(schema)
    if not set(walk.columns_in(*whole)) <= set(w.columns(names, "pieces")):
        return None
    needed = list(dict.fromkeys(c.argument for c in found if isinstance(c.argument, int | _Filtered)))
    taken = [needed.index(c.argument) if isinstance(c.argument, int | _Filtered) else c.argument for c in found]
    calls = [(c.function, at) for c, at in zip(found, taken, strict=True)]
    first, *more = fused.inputs
    options = {**fused.options, "aggregates": calls, "names": names}
    inputs = [_narrowed(first, needed), *more]
    return binder.kernel(fused.name, schema, inputs, options, ordered=fused.ordered), whole


def _swapped(binder: Binding, fused: FusedAggregate, value: Expression, found: dict[_Common, str]) -> Expression | None:
    """Swap the aggregates of one expression; None if one of them is not common."""
    if any(isinstance(node, Query | State | Window) for node in walk.walk(value)):
        return None
    kinds = binder.env.engine.functions()
    shared: list[_Common | None] = []

    def swap(node: Node) -> Node | None:
        if not isinstance(node, Call) or kinds.get(node.function) != "aggregate":
            return None
        shared.append(common := _common(fused, node, alone=node is value))
        return None if common is None else common.read(found.setdefault(common, f"dctv:{len(found)}"))

    made = walk.replaced(value, swap)
    return None if None in shared else made


def _common(fused: FusedAggregate, call: Call, *, alone: bool) -> _Common | None:
    if call.distinct or call.order_by or call.nulls or len(call.arguments) != 1:
        return None
    tests = [] if call.filter is None else list(call.filter.parts if isinstance(call.filter, And) else (call.filter,))
    if fused.present is not None:
        if fused.present not in tests:
            return None
        tests.remove(fused.present)
    found = _unfiltered(fused, call, alone=alone)
    test = w.all_of(tests)
    return found if found is None or test is None else _filtered(fused, found, test)


def _filtered(fused: FusedAggregate, common: _Common, test: Expression) -> _Common | None:
    """Return the aggregate of the rows that pass a test: of a column that is NULL in others.

    The test is evaluated for rows that are in no piece, too, so it may not fail.
    """
    schema = fused.inputs[0].schema
    types = {name: schema.payload[at].type for name, at in fused.payload.items()}
    if not set(walk.columns_in(test)) <= set(w.columns(types, "pieces")) or not cannot_fail(test, types):
        return None
    names = physical_names(schema)[schema.special_count :]
    own = walk.replaced(
        test, lambda node: Column(names[fused.payload[node.name]]) if isinstance(node, Column) else None
    )
    match common:
        case _Common("first" | "last"):
            # NULLs are values for them.
            return None
        case _Common("count", None | str()):
            return replace(common, argument=_Filtered(None, own))
        case _Common("sum" | "wide_sum", "_duration"):
            return _Common("time_known", _Filtered(None, own), _WIDE)
        case _Common(_, int(at)):
            return replace(common, argument=_Filtered(at, own))
        case _:
            return None


def _unfiltered(fused: FusedAggregate, call: Call, *, alone: bool) -> _Common | None:
    (argument,) = call.arguments
    if isinstance(argument, Star):
        return _Common("count", None, "BIGINT") if call.function == "count" else None
    if isinstance(argument, Column):
        return _plain(fused, call.function, argument, alone=alone)
    return _weighted(fused, argument) if call.function == "sum" else None


def _plain(fused: FusedAggregate, name: str, argument: Column, *, alone: bool) -> _Common | None:
    """Return an aggregate of one column."""
    column = _argument(fused, argument)
    if column is None:
        return None
    at, kind = column
    if name == "count":
        return _Common(name, at, "BIGINT")
    if (name in _COMPUTING and kind in _FLOATS) or (name == "avg" and fits_int64(kind)):
        return _Common(name, at, "DOUBLE")
    if name == "sum" and fits_int64(kind):
        # A sum that is the whole column has 64 bits or is an error; one inside an expression has 128.
        return _Common(name, at, "BIGINT") if alone else _Common("wide_sum", at, _WIDE)
    ordered = name in _ORDERING and (_is_number(kind) or (fused.picks and kind in _ORDERED))
    return _Common(name, at, kind) if ordered or (name in _PICKING and fused.picks) else None


def _weighted(fused: FusedAggregate, argument: Expression) -> _Common | None:
    """Return the parts of `time_avg` and `time_sum`: sums of value times duration, and of durations with a value."""
    for value, duration in permutations(walk.columns_in(argument), 2):
        column = _argument(fused, value)
        if column is None or fused.times.get(duration.name) != "_duration":
            continue
        at, kind = column
        if argument == duration_with_value(value, duration):
            return _Common("time_known", at, _WIDE)
        if argument == w.wide_product(value, duration) and fits_int64(kind):
            return _Common("time_sum", at, _WIDE)
        if argument == w.times(value, duration) and kind in _FLOATS:
            return _Common("time_sum", at, "DOUBLE")
    return None


def _argument(fused: FusedAggregate, argument: Column) -> tuple[int | str, str] | None:
    """Return the kernel's form of a column of the pieces, and its type."""
    name = argument.name
    if name in fused.times:
        return fused.times[name], "BIGINT"
    at = fused.payload.get(name)
    return None if at is None else (at, fused.inputs[0].schema.payload[at].type)


def _is_number(kind: str) -> bool:
    return kind in _FLOATS or fits_int64(kind)


def _narrowed(plan: Plan, needed: Sequence[int | _Filtered]) -> Plan:
    """Project a plan to its special columns and what is aggregated of its payload."""
    schema, names = plan.schema, physical_names(plan.schema)
    count = schema.special_count
    if needed == list(range(len(schema.payload))):
        return plan
    leaves = Leaves()
    source = leaves.name(plan)
    columns = w.columns(names, source)
    made: list[tuple[ColumnType, Expression]] = list(zip(schema.special, columns, strict=False))
    for one in needed:
        at = one if isinstance(one, int) else one.column
        # What is only counted is a number, which every form of the kernels can count as it goes.
        column = _PASSED if at is None else schema.payload[at]
        value = Cast(Number("1"), _PASSED.type) if at is None else columns[count + at]
        made.append((column, value if isinstance(one, int) else w.case((one.test, value))))
    narrow = Schema(schema.kind, tuple(column for column, _ in made), schema.partitions)
    query = w.select(*w.named((value for _, value in made), physical_names(narrow)), source=source)
    return Relation(narrow, order=plan.order, query=query, leaves=leaves.all())
