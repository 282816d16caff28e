"""dctv.as_spans and dctv.as_events: give a regular table a kind, after checking that it has it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from sqlglot import exp

from dctv.contracts.table_function import REQUIRED, Argument, Parameter, PlanBuilder, TableFunction
from dctv.errors import BindError, NotYetError
from dctv.plan.nodes import Plan, physical_names, ranked_names
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import NO_UNIT, compatible, parse_unit, ratio
from dctv.types.values import dialect_type, is_integer, is_numeric

_POLICIES = ("error", "truncate", "lanes")


def _time(plan: Plan, column: ColumnType, argument: Argument) -> exp.Expr:
    """Return a time column in ns, which may have fractions; a bare number is in ns."""
    names = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    value: exp.Expr = exp.column(names[column.name], "t", quoted=True)
    ns = parse_unit("ns")
    if not is_numeric(column.type):
        found = dialect_type(column.type)
        raise BindError(f"`{column.name}` is {found}, expected a time: a number", argument.place)
    value = exp.Cast(this=value, to=exp.Var(this="BIGINT")) if is_integer(column.type) else value
    if column.unit not in (NO_UNIT, ns):
        if not compatible(column.unit, ns):
            raise BindError(f"`{column.name}` is in `{column.unit}`, expected a time", argument.place)
        factor = ratio(column.unit, ns)
        value = exp.Mul(this=value, expression=exp.Literal.number(str(factor.numerator)))
        if factor.denominator != 1:
            value = exp.Div(this=exp.Paren(this=value), expression=exp.Literal.number(str(factor.denominator)))
        value = exp.Paren(this=value)
    return value


def _whole(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=value, to=exp.Var(this="BIGINT"))


def _partitions(plan: Plan, argument: Argument) -> list[ColumnType]:
    if argument.value is None:
        return []
    return [item.column(plan.schema, "a partition column") for item in argument.items()]


def _fail(test: exp.Expr, message: Sequence[exp.Expr], value: exp.Expr) -> exp.Expr:
    """Return a value, or stop the query where a test holds."""
    text = exp.Anonymous(this="concat", expressions=list(message))
    stop = exp.Cast(this=exp.Anonymous(this="error", expressions=[text]), to=exp.Var(this="BIGINT"))
    return exp.Case(ifs=[exp.If(this=test, true=stop)], default=value)


def _text(text: str) -> exp.Expr:
    return exp.Literal.string(text)


def _quoted(name: str, table: str | None = None) -> exp.Expr:
    return exp.column(name, table, quoted=True)


def _named(value: exp.Expr, name: str) -> exp.Expr:
    return exp.Alias(this=value, alias=exp.to_identifier(name, quoted=True))


def _from(query: exp.Query, alias: str) -> exp.Subquery:
    return exp.Subquery(this=query, alias=exp.TableAlias(this=exp.to_identifier(alias, quoted=True)))


def _window(call: exp.Expr, partitions: Sequence[str]) -> exp.Expr:
    order = exp.Order(expressions=[exp.Ordered(this=_quoted(TS), nulls_first=False)])
    return exp.Window(this=call, partition_by=[_quoted(p) for p in partitions], order=order)


def _null(value: exp.Expr) -> exp.Expr:
    return exp.Is(this=value, expression=exp.Null())


def _payload(plan: Plan, used: set[str]) -> list[ColumnType]:
    return [c for c in plan.schema.columns if c.name not in used]


def _base(
    plan: Plan,
    schema: Schema,
    times: Mapping[str, exp.Expr],
    partitions: Sequence[ColumnType],
    payload: Sequence[ColumnType],
) -> exp.Select:
    """Select times, partitions and payload under their final names."""
    names = dict(zip(plan.schema.names, physical_names(plan.schema), strict=True))
    values = [*times.values(), *(_quoted(names[c.name], "t") for c in (*partitions, *payload))]
    return exp.Select(expressions=[_named(v, n) for v, n in zip(values, physical_names(schema), strict=True)]).from_(
        exp.Table(this=exp.to_identifier("t", quoted=True))
    )


def _bind_spans(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = arguments["table"].table("a table")
    ts = arguments["ts"].column(plan.schema, "the column of starts", way_out="; name one with ts=>'...'")
    start = _time(plan, ts, arguments["ts"])
    given = [k for k in ("duration", "end") if arguments[k].value is not None]
    if len(given) == 2:
        raise BindError("`duration` and `end` are both given", arguments["end"].place, hint="leave one of them out")
    which = arguments[given[0]] if given else Argument(DURATION, arguments["table"].place)
    other = which.column(
        plan.schema, "the column of durations", way_out="; name one with duration=>'...' or end=>'...'"
    )
    length = _time(plan, other, which)
    # Starts and ends are rounded to ns, not durations: spans that touch go on touching.
    end = length if given == ["end"] else exp.Add(this=start.copy(), expression=length)
    length = exp.Sub(this=_whole(end), expression=_whole(start.copy()))
    start = _whole(start)
    policy = arguments["on_overlap"].choice("`on_overlap`", _POLICIES)
    if policy == "lanes":
        raise NotYetError("on_overlap=>'lanes' is not executed yet", arguments["on_overlap"].place)
    partitions = _partitions(plan, arguments["partition"])
    payload = _payload(plan, {ts.name, other.name, *(p.name for p in partitions)})
    ns = parse_unit("ns")
    schema = Schema(
        Kind.SPAN,
        (ColumnType(TS, "BIGINT", ns), ColumnType(DURATION, "BIGINT", ns), *partitions, *payload),
        tuple(p.name for p in partitions),
    )
    base = _base(plan, schema, {TS: start, DURATION: length}, partitions, payload)
    return builder.query(_checked(base, schema, truncate=policy == "truncate"), {"t": plan}, schema, ordered=True)


def _checked(base: exp.Select, schema: Schema, *, truncate: bool) -> exp.Select:
    """Check durations and overlaps, or cut spans where the next one starts."""
    names = physical_names(schema)
    keys = names[2 : schema.special_count]
    cut = exp.Sub(this=_window(exp.Anonymous(this="lead", expressions=[_quoted(TS)]), keys), expression=_quoted(TS))
    end = exp.Add(this=_quoted(TS), expression=_quoted(DURATION))
    before = _window(exp.Anonymous(this="lag", expressions=[end]), keys)
    helper = _named(cut if truncate else before, "dctv:near")
    looked = exp.Select(expressions=[*(_quoted(n) for n in names), helper]).from_(_from(base, "base"))
    near = _quoted("dctv:near", "looked")
    if truncate:
        duration: exp.Expr = exp.Anonymous(this="least", expressions=[_quoted(DURATION), near])
    else:
        message = [_text("spans overlap: one ends at "), near.copy(), _text(" ns, the next is ["), _quoted(TS)]
        message += [_text(", "), exp.Add(this=_quoted(TS), expression=_quoted(DURATION)), _text(")")]
        for key in keys:
            message += [_text(f" in {key}="), _quoted(key)]
        duration = _fail(exp.GT(this=near, expression=_quoted(TS)), message, _quoted(DURATION))
    bad = exp.Or(
        this=_null(_quoted(DURATION)), expression=exp.LTE(this=_quoted(DURATION), expression=exp.Literal.number("0"))
    )
    message = [_text("the duration of a span is positive, found "), _shown(DURATION), _text(" at _ts "), _shown(TS)]
    duration = _fail(_null(_quoted(TS)), [_text("the start of a span is NULL")], _fail(bad, message, duration))
    columns = [_named(duration, DURATION) if n == DURATION else _quoted(n) for n in names]
    tree = exp.Select(expressions=columns).from_(_from(looked, "looked"))
    whole = exp.Select(expressions=[_quoted(n) for n in names]).from_(_from(tree, "checked"))
    if truncate:
        whole = whole.where(exp.GT(this=_quoted(DURATION), expression=exp.Literal.number("0")), copy=False)
    return whole.order_by(*(exp.Ordered(this=_quoted(n), nulls_first=False) for n in ranked_names(schema)), copy=False)


def _shown(name: str) -> exp.Expr:
    text = exp.Cast(this=_quoted(name), to=exp.Var(this="VARCHAR"))
    return exp.Anonymous(this="coalesce", expressions=[text, _text("NULL")])


def _bind_events(arguments: Mapping[str, Argument], builder: PlanBuilder) -> Plan:
    plan = arguments["table"].table("a table")
    ts = arguments["ts"].column(plan.schema, "the column of times", way_out="; name one with ts=>'...'")
    start = _time(plan, ts, arguments["ts"])
    partitions = _partitions(plan, arguments["partition"])
    payload = _payload(plan, {ts.name, *(p.name for p in partitions)})
    columns = (ColumnType(TS, "BIGINT", parse_unit("ns")), *partitions, *payload)
    schema = Schema(Kind.EVENT, columns, tuple(p.name for p in partitions))
    base = _base(plan, schema, {TS: _whole(start)}, partitions, payload)
    checked = _fail(_null(_quoted(TS, "base")), [_text("the time of an event is NULL")], _quoted(TS, "base"))
    names = physical_names(schema)
    row = exp.Window(this=exp.Anonymous(this="row_number"))
    inner = exp.Select(
        expressions=[_named(checked, TS), *(_quoted(n, "base") for n in names[1:]), _named(row, "dctv:row")]
    ).from_(_from(base, "base"))
    tree = exp.Select(expressions=[_quoted(n) for n in names]).from_(_from(inner, "numbered"))
    tree = tree.order_by(_quoted(TS), _quoted("dctv:row"), copy=False)
    return builder.query(tree, {"t": plan}, schema, ordered=True)


_TABLE = Parameter("table", "the table", REQUIRED)
_TS = Parameter("ts", "name of the column of times, in ns if it has no unit", TS, keyword_only=True)
_PARTITION = Parameter("partition", "name of the partition column, or a list of them", None, keyword_only=True)

AS_SPANS = TableFunction(
    "as_spans",
    "a regular table as a span table; overlapping spans are an error",
    (
        _TABLE,
        _TS,
        Parameter(
            "duration", "name of the column of durations; `_duration` if `end` is not given", None, keyword_only=True
        ),
        Parameter("end", "name of the column of ends", None, keyword_only=True),
        _PARTITION,
        Parameter("on_overlap", "'error', or 'truncate' a span where the next one starts", "error", keyword_only=True),
    ),
    _bind_spans,
)
AS_EVENTS = TableFunction("as_events", "a regular table as an event table", (_TABLE, _TS, _PARTITION), _bind_events)
