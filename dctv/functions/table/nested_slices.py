"""dctv.nested_slices: nest slices from begins and ends and slices of known length; overlapping ones get lanes."""

from __future__ import annotations

from collections.abc import Mapping

from dctv.contracts.table_function import Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError
from dctv.plan.build import adding, call, case, number, select, sorted_by, typed_nothing, union_all
from dctv.plan.expressions import FALSE, NULL, Cast, Column, Expression, IsNull
from dctv.plan.nodes import Plan, Relation, physical_names
from dctv.plan.queries import Item, Select
from dctv.record import record, replace
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_NS = parse_unit("ns")
_TIME, _LENGTH = ColumnType(TS, "BIGINT", _NS), ColumnType(DURATION, "BIGINT", _NS)
_RANK = ColumnType("dctv:rank", "BIGINT")
_PLACE = (ColumnType("id", "BIGINT"), ColumnType("parent_id", "BIGINT"), ColumnType("depth", "INTEGER"))
_LANE = ColumnType("lane", "BIGINT")
_OWN = ColumnType("dctv:own", "BIGINT")
_PAIR = ColumnType("dctv:pair", "INTEGER")
_ARGS = "args"
_END_ARGS = ColumnType("dctv:end args", "JSON")


@record
class _Inputs:
    """The tables with their required columns, and the result's columns besides times and places."""

    tables: Mapping[str, Plan]
    key: ColumnType
    rank: str
    payload: tuple[ColumnType, ...]
    end_order: tuple[ColumnType, ...]
    """The order column of the event that closed a slice, if it is requested."""

    @property
    def merges_args(self) -> bool:
        """Whether ends also have arguments."""
        ends = self.tables.get("ends")
        types = {c.name: c.type for c in self.payload}
        return ends is not None and _ARGS in ends.schema.names and types.get(_ARGS) == _END_ARGS.type

    @property
    def schema(self) -> Schema:
        """The schema of the result."""
        return Schema(Kind.REGULAR, (_TIME, _LENGTH, self.key, *_PLACE, _LANE, *self.payload, *self.end_order))


def _inputs(arguments: Mapping[str, Argument]) -> _Inputs:
    tables: dict[str, Plan] = {}
    for name in ("begins", "ends", "completes"):
        if arguments[name].value is not None:
            tables[name] = arguments[name].table(f"a table for `{name}`")
    if ("begins" in tables) != ("ends" in tables) or not tables:
        found = "`begins`" if "begins" in tables else "`ends`" if "ends" in tables else "nothing"
        raise BindError(f"expected `begins` with `ends`, or `completes`, or all three, found {found}")
    names = {"partition": arguments["partition"], "order": arguments["order"]}
    keys = {name: names["partition"].column(plan.schema, "the track") for name, plan in tables.items()}
    ranks = {name: names["order"].column(plan.schema, "the order of equal times") for name, plan in tables.items()}
    key, rank = next(iter(keys.values())), next(iter(ranks.values())).name
    dropped = {TS, DURATION, "dur", key.name, *(c.name for c in (*_PLACE, _LANE))}
    payload = {c.name: c for n, plan in tables.items() if n != "ends" for c in plan.schema.columns}
    rest = tuple(c for name, c in payload.items() if name not in dropped)
    end_order = _end_order(arguments["end_order"], payload)
    for name, plan in tables.items():
        needed = (TS,) if name != "completes" else (TS, _length(plan))
        for one in needed:
            if one not in plan.schema.names:
                raise BindError(f"the table for `{name}` has no column `{one}`", arguments[name].place)
    return _Inputs({n: p for n, p in tables.items() if not _nothing(p)}, key, rank, rest, end_order)


def _end_order(argument: Argument, payload: Mapping[str, ColumnType]) -> tuple[ColumnType, ...]:
    if argument.value is None:
        return ()
    name = argument.string("the name of a column")
    if name in payload:
        raise BindError(f"slices have a column `{name}` already", argument.place)
    return (ColumnType(name, "BIGINT"),)


def _length(plan: Plan) -> str:
    return "dur" if DURATION not in plan.schema.names and "dur" in plan.schema.names else DURATION


def _nothing(plan: Plan) -> bool:
    """Whether a table is known to have no rows."""
    query = plan.query if isinstance(plan, Relation) and not plan.leaves else None
    return isinstance(query, Select) and query.where == FALSE


def _bind(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    given = _inputs(arguments)
    schema = given.schema
    if not given.tables.keys() - {"ends"}:
        return builder.query(typed_nothing(schema), {}, schema, ordered=True)
    if "completes" not in given.tables:
        return _on_one_lane(given, _pairs(given, builder), builder)
    columns = (_TIME, given.key, _LENGTH, *given.payload, *given.end_order)
    input_schema = Schema(Kind.EVENT, columns, (given.key.name,))
    slices = _input(given, "completes", input_schema, builder)
    paired = "begins" in given.tables
    if paired:
        slices = _combined(given, slices, _pairs(given, builder), builder)
    options = {"partitions": 1, "names": physical_names(schema), "paired": paired}
    return builder.kernel("nest lanes", schema, [slices], options, ordered=True)


def _pairs(given: _Inputs, builder: PlanBuilder) -> Plan:
    """Match begins and ends."""
    special = (_TIME, given.key, _RANK)
    begins = _input(given, "begins", Schema(Kind.EVENT, (*special, *given.payload), (given.key.name,)), builder)
    merged = given.merges_args
    more = (*given.end_order, _END_ARGS) if merged else given.end_order
    ends = _input(given, "ends", Schema(Kind.EVENT, (*special, *more), (given.key.name,)), builder)
    schema = Schema(Kind.REGULAR, (_TIME, _LENGTH, given.key, *_PLACE, _OWN, *given.payload, *more))
    options = {"partitions": 1, "ranked": True, "names": physical_names(schema)}
    pairs = builder.kernel("nest pairs", schema, [begins, ends], options, ordered=True)
    return _with_end_args(pairs, builder) if merged else pairs


def _with_end_args(pairs: Plan, builder: PlanBuilder) -> Plan:
    """Merge arguments of ends into those of their begins."""
    schema = replace(pairs.schema, columns=pairs.schema.columns[:-1])
    begun, ended = Column(_ARGS), Column(_END_ARGS.name)
    whole = Cast(call("json_merge_patch", begun, ended), "JSON")
    args = case((IsNull(ended), begun), (IsNull(begun), ended), default=whole)
    names = physical_names(schema)
    items = [Item(args if name == _ARGS else Column(name), name) for name in names]
    return builder.query(select(*items, source="pairs"), {"pairs": pairs}, schema, ordered=True)


def _input(given: _Inputs, name: str, schema: Schema, builder: PlanBuilder) -> Plan:
    """Project a table; one in order of time is also in order of lines."""
    if name not in given.tables:
        return builder.query(typed_nothing(schema), {}, schema, ordered=True)
    plan = given.tables[name]
    own = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    sources = {_RANK.name: given.rank, DURATION: _length(plan), _END_ARGS.name: _ARGS}
    if name == "ends":
        sources |= {one.name: given.rank for one in given.end_order}
    names = physical_names(schema)
    items = []
    for one, made in zip(schema.columns, names, strict=True):
        source = own.get(sources.get(one.name, one.name))
        items.append(Item(Cast(NULL if source is None else Column(source, "t"), one.type), made))
    query = select(*items, source="t")
    if not plan.ordered:
        lined = adding(query, Item(Column(own[given.rank], "t"), "dctv:line"))
        query = sorted_by(select(*names, source=lined), Column(TS), Column("dctv:line"))
    return builder.query(query, {"t": plan}, schema, ordered=True)


def _combined(given: _Inputs, slices: Plan, pairs: Plan, builder: PlanBuilder) -> Plan:
    """Combine slices of both kinds, with the depth among pairs for pairs."""
    columns = slices.schema.columns
    schema = replace(slices.schema, columns=(*columns[:3], _PAIR, *columns[3:]))
    names = physical_names(schema)

    def kind(source: str, pair: Expression) -> Select:
        return select(*(Item(pair, name) if name == _PAIR.name else name for name in names), source=source)

    union = union_all(kind("known", Cast(NULL, _PAIR.type)), kind("pairs", Column(_PLACE[2].name)))
    query = sorted_by(select(*names, source=union), Column(TS), Column(given.rank))
    return builder.query(query, {"known": slices, "pairs": pairs}, schema, ordered=True)


def _on_one_lane(given: _Inputs, pairs: Plan, builder: PlanBuilder) -> Plan:
    """Return pairs on one lane: begins and ends always nest."""
    lane = Cast(number(0), _LANE.type)
    names = physical_names(given.schema)
    items = [Item(lane if name == _LANE.name else Column(name), name) for name in names]
    return builder.query(select(*items, source="pairs"), {"pairs": pairs}, given.schema, ordered=True)


NESTED_SLICES = TableFunction(
    "nested_slices",
    "nested slices of begin and end events and of slices of known length, in order of time: id, parent_id, "
    "depth, and the lane: slices of one lane nest, of those that overlap the later one is on the lowest free lane; of "
    "slices of no length that `completes` has at one time each is in the one before",
    (
        Parameter("begins", "events that open a slice; their columns become the slice's", None, keyword_only=True),
        Parameter(
            "ends",
            "events that close the innermost slice that was opened; their `args` are added to its",
            None,
            keyword_only=True,
        ),
        Parameter("completes", "slices with a `_duration` (or `dur`); NULL if they never end", None, keyword_only=True),
        Parameter("partition", "name of the column of tracks", "track", keyword_only=True),
        Parameter("order", "name of the integer column that orders events of equal time", "line", keyword_only=True),
        Parameter(
            "end_order",
            "name of a column of the result: the order of the event that closed the slice, NULL if none did",
            None,
            keyword_only=True,
        ),
    ),
    _bind,
)
