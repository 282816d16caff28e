"""Bind GROUP USING SPANS FROM and GROUP USING PARTITION: a kernel cuts pieces, the engine aggregates them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

from dctv.bind.aggregates import FusedAggregate, aggregated
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound
from dctv.bind.context import BoundQuery, Leaves
from dctv.bind.grouping import parts_of
from dctv.bind.int128 import narrowed
from dctv.bind.payload import payload_items, with_having
from dctv.bind.per_trace import in_each_trace, is_constant
from dctv.bind.relations import names_of, relation
from dctv.bind.scope import Scope, ScopeColumn, ScopeTable
from dctv.bind.select_cores import OutputColumn, output
from dctv.bind.spans import SpanSource, bind_spans, member_of, sorted_plan, without_trace
from dctv.bind.stars import named_columns
from dctv.errors import BindError, nearest
from dctv.plan import build as w
from dctv.plan import walk
from dctv.plan.expressions import Call, Column, Expression, Number
from dctv.plan.node import Node, Query
from dctv.plan.nodes import Plan, Relation, column_names, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Select, TableName
from dctv.record import record, replace
from dctv.signatures.types import parse
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema

_T = TypeVar("_T")


@record
class Pieces:
    """The output of a cutting kernel, and the scopes outside and inside of aggregates over it."""

    plan: Plan
    keys: tuple[Expression, ...]
    """What makes a group, besides what is selected bare."""
    special: tuple[ScopeColumn, ...]
    """The special columns of the result."""
    partitions: tuple[str, ...]
    outside: Scope
    inside: Scope
    fused: FusedAggregate
    """The kernel that does without these pieces."""
    present: Expression | None = None
    """The condition that a row is a piece at all."""
    bare: frozenset[Expression] = frozenset()
    """The grouper's columns: the same for a whole group, so they may stand outside of aggregates."""


def bind_group(binder: Binding, core: ast.Core, group: ast.GroupUsingPartition | ast.GroupUsingSpans) -> Plan:
    """Bind a span select with a span group."""
    assert core.source is not None
    source = bind_spans(binder, core.source, core.where, named_columns)
    if core.kind != "SPAN":
        raise BindError("a span group makes spans", core.place, hint="write SELECT SPAN")
    if isinstance(group, ast.GroupUsingPartition):
        return _aggregate(binder, core, _partition_pieces(binder, source, group))
    grouper = narrowed(binder.table(group.table), group.table.place)

    def make(plans: Sequence[Plan]) -> Plan:
        of_trace, spans = plans
        return _aggregate(binder, core, _span_pieces(binder, without_trace(source, of_trace), spans, group))

    name = "the groups"
    if grouper.schema.partitions:
        in_traces = in_each_trace(binder.env, name, (source.plan, grouper), make)
    elif group.intersect:
        # The partitions of one trace are to cover a time together.
        in_traces = in_each_trace(binder.env, name, (source.plan,), lambda plans: make((*plans, grouper)))
        if in_traces is not None and not is_constant(grouper):
            raise BindError(
                "AND INTERSECT takes the time that all partitions of a trace cover, but these spans are of no trace",
                group.table.place,
                hint="spans of each trace are partitioned by `_trace`, others come from dctv.generate_sequential_spans",
            )
    else:
        in_traces = None
    return in_traces or _aggregate(binder, core, _span_pieces(binder, source, grouper, group))


def _distinct_partitions(plan: Plan) -> Plan:
    """Return the distinct partition values of a table."""
    leaves = Leaves()
    columns = plan.schema.columns[len(plan.schema.kind.time_columns) : plan.schema.special_count]
    schema = Schema(Kind.REGULAR, columns)
    names = physical_names(plan.schema)[len(plan.schema.kind.time_columns) : plan.schema.special_count]
    query = w.distinct(w.select(*w.named(w.columns(names), physical_names(schema)), source=leaves.name(plan)))
    query = w.sorted_by(query, *(Number(str(i + 1)) for i in range(len(columns))))
    return Relation(schema, order=RowOrder.STABLE, query=query, leaves=leaves.all())


def _span_pieces(binder: Binding, source: SpanSource, grouper: Plan, group: ast.GroupUsingSpans) -> Pieces:
    plan = source.plan
    if grouper.schema.kind is not Kind.SPAN or grouper.schema.partitions:
        raise BindError(
            f"GROUP USING SPANS FROM takes an unpartitioned span table, found {grouper.schema.describe_one()}",
            group.table.place,
            hint="GROUP USING PARTITION makes an unpartitioned one of it" if grouper.schema.partitions else None,
        )
    events = plan.schema.kind is Kind.EVENT
    if group.intersect and events:
        raise BindError(
            f"AND INTERSECT takes the time that all partitions cover, found {plan.schema.describe_one()}", group.place
        )
    # Without partitions, the time that all of them cover is the input's own.
    intersect = group.intersect and bool(plan.schema.partitions)
    partitions = plan.schema.special[len(plan.schema.kind.time_columns) :]
    times = plan.schema.columns[: len(plan.schema.kind.time_columns)]
    columns = (
        ColumnType("group", "BIGINT"),
        *grouper.schema.columns,
        *partitions,
        ColumnType("present", "BOOLEAN"),
        *times,
        *plan.schema.payload,
    )
    schema = Schema(Kind.REGULAR, columns)
    inputs = [sorted_plan(plan), sorted_plan(grouper)]
    if intersect:
        inputs.append(_distinct_partitions(plan))
    options = {"events": events, "partitions": len(partitions)}
    kernel = binder.kernel("span group", schema, inputs, {**options, "names": physical_names(schema)}, ordered=False)
    at = 1 + len(grouper.schema.columns)
    alias = "pieces"
    whole = _scope_columns(schema, alias)
    own = whole[at : at + len(partitions)]
    present = whole[at + len(partitions)]
    payload = whole[at + len(partitions) + 1 :]
    member = member_of(binder, group.table, grouper)
    grouped = ScopeTable(member.alias, whole[1:at], member.path)
    fused = FusedAggregate(
        "span aggregation",
        tuple(inputs),
        options,
        _named(whole[1 : at + len(partitions)]),
        ordered=False,
        times=_numbered(payload[: len(times)], plan.schema.kind.time_columns),
        payload=_numbered(payload[len(times) :], range(len(payload))),
        present=present.value,
        picks=True,
    )
    return Pieces(
        kernel,
        (whole[0].value,),
        (*whole[1:3], *own),
        tuple(c.name for c in partitions),
        Scope([grouped, ScopeTable(None, own), *_qualified(source, own, grouped)]),
        _inside(source, payload, own, [grouped]),
        fused,
        present.value,
        frozenset(c.value for c in grouped.columns),
    )


def _scope_columns(schema: Schema, alias: str) -> tuple[ScopeColumn, ...]:
    return tuple(ScopeColumn(c, Column(n, alias)) for c, n in zip(schema.columns, physical_names(schema), strict=True))


def _name(column: ScopeColumn) -> str:
    """Return a column's name in the query."""
    assert isinstance(column.value, Column)
    return column.value.name


def _named(columns: Sequence[ScopeColumn]) -> tuple[ColumnType, ...]:
    """Name columns as the pieces do."""
    return tuple(replace(c.column, name=_name(c)) for c in columns)


def _numbered(columns: Sequence[ScopeColumn], values: Sequence[_T]) -> dict[str, _T]:
    """Return the columns of the pieces by name."""
    return {_name(c): value for c, value in zip(columns, values, strict=False)}


def _qualified(
    source: SpanSource, partitions: tuple[ScopeColumn, ...], grouper: ScopeTable | None = None
) -> list[ScopeTable]:
    """Return the input's tables as they are known outside of aggregates: by the partitions that are kept.

    The grouper hides a table of its name.
    """
    hidden = _called(grouper.alias, grouper.path) if grouper is not None else ""
    named = [one for one in source.members if _called(one.alias, one.path) not in ("", hidden)]
    return [ScopeTable(one.alias, (), one.path, partitions) for one in named]


def _called(alias: str | None, path: tuple[str, ...]) -> str:
    return (alias or "".join(path[-1:])).lower()


def _inside(
    source: SpanSource,
    pieces: Sequence[ScopeColumn],
    partitions: Sequence[ScopeColumn],
    extra: Sequence[ScopeTable],
) -> Scope:
    """Return the scope inside of aggregates: the input's columns, with the times of the piece."""
    count = len(source.plan.schema.kind.time_columns)
    times, payload = tuple(pieces[:count]), tuple(pieces[count:])
    base = source.plan.schema.special_count
    tables = [ScopeTable(None, (*times, *partitions))]
    for member in source.members:
        columns = tuple(payload[i - base] for i in member.positions)
        tables.append(ScopeTable(member.alias, columns, member.path, (*times, *partitions)))
    named = [t for t in extra if t.alias is not None]
    inner = Scope(tables)
    # The grouper's columns are known inside too, but only by qualifier: a bare name means the input's.
    inner.tables += [ScopeTable(t.alias, (), t.path, t.columns) for t in named]
    return inner


def _partition_pieces(binder: Binding, source: SpanSource, group: ast.GroupUsingPartition) -> Pieces:
    plan = source.plan
    if plan.schema.kind is not Kind.SPAN or not plan.schema.partitions:
        raise BindError(
            f"GROUP USING PARTITION takes a partitioned span table, found {plan.schema.describe_one()}", group.place
        )
    gone = {_named_partition(n, plan.schema) for n in group.names} or set(plan.schema.partitions)
    keep = [i for i, p in enumerate(plan.schema.partitions) if p not in gone]
    schema = Schema(Kind.REGULAR, (ColumnType("interval", "BIGINT"), *plan.schema.columns))
    inputs = [sorted_plan(plan)]
    if group.intersect:
        inputs.append(_distinct_partitions(plan))
    options = {"partitions": len(plan.schema.partitions), "keep": keep}
    named = {**options, "names": physical_names(schema)}
    kernel = binder.kernel("span departition", schema, inputs, named, ordered=False)
    whole = _scope_columns(schema, "pieces")
    times, own = whole[1:3], whole[3 : 3 + len(plan.schema.partitions)]
    kept = tuple(own[i] for i in keep)
    payload = whole[3 + len(own) :]
    fused = FusedAggregate(
        "departition",
        tuple(inputs),
        options,
        _named((*times, *kept)),
        # With partitions kept, intervals come in the order of their ends.
        ordered=not keep,
        times=_numbered(times, plan.schema.kind.time_columns),
        payload=_numbered(payload, range(len(payload))),
        present=None,
        picks=False,
    )
    return Pieces(
        kernel,
        (whole[0].value,),
        (*times, *kept),
        tuple(c.name for c in kept),
        Scope([ScopeTable(None, (*times, *kept)), *_qualified(source, kept)]),
        _inside(source, (*times, *payload), own, []),
        fused,
    )


def _named_partition(name: ast.Name, schema: Schema) -> str:
    for partition in schema.partitions:
        if partition.lower() == name.text.lower():
            return partition
    near = nearest(name.text, list(schema.partitions))
    raise BindError(
        f"`{name.text}` is not a partition column; the table is partitioned by {', '.join(schema.partitions)}",
        name.place,
        hint=f"did you mean `{near}`?" if near else None,
    )


def _aggregate(binder: Binding, core: ast.Core, pieces: Pieces) -> Plan:
    """Aggregate the pieces of each group by the engine."""
    leaves = Leaves()
    alias = leaves.alias("pieces")
    context = replace(
        binder.context(pieces.outside, leaves, clause="a span group"),
        aggregated=pieces.inside,
        present=pieces.present,
    )
    special = [OutputColumn(c.name, Bound(c.value, c.column.unit, type=c.type)) for c in pieces.special]
    items = [*special, *payload_items(core, context, special)]
    outs = tuple(replace(output(item), wide=False) for item in items)
    source = TableName(leaves.name(pieces.plan), alias)
    query = w.select(*w.named([i.bound.value for i in items], names_of(outs)), source=source)
    parts, having, sure = with_having(core, context, items)
    query = replace(query, having=having)
    fast = _in_kernel(binder, core, pieces, items, query.having, sure=sure)
    if fast is not None:
        return fast
    # What is grouped by is what makes a group, and what of the grouper stands outside of aggregates.
    keys = dict.fromkeys((*pieces.keys, *(c.value for c in pieces.special)))
    keys.update(dict.fromkeys(one for one in _unfiltered(query) if one in pieces.bare))
    query = w.grouped(query, keys)
    serial = any(one.serial for one in parts_of(parts))
    bound = BoundQuery(query, outs, tuple(parts), source, sure=sure, serial=serial)
    made = relation(bound, leaves, binder.env, core.place, RowOrder.ANY)
    schema = Schema(Kind.SPAN, made.schema.columns, pieces.partitions)
    return replace(made, schema=schema)


def _unfiltered(query: Query) -> Iterator[Expression]:
    """Yield the columns of a query outside of filtered aggregates, in the order in which they are written."""
    stack: list[Node] = [query]
    while stack:
        node = stack.pop()
        if isinstance(node, Column):
            yield node
        elif not (isinstance(node, Call) and node.filter is not None):
            stack += reversed(list(walk.children(node)))


def _in_kernel(
    binder: Binding,
    core: ast.Core,
    pieces: Pieces,
    items: Sequence[OutputColumn],
    having: Expression | None,
    *,
    sure: bool,
) -> Plan | None:
    """Let the kernel aggregate, where it can."""
    values = [i.bound.value for i in items]
    fast = aggregated(binder, pieces.fused, values if having is None else [*values, having])
    if fast is None:
        return None
    kernel, swapped = fast
    leaves = Leaves()
    # What is a column of the kernel's as it is has that column's type: a sum that is the whole value has 64 bits.
    own = dict(zip(column_names(kernel), (c.type for c in kernel.schema.columns), strict=True))
    outs = tuple(
        replace(output(i), type=parse(own[s.name])) if isinstance(s, Column) else output(i)
        for i, s in zip(items, swapped, strict=False)
    )
    columns = w.named(swapped[: len(items)], names_of(outs))
    source = TableName(leaves.name(kernel), leaves.alias("pieces"))
    query = Select(tuple(columns), source, where=None if having is None else swapped[-1])
    bound = BoundQuery(query, outs, tuple(i.bound for i in items), source, sure=sure)
    made = relation(bound, leaves, binder.env, core.place, kernel.order)
    schema = Schema(Kind.SPAN, made.schema.columns, pieces.partitions)
    return replace(made, schema=schema)
