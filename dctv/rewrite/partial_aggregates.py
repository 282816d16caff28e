"""Split a select that groups and aggregates into partial aggregates of each trace, and a select that combines these.

Sound because partial results combine: COUNT and SUM of integers add up exactly, MIN and MAX and the two aggregates of
truth values are those of the parts, and AVG is the total sum divided by the total count. The DISTINCT values of all
traces are among those of each, and counts and sums beside them add up over any groups. SUM and AVG of floats are made
of the sums of each trace, in the order of traces: their last digits may differ from those of one pass over all rows,
but are the same in every run. For some aggregates each trace returns the engine's state (`dctv.signatures.gathered`):

- Variances, covariances and the like are combined from counts, means and squared distances; their last digits may
  differ, as those of sums of floats do.
- Centroids of `approx_quantile` are merged; the result is an estimate, as it is over all rows.
- `first`, `any_value`, `arg_max` and the like pick the same row wherever the order of rows decides, since rows come
  trace by trace. They are not split if the rows are sorted by time again.

With grouping sets each trace groups by all keys of all sets, and several of its groups may become one: what depends on
the order of rows, and sums of floats, are not split then.

Traces that run together (`flattened`) return partial results of all of them if these are exact in any order of rows
(`Split.combines`): then it does not matter whose rows are in a part.

Exact quantiles take two passes (`exact_quantiles`), or one where values repeat (`repeated_values`). Other aggregates
stay as they are: one that keeps every value, such as a list, would save nothing, and distinct floats would be added in
another order in each run. Keys and aggregates may be of any expressions; the rest of the select sees one group at a
time, the groups around it (windows), or one value of another query, which stays where it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import chain

from dctv.plan.build import call, number
from dctv.plan.expressions import (
    Binary,
    Call,
    Case,
    Cast,
    Column,
    Exists,
    Expression,
    Frame,
    FrameEnd,
    InQuery,
    Number,
    Star,
    State,
    Subquery,
    Text,
    Window,
)
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, column_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Group, GroupingSets, Item, Select, TableName
from dctv.plan.restored_types import lost
from dctv.plan.types_of import type_of
from dctv.plan.walk import children, columns_in, mapped, nested, own, replaced, walk
from dctv.record import field, record, replace
from dctv.rewrite.exact_quantiles import BoundedValues
from dctv.rewrite.grouped_expressions import is_of_group
from dctv.rewrite.ranked_values import QUANTILES, RankedValues, ranked
from dctv.rewrite.repeated_values import COMBINED, VALUE, repeated
from dctv.rewrite.select_lists import has_effect, may_aggregate
from dctv.signatures.gathered import BESTS, ONES, SHAPES, SPREADS, TOGETHER
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.values import is_float

_INTEGERS = frozenset(
    ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT", "HUGEINT")
)
_SAME = ("min", "max", "bool_and", "bool_or", "bit_and", "bit_or", "bit_xor")
"""Aggregates whose partial results are combined by the same function."""
_VARYING = ("FLOAT", "DOUBLE", "INTERVAL", "TIME WITH TIME ZONE")
"""Types, also of members of others, whose values may be equal and differ, as 0 and -0, or 30 days and a month. Which of
them is kept depends on the order of rows, and so do sums of floats."""


@record
class Split:
    """A select that is split."""

    part: Relation
    """The part of each trace."""
    query: Query
    """The query over the rows of all traces."""
    combines: bool
    """Whether a part over the rows of several traces is as good, to the last digit."""


def split(relation: Relation, name: str, leaf: Plan) -> Split | None:
    """Split a select over a leaf; None if it cannot be split."""
    found = _aggregation(relation, name, leaf)
    halves = None if found is None else _halves(found, None)
    return None if halves is None else halves.split


@record
class SplitByValue:
    """A select of exact quantiles, split so that each trace's part counts equal values."""

    split: Split
    sample: Relation
    """The part of some traces that are asked first."""
    schema: Schema
    repeat: Select
    """A query of that schema over the rows of this part: whether values repeat."""


@record
class TwoPassSplit:
    """A select of exact quantiles, each trace's part of which is preceded by another."""

    first: Relation
    """The first part of each trace."""
    schema: Schema
    bounds: Select
    """A query of that schema over the rows of the first parts; without rows if two passes do not pay."""
    split: Split
    """With the second part, which reads a table of bounds."""
    table: str
    by_value: SplitByValue | None
    """Another way, which pays where values repeat; None if there is none."""

    def second(self, bounds: Plan) -> Split:
        """Return the select as it is split for the second pass, given the bounds."""
        part = self.split.part
        return replace(self.split, part=replace(part, leaves=(*part.leaves, (self.table, bounds))))


def split_twice(relation: Relation, name: str, leaf: Plan) -> TwoPassSplit | None:
    """Split a select of exact quantiles; None if there are none, or if it cannot be split."""
    found = _aggregation(relation, name, leaf)
    # Bounds of the groups of all keys are not those of groups of fewer keys.
    if found is None or nested(found.select) or _has_sets(found.select):
        return None
    values = ranked(found.select, found.types)
    if values is None:
        return None
    bounded = BoundedValues(values)
    halves = _halves(found, bounded.found)
    if halves is None:
        return None
    first = _part(found, halves.keys, bounded.first())
    if first is None:
        return None
    columns, bounds = bounded.bounds(first.schema.columns[: len(halves.keys)], "each")
    first = replace(first, query=bounded.of_some_groups(first.query))
    second = halves.split
    part = replace(second.part, query=bounded.bounded(second.part.query, halves.keys))
    schema = Schema(Kind.REGULAR, tuple(columns))
    return TwoPassSplit(first, schema, bounds, replace(second, part=part), bounded.table, _by_value(found, values))


def _by_value(found: _Aggregation, values: RankedValues) -> SplitByValue | None:
    """Split a select of exact quantiles so that each trace's part counts equal values."""
    counted = repeated(values)
    halves = None if counted is None else _halves(found, counted.found)
    if counted is None or halves is None:
        return None
    part = _part(found, [*halves.keys, (VALUE, values.value)], halves.values)
    sample = _part(found, [], counted.sample([key for _, key in halves.keys]))
    if part is None or sample is None:
        return None
    keys = [name for name, _ in halves.keys]
    query = counted.over_merged(halves.split.query, found.source, part.schema, keys, halves.values)
    if query is None:
        return None
    column, repeat = counted.repeat("sample")
    return SplitByValue(Split(part, query, halves.split.combines), sample, Schema(Kind.REGULAR, (column,)), repeat)


@record
class _Aggregation:
    """A select that only aggregates the rows of one leaf."""

    relation: Relation
    name: str
    leaf: Plan
    select: Select
    source: TableName
    types: Mapping[str, str]


def _aggregation(relation: Relation, name: str, leaf: Plan) -> _Aggregation | None:
    read = sum(isinstance(one, TableName) and one.name == name for one in walk(relation.query))
    every = (one for one in walk(relation.query) if isinstance(one, Select))
    selects = [one for one in every if isinstance(one.source, TableName) and one.source.name == name]
    # A subquery may occur several times: a check for zero repeats a divisor.
    if read != len(selects) or len(set(selects)) != 1 or not _only_aggregates(selects[0]):
        return None
    source = selects[0].source
    assert isinstance(source, TableName)
    types = dict(zip(column_names(leaf), (c.type for c in leaf.schema.columns), strict=True))
    return _Aggregation(relation, name, leaf, selects[0], source, types)


_Keys = Sequence[tuple[str, Expression]]
_Quantile = Callable[[Call, Callable[[Expression], Expression]], Expression]
"""Returns a call's quantiles over the rows of all traces, given a function that adds a value to the part of each."""


@record
class _Halves:
    """A select that is split, with the columns of each trace's part."""

    split: Split
    keys: _Keys
    """The keys of the groups, by name."""
    values: Mapping[str, Expression]
    """The other columns of each trace's rows."""


def _halves(found: _Aggregation, quantile: _Quantile | None) -> _Halves | None:
    """Split a select; with `quantile` of exact quantiles."""
    select = found.select
    halves = _Splitting(found.types, _keys(select), found.leaf.order is RowOrder.TIME, _has_sets(select), quantile)
    parts = (*select.items, select.having, *select.order_by)
    if not all(halves.fits(part) for part in parts if part is not None) or not halves.are_some:
        return None
    part = _part(found, halves.keyed, halves.partial)
    if part is None:
        return None
    group = None if select.group is None else mapped(select.group, lambda key: replaced(key, halves.final))

    def final(node: Node) -> Node | None:
        match node:
            case Query():
                return None if node is select else node
            case Item(Column(name) as value, None):
                return Item(replaced(value, halves.final), name)
            case _:
                return halves.final(node)

    above = replace(replaced(select, final), source=found.source, where=None, group=group)
    query = replaced(found.relation.query, lambda node: above if node == select else None)
    return _Halves(Split(part, query, halves.combines), halves.keyed, halves.partial)


def _part(found: _Aggregation, keys: _Keys, values: Mapping[str, Expression]) -> Relation | None:
    """Return a part of each trace: its keys and values, by name; None if a type is not known or not in Arrow."""
    relation, select = found.relation, found.select
    named = [*keys, *values.items()]
    columns = [ColumnType(one, kind) for one, value in named if (kind := type_of(value, found.types)) is not None]
    if len(columns) < len(named) or any(lost(column.type) for column in columns):
        return None
    group = Group(tuple(value for _, value in keys)) if keys else None
    query = Select(tuple(Item(value, one) for one, value in named), select.source, where=select.where, group=group)
    leaves, schema = ((found.name, found.leaf),), Schema(Kind.REGULAR, tuple(columns))
    return Relation(schema, RowOrder.ANY, query, leaves, relation.serial)


def _keys(select: Select) -> tuple[Expression, ...]:
    """Return the group keys of a select; DISTINCT groups by all columns."""
    if select.distinct:
        return tuple(dict.fromkeys(item.value for item in select.items))
    return () if select.group is None else tuple(dict.fromkeys(_every_key(select.group)))


def _every_key(group: Group) -> Iterator[Expression]:
    for key in group.keys:
        if isinstance(key, GroupingSets):
            yield from chain.from_iterable(key.sets)
        else:
            yield key


def _has_sets(select: Select) -> bool:
    return select.group is not None and any(isinstance(key, GroupingSets) for key in select.group.keys)


def _only_aggregates(select: Select) -> bool:
    """Whether a select groups and aggregates the rows of one table, and does no more than that with them."""
    more = (*select.joins, *select.steps, select.qualify)
    group, source = select.group, select.source
    if any(one is not None for one in more):
        return False
    if select.distinct and (group is not None or select.having is not None or may_aggregate(select)):
        return False
    if group is not None and (group.all or any(isinstance(key, Number | Text) for key in _every_key(group))):
        return False
    in_traces = (select.where, *_keys(select))
    if nested(*in_traces) or has_effect(*in_traces) or not isinstance(source, TableName) or source.columns:
        return False
    parts = (*select.items, *in_traces, select.having, *select.order_by)
    outer = (one.table for one in own(*parts) if isinstance(one, Column))
    inner = (one.table for one in columns_in(*nested(*parts)))
    # Neither is the select about rows of one around it, nor a query in it about rows of the select.
    return all(table in (None, source.called) for table in outer) and source.called not in inner


@record(frozen=False)
class _Splitting:
    """The keys and aggregates of a select, and how they are put together."""

    types: Mapping[str, str]
    """Types of the columns of the table."""
    keys: tuple[Expression, ...]
    sorted_again: bool
    """Whether the rows of all traces do not come trace by trace."""
    sets: bool
    """Whether several groups of a trace may become one."""
    quantile: _Quantile | None = None
    partial: dict[str, Expression] = field(default_factory=dict)
    """Partial results of each trace, by name."""
    whole: dict[Call, Expression] = field(default_factory=dict)
    """The replacement of an aggregate in the query over all traces."""
    values: list[Expression] = field(default_factory=list)
    """Arguments of DISTINCT aggregates."""

    @property
    def names(self) -> list[str]:
        """The names of the keys in each trace's rows."""
        return [f"key{place}" for place in range(len(self.keys))]

    @property
    def keyed(self) -> list[tuple[str, Expression]]:
        """The group keys of each trace, with names."""
        return [*zip(self.names, self.keys, strict=True), *((f"value{n}", one) for n, one in enumerate(self.values))]

    @property
    def are_some(self) -> bool:
        """Whether there is something to compute; a state or a list for each distinct value would save nothing."""
        gathered = self.quantile is not None or any(isinstance(one, State) for one in self.partial.values())
        return bool(self.keys or self.partial or self.values) and not (gathered and self.values)

    @property
    def combines(self) -> bool:
        """Whether partial results over the rows of several traces are as good: they are exact, in any order of rows."""
        kept = [*self.keys, *self.values]
        for one in self.partial.values():
            if not isinstance(one, Call) or one.function not in (*COMBINED, "list"):
                return False
            if one.function in ("sum", *_SAME):
                kept += one.arguments
        kinds = [type_of(one, self.types) for one in kept]
        return not any(kind is None or any(one in kind for one in _VARYING) for kind in kinds)

    def fits(self, node: Node) -> bool:
        """Note the aggregates in an expression; False if it needs anything else than these and keys."""
        if node in self.keys:
            return True
        parts = self._parts(node)
        return parts is not None and all(map(self.fits, parts))

    def _parts(self, node: Node) -> Sequence[Node] | None:
        """Return the parts of an expression that have to fit; None if it cannot itself."""
        match node:
            case Call() if self._noted(node):
                return ()
            case Query():
                return ()
            case Window(called):
                # Its own call is about groups, not rows, even if it counts all of them.
                every = (*children(called), *(one for one in children(node) if one is not called))
                return [one for one in every if not isinstance(one, Star)]
            case Call(function) if function.lower() in _OF_SETS:
                return node.arguments if all(one in self.keys for one in node.arguments) else None
            case Subquery() | InQuery() | Exists() | Frame() | FrameEnd():
                return list(children(node))
            case _:
                return list(children(node)) if is_of_group(node) else None

    def final(self, node: Node) -> Node | None:
        """Return the replacement of a key or an aggregate in the query over all traces."""
        if isinstance(node, Expression) and node in self.keys:
            return Column(f"key{self.keys.index(node)}")
        if isinstance(node, Window):
            called = mapped(node.call, lambda part: replaced(part, self.final))
            return mapped(node, lambda part: called if part is node.call else replaced(part, self.final))
        return self.whole.get(node) if isinstance(node, Call) else None

    def _noted(self, node: Call) -> bool:
        """Note an aggregate; whether it can be split."""
        if node in self.whole:
            return True
        make = _FORMS.get(node.function)
        # The tables of another query are not there in a trace.
        if make is None or node.order_by or node.nulls or has_effect(node) or nested(node):
            return False
        made = self.of_distinct(node) if node.distinct else make(self, node)
        if made is None:
            return False
        self.whole[node] = made
        return True

    def of_distinct(self, node: Call) -> Expression | None:
        """Return an aggregate of distinct values over those of each trace."""
        if node.function not in _OF_DISTINCT or len(node.arguments) != 1 or isinstance(node.arguments[0], Star):
            return None
        (value,) = node.arguments
        if node.function in _SUMS and self.may_be_float(value):
            return None
        if node.filter is not None:
            # All of these aggregates pass over NULLs.
            value = Case(((node.filter, value),))
        if value not in self.values:
            self.values.append(value)
        return replace(node, arguments=(Column(f"value{self.values.index(value)}"),), filter=None)

    def part(self, value: Expression) -> Column:
        """Add a value to the part of each trace; return its column."""
        name = next((one for one, known in self.partial.items() if known == value), f"part{len(self.partial)}")
        self.partial[name] = value
        return Column(name)

    def may_be_float(self, value: Expression) -> bool:
        """Whether a value is not known to be of another type."""
        kind = type_of(value, self.types)
        return kind is None or is_float(kind)

    def is_plain(self, value: Expression) -> bool:
        """Whether a value is surely an integer or a float."""
        kind = type_of(value, self.types)
        return kind is not None and (kind in _INTEGERS or is_float(kind))


def _count(halves: _Splitting, node: Call) -> Expression | None:
    kind = type_of(node, halves.types)
    if kind is None:
        return None
    return Cast(call("coalesce", call("sum", halves.part(node)), number(0)), kind)


def _sum(halves: _Splitting, node: Call) -> Expression | None:
    if halves.sets and halves.may_be_float(node.arguments[0]):
        return None
    # This also holds for `count_if`, which takes truth values, and is NULL without rows, as a sum is.
    return None if type_of(node.arguments[0], halves.types) is None else call("sum", halves.part(node))


def _same(halves: _Splitting, node: Call) -> Expression | None:
    return call(node.function, halves.part(node)) if len(node.arguments) == 1 else None


def _mean(halves: _Splitting, node: Call) -> Expression | None:
    (value,) = node.arguments
    if not halves.is_plain(value) or (halves.sets and halves.may_be_float(value)):
        return None
    total, rows = (call("sum", halves.part(replace(node, function=one))) for one in ("sum", "count"))
    # No warning of a division by zero: without values the sum is NULL.
    return Binary("/", Cast(total, "DOUBLE"), call("nullif", Cast(rows, "DOUBLE"), number(0)))


def _gathered(halves: _Splitting, node: Call) -> Expression | None:
    if halves.sets:
        return None
    return call("finalize", call("combine_aggr", halves.part(State(node))))


def _picked(halves: _Splitting, node: Call) -> Expression | None:
    return None if halves.sorted_again else _gathered(halves, node)


def _exact(halves: _Splitting, node: Call) -> Expression | None:
    return None if halves.quantile is None else halves.quantile(node, halves.part)


def _estimated_number(halves: _Splitting, node: Call) -> Expression | None:
    # A state takes 1 KiB, more than the distinct values of most groups.
    if halves.keys:
        return halves.of_distinct(node)
    made = _gathered(halves, node)
    return None if made is None else call("coalesce", made, number(0))


_OF_SETS = ("grouping", "grouping_id")
"""Functions that tell which keys a group has."""
_SUMS = ("sum", "avg", "mean")
_OF_DISTINCT = ("count", *_SUMS, *_SAME, *SPREADS, "approx_count_distinct")
_FORMS: Mapping[str, Callable[[_Splitting, Call], Expression | None]] = {
    **dict.fromkeys(("count", "count_star", "regr_count"), _count),
    **dict.fromkeys(("count_if", "countif"), _sum),
    "sum": _sum,
    **dict.fromkeys(("avg", "mean"), _mean),
    **dict.fromkeys(_SAME, _same),
    **dict.fromkeys((*SPREADS, *SHAPES, *TOGETHER, "approx_quantile"), _gathered),
    **dict.fromkeys((*ONES, *BESTS), _picked),
    **dict.fromkeys(QUANTILES, _exact),
    "approx_count_distinct": _estimated_number,
}
