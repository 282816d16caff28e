"""Write events as records: expressions of the engine that make one JSON object per row.

Members that an event does not have are left out. Lists and objects, which columns hold as JSON texts, become JSON
again where the text is certain to be JSON by the strictest reading; others stay texts, which means the same to dctv.
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from dctv.bind.filter_tests import kind_of
from dctv.bind.filters import EventTable, RecordTimes
from dctv.plan.build import call, case, negated, number, plus
from dctv.plan.expressions import And, Binary, Cast, Column, Expression, InList, Text
from dctv.record import record
from dctv.types.schema import TS, ColumnType
from dctv.types.units import parse_unit, ratio
from dctv.types.values import is_float, is_integer

_NOT_STRICT = r"[\x00-\x1f]|,\s*[\]}]|NaN|Infinity"
"""What the engine takes for JSON though it is none, or what would break the line."""


@record
class RecordClock:
    """How times are written."""

    start: int
    """Absolute ns of `_ts` 0."""
    ns: int
    """ns in the unit of the records."""

    @staticmethod
    def of(times: RecordTimes) -> RecordClock:
        """Return how the times of a trace are written."""
        return RecordClock(times.start, int(ratio(times.unit, parse_unit("ns"))))


def record_of(one: EventTable, clock: RecordClock) -> Expression:
    """Write the event of a row as one JSON object."""
    event = one.event
    named = [("cat", event.category), ("pid", event.pid), ("tid", event.tid)]
    start = plus(Column(TS), number(clock.start))
    name = Text(f'"name":{json.dumps(event.name, ensure_ascii=False)}')
    members = [
        name if event.named_by is None else _member("name", _value(_type(one, event.named_by))),
        *(_member(name, _value(_type(one, source))) for name, source in named if source is not None),
        _member("ts", _time(start, clock)),
        *([] if event.duration is None else [_member("dur", _time(Column(event.duration), clock))]),
        *(_member(name, _value(_type(one, name))) for name in one.others if name != event.named_by),
        _member("args", args_of(one)),
    ]
    return _object(members)


def args_of(one: EventTable) -> Expression:
    """Write the arguments of a row as one JSON object."""
    return _object(_member(name, _value(_type(one, name))) for name in one.event.args)


def _type(one: EventTable, name: str) -> ColumnType:
    return one.schema.columns[one.schema.names.index(name)]


def _object(members: Iterable[Expression]) -> Expression:
    # What is NULL is left out, as is its comma.
    inside = [call("concat_ws", Text(","), *found)] if (found := list(members)) else []
    return call("concat", Text("{"), *inside, Text("}"))


def _member(name: str, value: Expression) -> Expression:
    return Binary("||", Text(f"{json.dumps(name, ensure_ascii=False)}:"), value)


def _time(value: Expression, clock: RecordClock) -> Expression:
    whole = value if clock.ns == 1 else call("divide", value, number(clock.ns))
    return Cast(whole, "VARCHAR")


def _value(one: ColumnType) -> Expression:
    """Write a value as JSON text; NULL stays NULL."""
    value = Column(one.name)
    if is_integer(one.type) or one.type == "BOOLEAN":
        return Cast(value, "VARCHAR")
    written = Cast(call("to_json", value), "VARCHAR")
    if is_float(one.type):
        nan, infinite = call("isnan", value), call("isinf", value)
        below = And((infinite, Binary("<", value, number(0))))
        words = ("NaN", "-Infinity", "Infinity")
        tests = zip((nan, below, infinite), words, strict=True)
        return case(*((test, Text(f'"{word}"')) for test, word in tests), default=written)
    if kind_of(one.type) != "text":
        return written
    begins = InList(call("left", value, number(1)), (Text("{"), Text("[")))
    strict = negated(call("regexp_matches", value, Text(_NOT_STRICT)))
    return case((And((begins, strict, call("json_valid", value))), value), default=written)
