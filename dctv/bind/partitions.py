"""Check that the partitions of two span tables fit a join, and bring them to the same columns."""

from __future__ import annotations

from dctv.bind.context import Leaves
from dctv.errors import BindError
from dctv.plan.build import named, select
from dctv.plan.expressions import Cast, Column, Expression
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.record import record, replace
from dctv.syntax import ast
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.values import common_integer, is_integer


@record
class Aligned:
    """Two inputs with partition columns in the same order and of the same types."""

    left: Plan
    right: Plan
    how: str
    broadcast: str | None
    special: tuple[ColumnType, ...]
    partitions: tuple[ColumnType, ...]
    compared: tuple[str, str] | None = None
    """The partition columns of the sides, where their names differ."""

    @property
    def keys(self) -> int:
        """How many partition columns the partitioned inputs have."""
        return len(self.partitions)


def _hint(left: Plan, right: Plan) -> str | None:
    """Return a hint for a right side that is no span table."""
    if right.schema.kind is not Kind.EVENT:
        return None
    if left.schema.kind is not Kind.EVENT:
        return "put the event table on the left"
    return "make spans of one: dctv.time_series_to_spans; or ASOF JOIN pairs each event with the latest one before it"


def align(node: ast.SpanJoin | ast.SpanBroadcast, left: Plan, right: Plan) -> Aligned:
    """Check kinds and partitions of a join."""
    if right.schema.kind is not Kind.SPAN:
        raise BindError(
            f"the right side of a {_name(node)} is a span table, found {right.schema.describe_one()}",
            node.right.place,
            hint=_hint(left, right),
        )
    if isinstance(node, ast.SpanBroadcast):
        return _broadcast(node, left, right)
    how = node.kind.lower()
    if left.schema.kind is Kind.EVENT:
        if how == "right":
            raise BindError("an event table has no SPAN RIGHT JOIN", node.place, hint="use SPAN JOIN or SPAN LEFT JOIN")
        how = "left" if how == "outer" else how
        left = _partitioned_like(left, right.schema)
    a, b = left.schema, right.schema
    if len(a.partitions) != len(b.partitions):
        raise BindError(
            f"SPAN JOIN needs the same partitions on both sides, found {a.describe_one()} and {b.describe_one()}",
            node.place,
            hint=_offer(a, b),
        )
    names = _order(node, a, b)
    partitions = tuple(_common(node, _column(a, x), _column(b, y), x) for x, y in zip(a.partitions, names, strict=True))
    left = _cast(left, a.partitions, partitions)
    right = _cast(right, names, partitions)
    made = _finish(node, left, right, how, None, partitions)
    different = len(names) == 1 and names[0].lower() != a.partitions[0].lower()
    return replace(made, compared=(a.partitions[0], names[0])) if different else made


def _partitioned_like(events: Plan, spans: Schema) -> Plan:
    """Partition an event table by the columns that the spans are partitioned by, where it has them."""
    names = {c.name.lower(): c.name for c in events.schema.payload}
    if events.schema.partitions or not all(p.lower() in names for p in spans.partitions):
        return events
    keys = tuple(names[p.lower()] for p in spans.partitions)
    columns = {c.name: c for c in events.schema.columns}
    rest = [c for c in events.schema.payload if c.name not in keys]
    schema = Schema(Kind.EVENT, (columns[TS], *(columns[k] for k in keys), *rest), keys)
    leaves = Leaves()
    source = leaves.name(events)
    physical = dict(zip(events.schema.names, physical_names(events.schema), strict=True))
    values = [Column(physical[c.name], source) for c in schema.columns]
    query = select(*named(values, physical_names(schema)), source=source)
    return Relation(schema, order=events.order, query=query, leaves=leaves.all())


def _name(node: ast.SpanJoin | ast.SpanBroadcast) -> str:
    return "SPAN JOIN" if isinstance(node, ast.SpanJoin) else "SPAN BROADCAST"


def _offer(a: Schema, b: Schema) -> str:
    if a.partitions and not b.partitions:
        return "SPAN BROADCAST FROM applies the right side to every partition of the left"
    if b.partitions and not a.partitions:
        return "SPAN BROADCAST INTO applies the left side to every partition of the right"
    return "GROUP USING PARTITION (names) takes partition columns away"


def _broadcast(node: ast.SpanBroadcast, left: Plan, right: Plan) -> Aligned:
    into = node.direction == "INTO"
    single, many = (left, right) if into else (right, left)
    where = (node.left, node.right) if into else (node.right, node.left)
    if single.schema.kind is not Kind.SPAN or single.schema.partitions:
        raise BindError(
            f"SPAN BROADCAST {node.direction} takes an unpartitioned span table "
            f"{'before' if into else 'after'} it, found {single.schema.describe_one()}",
            where[0].place,
            hint=_other_way(node, many.schema, single.schema),
        )
    if not many.schema.partitions:
        raise BindError(
            f"SPAN BROADCAST {node.direction} takes a partitioned table "
            f"{'after' if into else 'before'} it, found {many.schema.describe_one()}",
            where[1].place,
            hint=_other_way(node, many.schema, single.schema) or "SPAN JOIN joins unpartitioned tables",
        )
    kept = "right" if into else "left"
    how = "inner" if node.kind == "INNER" else kept
    partitions = tuple(_column(many.schema, p) for p in many.schema.partitions)
    return _finish(node, left, right, how, "left" if into else "right", partitions)


def _other_way(node: ast.SpanBroadcast, many: Schema, single: Schema) -> str | None:
    if single.partitions and not many.partitions:
        other = "FROM" if node.direction == "INTO" else "INTO"
        return f"SPAN BROADCAST {other} takes them the other way round"
    return "SPAN JOIN joins tables with the same partitions" if single.partitions else None


def _finish(
    node: ast.SpanJoin | ast.SpanBroadcast,
    left: Plan,
    right: Plan,
    how: str,
    broadcast: str | None,
    partitions: tuple[ColumnType, ...],
) -> Aligned:
    if node.partition_as is not None:
        if len(partitions) != 1:
            found = f"{len(partitions)} of them" if partitions else "no partitions"
            raise BindError(f"PARTITION AS names one partition column, found {found}", node.partition_as.place)
        partitions = (ColumnType(node.partition_as.text, partitions[0].type, partitions[0].unit),)
    times = left.schema.columns[: len(left.schema.kind.time_columns)]
    return Aligned(left, right, how, broadcast, (*times, *partitions), partitions)


def _column(schema: Schema, name: str) -> ColumnType:
    return next(c for c in schema.columns if c.name == name)


def _order(node: ast.SpanJoin | ast.SpanBroadcast, a: Schema, b: Schema) -> tuple[str, ...]:
    """Return the right side's partition columns in the order of the left's."""
    lowered = {p.lower(): p for p in b.partitions}
    if all(p.lower() in lowered for p in a.partitions):
        return tuple(lowered[p.lower()] for p in a.partitions)
    if len(a.partitions) == 1 and node.partition_as is not None:
        return b.partitions
    raise BindError(
        f"the sides are partitioned by different columns: {', '.join(a.partitions)} and {', '.join(b.partitions)}",
        node.place,
        hint=_matching(a.partitions[0], b.partitions[0]) if len(a.partitions) == 1 else None,
    )


def _matching(left: str, right: str) -> str:
    return (
        f"PARTITION AS name if `{left}` and `{right}` hold the same thing; else GROUP USING PARTITION takes the "
        "partitions of one side away, and SPAN BROADCAST joins it"
    )


def _common(node: ast.Node, a: ColumnType, b: ColumnType, name: str) -> ColumnType:
    if a.unit != b.unit:
        raise BindError(f"partition columns differ in unit: `{a.unit}` and `{b.unit}`", node.place)
    if a.type == b.type:
        return ColumnType(name, a.type, a.unit)
    if is_integer(a.type) and is_integer(b.type):
        return ColumnType(name, common_integer(a.type, b.type), a.unit)
    raise BindError(f"partition columns differ in type: {a.type} and {b.type}", node.place, hint="cast one of them")


def _cast(plan: Plan, names: tuple[str, ...], partitions: tuple[ColumnType, ...]) -> Plan:
    """Bring partition columns into order and to their common types."""
    own = tuple(_column(plan.schema, n) for n in names)
    if names == plan.schema.partitions and all(x.type == y.type for x, y in zip(own, partitions, strict=True)):
        return plan
    leaves = Leaves()
    source = leaves.name(plan)
    physical = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    times = plan.schema.columns[: len(plan.schema.kind.time_columns)]
    new = [ColumnType(x.name, y.type, x.unit) for x, y in zip(own, partitions, strict=True)]
    schema = Schema(plan.schema.kind, (*times, *new, *plan.schema.payload), names)
    inner = physical_names(plan.schema)
    values: list[Expression] = [Column(physical[c.name], source) for c in times]
    values += [Cast(Column(physical[x.name], source), y.type) for x, y in zip(own, partitions, strict=True)]
    values += [Column(n, source) for n in inner[plan.schema.special_count :]]
    query = select(*named(values, physical_names(schema)), source=source)
    return Relation(schema, order=plan.order, query=query, leaves=leaves.all())
