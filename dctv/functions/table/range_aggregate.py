"""dctv.range_aggregate: aggregate the rows of a table that lie in each of many windows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError, nearest
from dctv.functions.table.interval_tables import (
    DURATION_NAME,
    END_NAME,
    PARTITION,
    TS_NAME,
    VALUE,
    checked,
    interval_arguments,
    number_column,
    ordered,
    refuse_name,
    refuse_other_units,
)
from dctv.plan.nodes import Plan, physical_names
from dctv.record import replace
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.values import is_float, is_integer

_ANY = ("count", "first", "last")
"""Aggregates that accept values of any type."""
_AGGREGATES = ("count", "sum", "min", "max", "mean", "first", "last")
_WIDE = ("UBIGINT", "HUGEINT", "UHUGEINT")
"""Integer types that are not comparable with others."""


def _range_aggregate(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = arguments["table"].table("a span or event table")
    if plan.schema.kind is Kind.REGULAR:
        hint = "dctv.as_spans(...) and dctv.as_events(...) give it a kind"
        raise BindError("expected a span or event table, found a regular table", arguments["table"].place, hint=hint)
    aggregate = arguments["aggregate"].choice("the aggregate", _AGGREGATES)
    what = "the column that is aggregated"
    if aggregate in _ANY:
        value = arguments["column"].column(plan.schema, what)
    else:
        value = number_column(arguments["column"], plan.schema, what)
    windows, kind = _windows(arguments, plan.schema, builder)
    refuse_name(aggregate, windows.schema.columns, arguments["windows"])
    matched = _matched(plan.schema, windows.schema, arguments["windows"])
    names = [key.name for key in matched]
    keys = [*matched, *(c for c in _keys(plan.schema) if c.name not in names)]
    own = [*plan.schema.special[: len(plan.schema.kind.time_columns)], *keys]
    read = Schema(plan.schema.kind, (*own, replace(value, name=VALUE)), tuple(k.name for k in keys))
    rows = builder.ordered(plan, [*((c.name, c.name) for c in own), (value.name, VALUE)], read)
    partitions = windows.schema.partitions if kind is Kind.SPAN else ()
    schema = Schema(kind, (*windows.schema.columns, _result_column(aggregate, value)), partitions)
    options = {
        "events": plan.schema.kind is Kind.EVENT,
        "matched": [windows.schema.partitions.index(name) for name in names],
        "aggregate": aggregate,
        "names": physical_names(schema),
    }
    return builder.kernel("range aggregate", schema, [rows, windows], options, ordered=True)


def _windows(arguments: Mapping[str, Argument], table: Schema, builder: PlanBuilder) -> tuple[Plan, Kind]:
    """Return the windows as spans in order of time, and their kind."""
    argument = arguments["windows"]
    plan = argument.table("a table of windows")
    has_arguments = any(arguments[key].value is not None for key in ("duration", "end", "partition"))
    if plan.schema.kind is Kind.SPAN and not has_arguments and arguments["ts"].value == TS:
        return ordered(plan, plan.schema.columns, Kind.SPAN, plan.schema.partitions, builder), Kind.SPAN
    made = interval_arguments({**arguments, "table": argument})
    for name in (TS, DURATION):
        refuse_name(name, made.payload, argument)
    for key in made.partitions:
        if key.name not in table.partitions:
            near = nearest(key.name, list(table.partitions))
            partitions_hint = (
                f"its partitions: {', '.join(table.partitions)}" if table.partitions else "it has no partitions"
            )
            hint = f"did you mean `{near}`?" if near else partitions_hint
            raise BindError(f"the table is not partitioned by `{key.name}`", arguments["partition"].place, hint=hint)
    # They may overlap, unlike spans of one partition.
    return checked(made, builder, disjoint=False), Kind.REGULAR


def _keys(schema: Schema) -> Sequence[ColumnType]:
    return schema.special[len(schema.kind.time_columns) :]


def _matched(table: Schema, windows: Schema, argument: Argument) -> list[ColumnType]:
    """Return the partition columns of the table that the windows also have."""
    own = {key.name: key for key in _keys(windows)}
    found = [key for key in _keys(table) if key.name in own]
    for key in found:
        other = own[key.name]
        refuse_other_units((key, other), argument.place)
        whole = all(is_integer(one.type) and one.type not in _WIDE for one in (key, other))
        if key.type != other.type and not whole:
            types = f"{key.type} and {other.type}"
            raise BindError(f"partition columns differ in type: {types}", argument.place, hint="cast one of them")
    return found


def _result_column(aggregate: str, value: ColumnType) -> ColumnType:
    """Return the result column of an aggregate."""
    if aggregate == "count":
        return ColumnType(aggregate, "BIGINT")
    kind = value.type
    if aggregate == "mean" or (aggregate == "sum" and is_float(kind)):
        kind = "DOUBLE"
    elif aggregate == "sum":
        kind = "BIGINT" if is_integer(kind) else f"DECIMAL(38,{kind.rstrip(')').rpartition(',')[2]})"
    return ColumnType(aggregate, kind, value.unit)


RANGE_AGGREGATE = TableFunction(
    "range_aggregate",
    "windows of time, each with what a column of the rows in it comes to: events that it covers, spans that share some "
    "time with it, which count whole. Where both have a partition of one name, rows belong to windows that agree in "
    "it; other partitions are taken together. NULLs do not count; without any value the result is NULL, or a `count` "
    "of 0. A window takes a few steps, however many rows are in it, and of spans as many for each partition; times and "
    "values of the table are held in memory",
    (
        Parameter("table", "a span or event table", REQUIRED),
        Parameter("column", "name of its column that is aggregated", REQUIRED),
        Parameter(
            "aggregate",
            "'count', 'sum', 'min', 'max', 'mean', 'first' or 'last', which is also the name of the result's column; "
            "'first' and 'last' are by begin, of several at once by row",
            REQUIRED,
        ),
        Parameter(
            "windows", "a span table, or a regular table of intervals: then the result is a regular table", REQUIRED
        ),
        replace(TS_NAME, doc=f"of a regular table of windows: {TS_NAME.doc}"),
        replace(DURATION_NAME, doc=f"likewise: {DURATION_NAME.doc}"),
        replace(END_NAME, doc=f"likewise: {END_NAME.doc}"),
        replace(
            PARTITION,
            doc="likewise: name of the column that is to agree with a partition of the table, or a list of them",
        ),
    ),
    _range_aggregate,
)
