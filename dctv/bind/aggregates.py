"""Aggregates that a kernel computes as it cuts: calls over pieces -> the kernel's columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import permutations

from sqlglot import exp

from dctv.bind.binding import Binding
from dctv.bind.calls import known_time
from dctv.bind.context import Leaves
from dctv.plan.nodes import Kernel, Plan, Relation, physical_names
from dctv.plan.sql import aliased, column, table, type_named
from dctv.record import record
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.values import is_integer

_FLOATS = ("FLOAT", "DOUBLE")
_WIDER_THAN_INT64 = ("UBIGINT", "HUGEINT", "UHUGEINT")
_COMPUTING = ("sum", "avg")
_PICKING = ("first", "last")
_ORDERING = ("min", "max")
_ORDERED = ("UBIGINT", "BOOLEAN", "VARCHAR", "BLOB", "DATE", "TIME", "TIMESTAMP", "TIMESTAMP WITH TIME ZONE")
_WIDE = "DECIMAL(38,0)"
"""How the kernels hand on integers of 128 bits."""


@record
class Swift:
    """A kernel that aggregates the pieces by itself, and what the pieces are called."""

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
    present: exp.Expr | None
    """What every aggregate is filtered by."""
    picks: bool
    """Whether it knows values of any type, by their order of time."""


@record
class _Common:
    """One aggregate as the kernels name it, its column's type, and whether that stands for 128 bits."""

    function: str
    argument: int | str | None
    type: str

    def read(self, name: str) -> exp.Expr:
        """Return the kernel's column as the engine's aggregate would be."""
        value = column(name, "pieces")
        return exp.Cast(this=value, to=type_named("HUGEINT")) if self.type == _WIDE else value


def aggregated(binder: Binding, swift: Swift, trees: Sequence[exp.Expr]) -> tuple[Kernel, list[exp.Expr]] | None:
    """Return the kernel, and expressions that read its columns where they aggregated pieces.

    None where some aggregate is not one that the kernels know, or something else than groups is read.
    """
    found: dict[_Common, str] = {}
    swapped = [_swapped(binder, swift, tree, found) for tree in trees]
    if None in swapped:
        return None
    made = (*swift.head, *(ColumnType(name, one.type) for one, name in found.items()))
    schema = Schema(Kind.REGULAR, made)
    names = physical_names(schema)
    whole = [tree for tree in swapped if tree is not None]
    read = {(c.table, c.name) for tree in whole for c in tree.find_all(exp.Column)}
    if not read <= {("pieces", name) for name in names}:
        return None
    needed = list(dict.fromkeys(one.argument for one in found if isinstance(one.argument, int)))
    calls = [(c.function, needed.index(c.argument) if isinstance(c.argument, int) else c.argument) for c in found]
    first, *more = swift.inputs
    options = {**swift.options, "aggregates": calls, "names": names}
    inputs = [_narrowed(first, needed), *more]
    return binder.kernel(swift.name, schema, inputs, options, ordered=swift.ordered), whole


def _swapped(binder: Binding, swift: Swift, tree: exp.Expr, found: dict[_Common, str]) -> exp.Expr | None:
    """Swap the aggregates of one expression; None if one of them is not common."""
    if tree.find(exp.Subquery, exp.Exists, exp.Window) is not None:
        return None
    tree = tree.copy()
    for site in list(_sites(binder, tree)):
        common = _common(swift, site, alone=site is tree)
        if common is None:
            return None
        value = common.read(found.setdefault(common, f"dctv:{len(found)}"))
        if site is tree:
            return value
        site.replace(value)
    return tree


def _sites(binder: Binding, tree: exp.Expr) -> Iterator[exp.Expr]:
    """Return the aggregate calls of an expression, with the filters around them."""
    kinds = binder.env.engine.functions()
    for call in tree.find_all(exp.Anonymous, exp.Count):
        if isinstance(call, exp.Count) or kinds.get(str(call.this).lower()) == "aggregate":
            yield call.parent if isinstance(call.parent, exp.Filter) else call


def _common(swift: Swift, site: exp.Expr, *, alone: bool) -> _Common | None:
    present = None if swift.present is None else exp.Where(this=swift.present)
    call = site.this if isinstance(site, exp.Filter) else site
    if (site.expression if isinstance(site, exp.Filter) else None) != present:
        return None
    if isinstance(call, exp.Count):
        return _Common("count", None, "BIGINT") if isinstance(call.this, exp.Star) else None
    if len(call.expressions) != 1:
        return None
    name, (argument,) = str(call.this).lower(), call.expressions
    if isinstance(argument, exp.Column):
        return _plain(swift, name, argument, alone=alone)
    return _weighted(swift, argument) if name == "sum" else None


def _plain(swift: Swift, name: str, argument: exp.Expr, *, alone: bool) -> _Common | None:
    """Return an aggregate of one column."""
    known = _argument(swift, argument)
    if known is None:
        return None
    at, kind = known
    if name == "count":
        return _Common(name, at, "BIGINT")
    if (name in _COMPUTING and kind in _FLOATS) or (name == "avg" and _is_whole(kind)):
        return _Common(name, at, "DOUBLE")
    if name == "sum" and _is_whole(kind):
        # A sum that is the whole column has 64 bits or is an error; one inside an expression has 128.
        return _Common(name, at, "BIGINT") if alone else _Common("wide_sum", at, _WIDE)
    ordered = name in _ORDERING and (_is_number(kind) or (swift.picks and kind in _ORDERED))
    return _Common(name, at, kind) if ordered or (name in _PICKING and swift.picks) else None


def _weighted(swift: Swift, argument: exp.Expr) -> _Common | None:
    """Return what the parts of `time_avg` and `time_sum` are: sums of value times duration, and of known durations."""
    for value, duration in permutations(argument.find_all(exp.Column), 2):
        known = _argument(swift, value)
        if known is None or swift.times.get(duration.name) != "_duration":
            continue
        at, kind = known
        if argument == known_time(value, duration):
            return _Common("time_known", at, _WIDE)
        if argument == exp.Mul(this=value, expression=duration) and _is_number(kind):
            return _Common("time_sum", at, "DOUBLE" if kind in _FLOATS else _WIDE)
    return None


def _argument(swift: Swift, argument: exp.Expr) -> tuple[int | str, str] | None:
    """Return what a column of the pieces is to the kernel, and its type."""
    name = argument.name
    if name in swift.times:
        return swift.times[name], "BIGINT"
    at = swift.payload.get(name)
    return None if at is None else (at, swift.inputs[0].schema.payload[at].type)


def _is_whole(kind: str) -> bool:
    return is_integer(kind) and kind not in _WIDER_THAN_INT64


def _is_number(kind: str) -> bool:
    return kind in _FLOATS or _is_whole(kind)


def _narrowed(plan: Plan, needed: Sequence[int]) -> Plan:
    """Project a plan to its special columns and some of its payload."""
    schema, names = plan.schema, physical_names(plan.schema)
    kept = [*range(schema.special_count), *(schema.special_count + at for at in needed)]
    if kept == list(range(len(names))):
        return plan
    leaves = Leaves()
    source = leaves.name(plan)
    narrow = Schema(schema.kind, tuple(schema.columns[i] for i in kept), schema.partitions)
    columns = [aliased(column(names[i], source), new) for i, new in zip(kept, physical_names(narrow), strict=True)]
    tree = exp.Select(expressions=columns).from_(table(source))
    return Relation(narrow, ordered=plan.ordered, query=tree, leaves=leaves.all(), keeps_order=plan.stable)
