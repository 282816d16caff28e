"""Bind `t.wall_clock(_ts)` to timestamps in UTC, and comparisons of those with literals to comparisons of times.

So an index understands them, and span operators hand them on, as they do with conditions on `_ts`.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import date, timedelta
from fractions import Fraction

from dctv.bind.asked_types import typed
from dctv.bind.bound import Bound, constant, convert, is_date, is_time
from dctv.bind.context import ClauseContext
from dctv.bind.trace_times import start_of
from dctv.bind.types import BIGINT, INTERVAL, VARCHAR, of_call, of_integer, of_operator, settled
from dctv.catalog.namespace import Catalog, WallClock
from dctv.errors import BindError, Place, UnitError
from dctv.patterns import pattern
from dctv.plan.build import call, minus, number, plus
from dctv.plan.expressions import Cast, StartOf, Text
from dctv.plan.fleets import TRACE
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.node import nodes
from dctv.types.units import parse_unit

_NS = parse_unit("ns")
_SECOND = 10**9
_EPOCH = date(1970, 1, 1)
_WRITTEN = pattern(
    r"(\d{4})-(\d\d)-(\d\d)(?:[ T](\d\d):(\d\d)(?::(\d\d)(?:\.(\d+))?)?)?\s*(?:(Z)|([+-])(\d\d)(?::?(\d\d))?)?"
)
_DIGITS = {"DATE": 0, "TIMESTAMP": 6, "TIMESTAMP WITH TIME ZONE": 6, "TIMESTAMP_NS": 9}
"""Digits of a second that the engine reads of a literal, by its type."""


def wall_clock(
    clock: WallClock, expr: ast.Call, context: ClauseContext, bind: Callable[[ast.Expr, ClauseContext], Bound]
) -> Bound:
    """Bind a call: the time in UTC, to the nanosecond, of a time of the trace, or of the row's trace of a fleet.

    Raises:
        BindError: no trace tells when it began, the arguments are others, or the row has no trace.
        UnitError: the argument is no time.
    """
    name = expr.function.text
    unknown = clock.unknown(name.rpartition(".")[0], expr.place)
    if unknown is not None:
        raise unknown
    plain = not (expr.keywords or expr.distinct or expr.order_by or expr.nulls or expr.exported)
    count = len(expr.arguments)
    few = count == 1 or (count == 2 and clock.starts is not None)
    if not few or expr.filter is not None or expr.over is not None or not plain:
        takes = "one time" if clock.starts is None else "a time, and maybe the name of its trace"
        raise BindError(f"`{name}` takes {takes}", expr.place, hint=f"such as {name}(_ts)")
    argument = typed(bind(expr.arguments[0], context), context)
    if not is_time(argument) and argument.type != INTERVAL and not argument.is_zero:
        raise UnitError(
            f"`{name}` takes a time, found a value without one", argument.place, hint=f"such as {name}(_ts)"
        )
    time = convert(argument, _NS, f"`{name}`")
    if clock.starts is None:
        assert clock.start is not None
        return _since(time, clock.start, expr.place)
    trace = _trace_of(expr, context, bind)
    return replace(_since(time, StartOf(trace.value, clock.starts), expr.place), parts=(time, trace))


def _trace_of(expr: ast.Call, context: ClauseContext, bind: Callable[[ast.Expr, ClauseContext], Bound]) -> Bound:
    """Bind the name of the trace that a time is of: as it is given, or the column of the time's table."""
    name, time = expr.function.text, expr.arguments[0]
    if len(expr.arguments) == 2:
        argument = bind(expr.arguments[1], context)
        if argument.type is not None and settled(argument.type) != VARCHAR:
            hint = f"such as {name}(_ts, _trace)"
            raise BindError(f"`{name}` takes the name of a trace, found another value", argument.place, hint=hint)
        return argument
    tables = {one.path.parts[:-1] for one in nodes(time) if isinstance(one, ast.Column)}
    table = next(iter(tables)) if len(tables) == 1 else ()
    path = ast.Path((*table, ast.Name(TRACE)), place=expr.place)
    try:
        return bind(ast.Column(path, place=expr.place), context)
    except BindError as error:
        hint = f"name the column of the trace: {name}(_ts, x._trace)"
        raise BindError(f"`{name}` needs the trace of the row: {error.message}", expr.place, hint=hint) from None


def _since(time: Bound, start: int | StartOf, place: Place | None) -> Bound:
    """Return the time of the wall clock of a time in ns; `start` is that of time 0."""
    whole = time.family == "integer"
    # A fraction of a nanosecond is rounded, so comparisons must see what it is rounded to.
    value = time.value if whole else Cast(call("round", time.value), BIGINT.text)
    began = number(start) if isinstance(start, int) else start
    value = call("make_timestamp_ns", plus(Cast(value, BIGINT.text), began))
    made = None if time.type is None else of_call("make_timestamp_ns", [BIGINT])
    return Bound(value, place=place, parts=(time,), type=made, since=start if whole else None)


def as_times(bounds: list[Bound], catalog: Catalog) -> list[Bound]:
    """Convert wall-clock times and literals that are compared with each other to trace times.

    A column `_ts` that is compared with a date is a wall-clock time itself.

    Raises:
        BindError: the start of the trace of such a column is unknown.
    """
    if any(is_date(one) for one in bounds):
        bounds = [_dated(one, catalog) for one in bounds]
    starts = {one.since for one in bounds if one.since is not None}
    if len(starts) != 1:
        return bounds
    (start,) = starts
    if isinstance(start, StartOf) and sum(one.since is not None for one in bounds) > 1:
        # Where it is not known, the comparison is NULL.
        return bounds
    found = []
    for one in bounds:
        if one.since is not None:
            found.append(one.parts[0])
            continue
        instant = _instant(one)
        if instant is None:
            return bounds
        found.append(_after(instant, start, one.place))
    return found


def _after(instant: int, start: int | StartOf, place: Place | None) -> Bound:
    """Return the time of a trace at an instant, in ns since 1970; `start` is that of its time 0."""
    if isinstance(start, int):
        return constant(Fraction(instant - start), _NS, place, integral=True)
    kind = of_operator("-", of_integer(instant), BIGINT)
    return Bound(minus(number(instant), start), _NS, place, family="integer", type=kind)


def _dated(bound: Bound, catalog: Catalog) -> Bound:
    if bound.origin is None or not is_time(bound):
        return bound
    return _since(convert(bound, _NS, "`_ts`"), start_of(bound.origin, catalog, bound.place), bound.place)


def _instant(bound: Bound) -> int | None:
    """Return the ns since 1970 of a literal; None for other expressions, or an unknown zone."""
    value = bound.value
    if not isinstance(value, Cast) or not isinstance(value.operand, Text) or value.type not in _DIGITS:
        return None
    found = _WRITTEN.fullmatch(value.operand.value.strip())
    if found is None:
        return None
    year, month, day, hour, minute, second, digits, utc, sign, ahead, more = found.groups()
    zoned = utc is not None or sign is not None
    if len(digits or "") > _DIGITS[value.type] or zoned != (value.type == "TIMESTAMP WITH TIME ZONE"):
        return None
    if value.type == "DATE" and hour is not None:
        return None
    try:
        days = (date(int(year), int(month), int(day)) - _EPOCH) // timedelta(days=1)
    except ValueError:
        return None
    seconds = ((days * 24 + int(hour or 0)) * 60 + int(minute or 0)) * 60 + int(second or 0)
    offset = (int(ahead or 0) * 60 + int(more or 0)) * 60
    seconds -= -offset if sign == "-" else offset
    return seconds * _SECOND + int((digits or "").ljust(9, "0"))
