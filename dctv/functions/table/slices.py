"""dctv.slices: match begin, end and complete events of threads into nested slices with depth and parent."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.build import columns, concatenated, descending, number, select, sorted_by
from dctv.plan.expressions import NULL, Cast, Column, Expression
from dctv.plan.nodes import Plan, physical_names
from dctv.plan.queries import Item, Select
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_NS = "BIGINT"


def _tables(arguments: Mapping[str, Argument]) -> dict[str, Plan]:
    tables = {}
    for name in ("begins", "ends", "complete"):
        if arguments[name].value is not None:
            tables[name] = arguments[name].table(f"a table for `{name}`")
            if TS not in tables[name].schema.names:
                raise BindError(f"the table for `{name}` has no column `_ts`", arguments[name].place)
    if "complete" not in tables and "begins" not in tables:
        raise BindError("`begins` and `ends`, or `complete`, must be given", arguments["begins"].place)
    if ("begins" in tables) != ("ends" in tables):
        missing = "ends" if "begins" in tables else "begins"
        raise BindError(f"`{missing}` must be given too", arguments[missing].place)
    return tables


def _bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    tables = _tables(arguments)
    leading = tables.get("begins") or tables["complete"]
    keys = arguments["partition"].items() if arguments["partition"].value is not None else []
    partitions = [key.column(leading.schema, "a partition column", owner="a table") for key in keys]
    order = arguments["order"]
    dropped = {TS, DURATION, *(p.name for p in partitions)}
    if order.value is not None:
        dropped.add(order.column(leading.schema, "the order of equal times", owner="a table").name)
    payload = [c for c in leading.schema.columns if c.name not in dropped]
    ns = parse_unit("ns")
    calls = Schema(
        Kind.EVENT,
        (
            ColumnType(TS, _NS, ns),
            *partitions,
            ColumnType("dctv:kind", "TINYINT"),
            ColumnType(DURATION, _NS, ns),
            *payload,
        ),
        tuple(p.name for p in partitions),
    )
    selects = [_calls(name, plan, calls, partitions, arguments) for name, plan in tables.items()]
    names = physical_names(calls)
    terms = [Column(TS), Column("dctv:order"), descending(Column(DURATION)), *columns(names[1:])]
    query = sorted_by(select(*columns(names), source=concatenated(selects)), *terms)
    plan = builder.query(query, tables, calls, ordered=True)
    schema = Schema(
        Kind.REGULAR,
        (
            ColumnType(TS, _NS, ns),
            ColumnType(DURATION, _NS, ns),
            *partitions,
            ColumnType("id", _NS),
            ColumnType("parent_id", _NS),
            ColumnType("depth", "INTEGER"),
            *payload,
        ),
    )
    options = {"partitions": len(partitions), "names": physical_names(schema)}
    return builder.kernel("nest", schema, [plan], options, ordered=True)


_KINDS = {"begins": 1, "ends": -1, "complete": 0}


def _calls(
    name: str, plan: Plan, calls: Schema, partitions: list[ColumnType], arguments: Mapping[str, Argument]
) -> Select:
    """Select one of the tables in the form of calls: time, partitions, kind, duration, payload, order."""
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    for partition in partitions:
        if partition.name not in own:
            raise BindError(f"the table for `{name}` has no column `{partition.name}`", arguments[name].place)
    values: dict[str, Expression] = {"dctv:kind": number(_KINDS[name])}
    if name != "complete":
        values[DURATION] = NULL
    if name == "ends":
        keep = {TS, DURATION, "dctv:kind", *(p.name for p in partitions)}
        values |= {c.name: NULL for c in calls.columns if c.name not in keep}
    items = []
    for one in calls.columns:
        value = values.get(one.name) or (Column(own[one.name], name) if one.name in own else NULL)
        items.append(Item(Cast(value, one.type), one.name))
    order = arguments["order"]
    rank = number(0)
    if order.value is not None:
        rank = Column(own[order.column(plan.schema, "the order of equal times", owner="a table").name], name)
    return select(*items, Item(rank, "dctv:order"), source=name)


SLICES = TableFunction(
    "slices",
    "nested slices of begin and end events, or of complete events with `_duration`: id, parent_id, depth",
    (
        Parameter("begins", "events that open a slice; their columns become the slice's", None, keyword_only=True),
        Parameter("ends", "events that close the innermost open slice", None, keyword_only=True),
        Parameter("complete", "events that have a `_duration`", None, keyword_only=True),
        Parameter("partition", "name of the column of threads, or a list of names", None, keyword_only=True),
        Parameter("order", "name of the column that orders events of equal time", None, keyword_only=True),
    ),
    _bind,
)
