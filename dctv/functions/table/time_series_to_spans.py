"""dctv.time_series_to_spans: match start and stop events into spans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, Quantity, TableFunction
from dctv.errors import BindError, nearest
from dctv.functions.table.interval_tables import refuse_other_units
from dctv.plan.nodes import Plan, physical_names
from dctv.record import record
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

_SOURCE_KEYS = ("source", "role", "partition", "timestamp", "nickname")
_COLUMN_KEYS = ("column", "source", "source_column", "edge")


@record(frozen=False)
class _Source:
    plan: Plan
    starts: bool
    partition: str | None
    timestamp: str
    nickname: str | None
    argument: Argument
    payload: list[str]
    """Names of its columns in the output, in order."""


@record
class _Output:
    name: str
    source: int
    position: int
    edge: str
    type: ColumnType


def _bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    sources = [_source(a) for a in arguments["sources"].items()]
    _refuse_doubles(sources)
    if not sources:
        raise BindError("`sources` is empty", arguments["sources"].place)
    partition = arguments["partition"]
    name = None if partition.value is None else partition.string("the name of the partition column")
    key = _partition_type(name, sources, partition)
    columns = [] if arguments["columns"].value == [] else arguments["columns"].items()
    outputs: list[_Output] = []
    taken = {TS, DURATION, *(c.name.lower() for c in key)}
    for column in columns:
        output = _output(column, sources)
        if output.name.lower() in taken:
            what = "a special column of the result" if output.name in (TS, DURATION) else "in the result already"
            hint = f"give it another name: {{column=>'...', source_column=>'{output.name}'}}"
            raise BindError(f"`{output.name}` is {what}", column.place, hint=hint)
        taken.add(output.name.lower())
        outputs.append(output)
    ns = parse_unit("ns")
    special = [ColumnType(TS, "BIGINT", ns), ColumnType(DURATION, "BIGINT", ns), *key]
    payload = [ColumnType(o.name, o.type.type, o.type.unit) for o in outputs]
    schema = Schema(Kind.SPAN, (*special, *payload), tuple(c.name for c in key))
    options = {
        "starts": [s.starts for s in sources],
        "partitions": len(key),
        "columns": [(o.source, o.position, o.edge) for o in outputs],
        "close_at": _close_at(arguments),
        "names": physical_names(schema),
    }
    return builder.kernel("series to spans", schema, [_input(s, builder, key) for s in sources], options, ordered=True)


def _refuse_doubles(sources: Sequence[_Source]) -> None:
    seen: set[str] = set()
    for source in sources:
        if source.nickname is not None and source.nickname in seen:
            raise BindError(f"two sources have the nickname `{source.nickname}`", source.argument.place)
        seen.add(source.nickname or "")


def _close_at(arguments: Mapping[str, Argument]) -> int | None:
    choice = arguments["open_spans"].choice("`open_spans`", ("drop", "close"))
    end = arguments["end"]
    if choice == "drop":
        if end.value is not None:
            raise BindError("`end` has no use without open_spans=>'close'", end.place)
        return None
    if end.value is None:
        raise BindError(
            "open_spans=>'close' needs `end`", arguments["open_spans"].place, hint="such as end=>10s; see last_ts"
        )
    return end.nanoseconds("`end`")


def _source(argument: Argument) -> _Source:
    record = argument.record("a source", _SOURCE_KEYS)
    if "source" not in record:
        raise BindError("a source needs the entry `source`", argument.place)
    plan = record["source"].table("a table as the source")
    role = record["role"].choice("`role`", ("start", "stop")) if "role" in record else "start"
    timestamp = _timestamp(plan, record.get("timestamp", Argument(TS, argument.place)))
    partition = record.get("partition")
    own = None if partition is None else _named(partition, plan).name
    nickname = record["nickname"].string("a name for the source") if "nickname" in record else None
    return _Source(plan, role == "start", own, timestamp, nickname, argument, [])


def _named(argument: Argument, plan: Plan) -> ColumnType:
    return argument.column(plan.schema, "a column", owner="the source")


def _timestamp(plan: Plan, argument: Argument) -> str:
    """Return the column of the times; `ts` means `_ts` if there is no other `ts`, as in the manual's example."""
    if argument.value == "ts" and "ts" not in plan.schema.names and TS in plan.schema.names:
        return TS
    column = _named(argument, plan)
    found, unit = column.name, column.unit
    if unit not in (NO_UNIT, parse_unit("ns")):
        raise BindError(f"the timestamp column `{found}` is not in ns", argument.place, hint=f"select {found} IN ns")
    return found


def _partition_type(name: str | None, sources: list[_Source], argument: Argument) -> tuple[ColumnType, ...]:
    for source in sources:
        if (source.partition is None) != (name is None):
            found = "has no partition" if source.partition is None else f"is partitioned by `{source.partition}`"
            wanted = "no partition" if name is None else f"partition=>'{name}'"
            raise BindError(
                f"the call has {wanted}, but this source {found}",
                source.argument.place,
                hint="give `partition` to the call and to every source, or to none",
            )
    if name is None:
        return ()
    types = [next(c for c in s.plan.schema.columns if c.name == s.partition) for s in sources]
    if len({t.type for t in types}) > 1:
        shown = " and ".join(dict.fromkeys(t.type for t in types))
        raise BindError(f"partition columns of the sources differ in type: {shown}", argument.place, hint="cast them")
    refuse_other_units(types, argument.place)
    return (ColumnType(name, types[0].type, types[0].unit),)


def _output(argument: Argument, sources: list[_Source]) -> _Output:
    if not isinstance(argument.value, str | list | dict):
        raise argument.fail("a column: a string, list or dict")
    record = argument.record("a column", _COLUMN_KEYS)
    if "column" not in record:
        raise BindError("a column needs the entry `column`", argument.place)
    name = record["column"].string("the name of a column")
    index = _source_index(record, sources, argument)
    source = sources[index]
    column = _named(record.get("source_column", record["column"]), source.plan)
    found = column.name
    edge = record["edge"].choice("`edge`", ("rising", "falling")) if "edge" in record else "rising"
    if found not in source.payload:
        source.payload.append(found)
    return _Output(name, index, source.payload.index(found), edge, column)


def _source_index(record: Mapping[str, Argument], sources: list[_Source], argument: Argument) -> int:
    if "source" not in record:
        if len(sources) > 1:
            raise BindError(
                "with several sources, a column says which one it is from",
                argument.place,
                hint="source=>0, or a nickname",
            )
        return 0
    given = record["source"]
    if isinstance(given.value, Quantity):
        index = given.integer("the number of a source")
        if not 0 <= index < len(sources):
            numbers = "only source 0" if len(sources) == 1 else f"they are numbered 0 to {len(sources) - 1}"
            raise BindError(f"there is no source {index}, {numbers}", given.place)
        return index
    wanted = given.string("the number or nickname of a source")
    nicknames = [s.nickname for s in sources]
    if wanted not in nicknames:
        names = [n for n in nicknames if n is not None]
        near = nearest(wanted, names)
        listed = f"nicknames: {', '.join(names)}" if names else "no source has a nickname"
        hint = f"did you mean `{near}`?" if near else listed
        raise BindError(f"no source has the nickname `{wanted}`", given.place, hint=hint)
    return nicknames.index(wanted)


def _input(source: _Source, builder: PlanBuilder, key: tuple[ColumnType, ...]) -> Plan:
    """Project a source to time, partition and payload, in time order."""
    by_name = {c.name: c for c in source.plan.schema.columns}
    columns = [(source.timestamp, TS)]
    types = [ColumnType(TS, "BIGINT", parse_unit("ns"))]
    if source.partition is not None:
        columns.append((source.partition, key[0].name))
        types.append(key[0])
    for name in source.payload:
        columns.append((name, name))
        types.append(by_name[name])
    return builder.ordered(source.plan, columns, Schema(Kind.EVENT, tuple(types), tuple(c.name for c in key)))


TIME_SERIES_TO_SPANS = TableFunction(
    "time_series_to_spans",
    "spans between the events of one or more sources",
    (
        Parameter(
            "sources",
            "tables of events, each alone or as {source, role, partition, timestamp, nickname}",
            REQUIRED,
            keyword_only=True,
        ),
        Parameter(
            "columns",
            "payload columns, each a name or {column, source, source_column, edge}",
            REQUIRED,
            keyword_only=True,
        ),
        Parameter("partition", "name of the result's partition column", None, keyword_only=True),
        Parameter("open_spans", "'drop' or 'close' what is open at the end", "drop", keyword_only=True),
        Parameter("end", "when open spans end, for open_spans=>'close'", None, keyword_only=True),
    ),
    _bind,
    aliases=("time_series_to_span",),
)
