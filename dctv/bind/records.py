"""Events to records: expressions of the engine that write one JSON object per row.

Members that an event does not have are left out. Lists and objects, which columns hold as JSON texts, become JSON
again where the text is certain to be JSON by the strictest reading; others stay texts, which means the same to dctv.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlglot import exp

from dctv.bind.filter_tests import kind_of
from dctv.bind.filters import EventTable, Times
from dctv.plan.sql import call, case, cast, column, number, text
from dctv.record import record
from dctv.types.schema import TS, ColumnType
from dctv.types.units import parse_unit, ratio
from dctv.types.values import is_float, is_integer

_NOT_STRICT = r"[\x00-\x1f]|,\s*[\]}]|NaN|Infinity"
"""What the engine takes for JSON though it is none, or what would break the line."""


@record
class Clock:
    """How times are written."""

    start: int
    """Absolute ns of `_ts` 0."""
    ns: int
    """ns in the unit of the records."""

    @staticmethod
    def of(times: Times) -> Clock:
        """Return how the times of a trace are written."""
        return Clock(times.start, int(ratio(times.unit, parse_unit("ns"))))


def record_of(one: EventTable, clock: Clock) -> exp.Expr:
    """Write the event of a row as one JSON object."""
    event = one.event
    named = [("cat", event.category), ("pid", event.pid), ("tid", event.tid)]
    start = exp.Paren(this=exp.Add(this=column(TS), expression=number(clock.start)))
    name = text(f'"name":{json.dumps(event.name, ensure_ascii=False)}')
    members = [
        name if event.named_by is None else _member("name", _value(_type(one, event.named_by))),
        *(_member(name, _value(_type(one, source))) for name, source in named if source is not None),
        _member("ts", _time(start, clock)),
        *([] if event.duration is None else [_member("dur", _time(column(event.duration), clock))]),
        *(_member(name, _value(_type(one, name))) for name in one.others),
        _member("args", args_of(one)),
    ]
    return _object(members)


def args_of(one: EventTable) -> exp.Expr:
    """Write the arguments of a row as one JSON object."""
    return _object(_member(name, _value(_type(one, name))) for name in one.event.args)


def _type(one: EventTable, name: str) -> ColumnType:
    return one.schema.columns[one.schema.names.index(name)]


def _object(members: Iterable[exp.Expr]) -> exp.Expr:
    # What is NULL is left out, as is its comma.
    inside = [call("concat_ws", text(","), *found)] if (found := list(members)) else []
    return call("concat", text("{"), *inside, text("}"))


def _member(name: str, value: exp.Expr) -> exp.Expr:
    return exp.DPipe(this=text(f"{json.dumps(name, ensure_ascii=False)}:"), expression=value)


def _time(value: exp.Expr, clock: Clock) -> exp.Expr:
    whole = value if clock.ns == 1 else call("divide", value, number(clock.ns))
    return cast(whole, "VARCHAR")


def _value(one: ColumnType) -> exp.Expr:
    """Write a value as JSON text; NULL stays NULL."""
    value = column(one.name)
    if is_integer(one.type) or one.type == "BOOLEAN":
        return cast(value, "VARCHAR")
    written = cast(call("to_json", value), "VARCHAR")
    if is_float(one.type):
        words = (("isnan", "NaN"), ("isinf", "Infinity"))
        nan, infinite = ((call(test, value.copy()), text(f'"{word}"')) for test, word in words)
        below = exp.And(this=infinite[0].copy(), expression=exp.LT(this=value.copy(), expression=number(0)))
        return case(nan, (below, text('"-Infinity"')), infinite, default=written)
    if kind_of(one.type) != "text":
        return written
    first = call("left", value.copy(), number(1))
    begins = exp.In(this=first, expressions=[text("{"), text("[")])
    strict = exp.Not(this=call("regexp_matches", value.copy(), text(_NOT_STRICT)))
    nested = exp.And(this=exp.And(this=begins, expression=strict), expression=call("json_valid", value.copy()))
    return case((nested, column(one.name)), default=written)
