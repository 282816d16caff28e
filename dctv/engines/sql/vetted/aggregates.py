"""Convert aggregates and window functions from DuckDB's semantics to equivalent calls on Spark."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from dctv.engines.sql.vetted.casts import as_double, brought, integer_of
from dctv.engines.sql.vetted.forms import check
from dctv.engines.sql.vetted.functions import AGGREGATES
from dctv.engines.sql.vetted.refusal import refused, unknown
from dctv.engines.sql.vetted.scope import Typed
from dctv.engines.sql.vetted.types import BIGINT, BITS, BOOLEAN, DOUBLE, HUGEINT, NUMBERS, kind_of, spark_name
from dctv.plan.build import call, case, is_not_null, negated
from dctv.plan.expressions import (
    TRUE,
    And,
    Binary,
    Call,
    Cast,
    Expression,
    Frame,
    FrameEnd,
    IsNull,
    Number,
    Ordered,
    Star,
    Text,
    Window,
)
from dctv.record import record, replace
from dctv.signatures.casts import settled
from dctv.signatures.functions import result_type
from dctv.signatures.types import Type, decimal

_NO_ROW = "the rows of a table have no order there"
_SORT = "sort by something: ORDER BY within the call"
_ONE, _ZERO = Number("1"), Number("0")
_BEFORE = Frame("ROWS", FrameEnd("UNBOUNDED PRECEDING"), FrameEnd("PRECEDING", _ONE))
_AFTER = Frame("ROWS", FrameEnd("FOLLOWING", _ONE), FrameEnd("UNBOUNDED FOLLOWING"))
_WIDEST = 38


@record
class Parts:
    """A call with parts that are converted already."""

    name: str
    """The name in the plan."""
    arguments: tuple[Typed, ...]
    distinct: bool
    order_by: tuple[Ordered, ...]
    filter: Expression | None
    window: Window | None
    """The window of the call, whose call field is ignored."""
    odd_extremes: bool = False
    """Whether the engine computes MIN and MAX of infinities and NaN differently."""

    def call(self, function: str, *values: Expression) -> Expression:
        """Call a Spark aggregate over the same rows; over a window Spark allows no FILTER."""
        if self.window is None:
            return Call(function, values, distinct=self.distinct, filter=self.filter)
        if self.filter is not None:
            first = _ONE if isinstance(values[0], Star) else values[0]
            values = (case((self.filter, first)), *values[1:])
        return replace(self.window, call=Call(function, values))

    @property
    def argument(self) -> Typed:
        """Its only argument."""
        if len(self.arguments) != 1:
            raise refused(f"`{self.name}` of {len(self.arguments)} arguments", "it has not been vetted")
        return self.arguments[0]

    def type_of_one(self) -> Type:
        """Return the type of the only argument."""
        if self.argument.type is None:
            raise unknown(f"`{self.name}`")
        return settled(self.argument.type)


def aggregate(parts: Parts) -> Typed:
    """Write an aggregate call.

    Raises:
        NotOnThisEngine: it is not vetted, or not for such arguments.
    """
    if parts.window is not None and parts.distinct:
        raise refused(f"`{parts.name}` of DISTINCT values over a window", "Spark does not allow that")
    if parts.name in AGGREGATES:
        return Typed(_vetted(parts), _result(parts))
    return Typed(FORMS[parts.name](parts), _result(parts))


def _result(parts: Parts) -> Type | None:
    if any(isinstance(one.value, Star) for one in parts.arguments):
        return BIGINT
    types = [one.type for one in parts.arguments if one.type is not None]
    return result_type(parts.name, types) if len(types) == len(parts.arguments) else None


def _vetted(parts: Parts) -> Expression:
    vetted = AGGREGATES[parts.name]
    check(parts.name, vetted, parts.arguments)
    if parts.window is not None and parts.name not in _OVER:
        raise refused(f"`{parts.name}` over a window", "it has not been vetted")
    bits = parts.name.startswith("bit_")
    if bits and (parts.arguments[0].type is None or settled(parts.arguments[0].type).name not in BITS):
        raise refused(f"`{parts.name}` of such integers", "Spark has no integers with the same bits")
    if len(parts.arguments) == 1 and parts.arguments[0].type is not None:
        found = kind_of(parts.arguments[0].type)
        if found == "null":
            return parts.arguments[0].value
    if parts.odd_extremes and parts.name in ("max", "min") and kind_of(parts.type_of_one()) == "float":
        return _extreme(parts)
    values = [as_double(one) if vetted.doubles else one.value for one in parts.arguments]
    return parts.call(vetted.name, *values)


def _extreme(parts: Parts) -> Expression:
    """Compute MIN and MAX of floats, excluding NaN, which is greatest, and the opposite infinity."""
    one, kind = parts.argument.value, spark_name(parts.type_of_one())
    is_nan = call("isnan", one)
    far = Cast(Text("Infinity" if parts.name == "min" else "-Infinity"), kind)
    inner = parts.call(parts.name, case((And((negated(is_nan), Binary("!=", one, far))), one)))
    nans = Binary(">", parts.call("count", case((is_nan, _ONE))), _ZERO)
    others = Binary(">", parts.call("count", case((negated(is_nan), _ONE))), _ZERO)
    nan = Cast(Text("NaN"), kind)
    if parts.name == "max":
        return case((nans, nan), (others, call("coalesce", inner, far)))
    return case((others, call("coalesce", inner, far)), (nans, nan))


_OVER = ("bit_and", "bit_or", "bit_xor", "bool_and", "bool_or", "max", "min")


def _count(parts: Parts) -> Expression:
    return parts.call("count", *(one.value for one in parts.arguments or (Typed(Star(), None),)))


def _wide(value: Expression, kind: Type) -> Expression:
    """Widen an integer or decimal so far that its sum cannot overflow silently."""
    scale = kind.numbers[1] if kind.name == "DECIMAL" else 0
    return Cast(value, spark_name(decimal(_WIDEST, scale)))


def _sum(parts: Parts) -> Expression:
    found = parts.type_of_one()
    kind = kind_of(found)
    if kind == "null":
        return Cast(parts.argument.value, spark_name(HUGEINT))
    if kind == "bool":
        return parts.call("sum", _wide(Cast(parts.argument.value, "INT"), HUGEINT))
    if kind not in NUMBERS:
        raise refused(f"`sum` of `{found}`", "it has not been vetted")
    return parts.call("sum", parts.argument.value if kind == "float" else _wide(parts.argument.value, found))


def _avg(parts: Parts) -> Expression:
    """Divide an exact sum by the count: Spark adds integers as doubles."""
    found = parts.type_of_one()
    if kind_of(found) in ("float", "null"):
        return parts.call("avg", as_double(parts.argument))
    if kind_of(found) != "integer":
        raise refused(f"`avg` of `{found}`", "it has not been vetted")
    total = Cast(parts.call("sum", _wide(parts.argument.value, HUGEINT)), "DOUBLE")
    return Binary("/", total, call("nullif", parts.call("count", parts.argument.value), _ZERO))


def _count_if(parts: Parts) -> Expression:
    """Write a sum, since DuckDB returns NULL if there is no row with a known value."""
    test = brought(parts.argument, BOOLEAN)
    counted = case((test, _ONE), (negated(test), _ZERO))
    return parts.call("sum", _wide(counted, HUGEINT))


def _any_value(parts: Parts) -> Expression:
    if parts.window is not None:
        return _first_or_last("first_value", parts, passing=True)
    if parts.order_by:
        raise refused("`any_value` with ORDER BY", "Spark does not allow that", "use `first`")
    return parts.call("any_value", parts.argument.value, TRUE)


def _best(function: str, *, nulls: bool) -> Callable[[Parts], Expression]:
    """Return the value where another one is least or greatest; without `nulls`, ignore rows where the value is NULL."""

    def form(parts: Parts) -> Expression:
        if len(parts.arguments) != 2 or parts.window is not None or parts.distinct:
            raise refused(f"such a call of `{parts.name}`", "it has not been vetted")
        value, by = parts.arguments
        if by.type is not None:
            kind_of(by.type)
        measure = by.value if nulls else case((is_not_null(value.value), by.value))
        return parts.call(function, value.value, measure)

    return form


def _outermost(name: str) -> Callable[[Parts], Expression]:
    """Return the first or last value in an order: where the sort key is least or greatest."""

    def form(parts: Parts) -> Expression:
        if parts.window is not None:
            return _first_or_last(f"{name}_value", parts, passing=False)
        if not parts.order_by:
            raise refused(f"`{name}` without ORDER BY", _NO_ROW, _SORT)
        descending = {one.descending for one in parts.order_by}
        if len(descending) > 1:
            raise refused(f"`{name}` sorted by both ascending and descending keys", "it has not been vetted")
        up = not descending.pop()
        keys: list[Expression] = []
        for one in parts.order_by:
            # The last row has the greatest key; NULLs are ordered by this term, and are equal in the next one.
            last = IsNull(one.operand) if one.nulls_first != up else is_not_null(one.operand)
            keys += [case((last, _ONE), default=_ZERO), one.operand]
        function = "min_by" if (name == "first") == up else "max_by"
        return parts.call(function, parts.argument.value, call("struct", *keys))

    return form


def _quantile(parts: Parts) -> Expression:
    value, share = parts.arguments
    if parts.window is not None or not isinstance(share.value, Number) or not 0 <= float(share.value.text) <= 1:
        raise refused(f"such a call of `{parts.name}`", "it has not been vetted")
    if value.type is None or kind_of(value.type) not in NUMBERS:
        raise refused(f"`{parts.name}` of `{value.type}`", "it has not been vetted")
    return parts.call("percentile", as_double(value), share.value)


FORMS: Mapping[str, Callable[[Parts], Expression]] = {
    "any_value": _any_value,
    "arg_max": _best("max_by", nulls=False),
    "arg_max_null": _best("max_by", nulls=True),
    "arg_min": _best("min_by", nulls=False),
    "arg_min_null": _best("min_by", nulls=True),
    "avg": _avg,
    "count": _count,
    "count_if": _count_if,
    "first": _outermost("first"),
    "last": _outermost("last"),
    "quantile_cont": _quantile,
    "sum": _sum,
}
"""Aggregates that need more than another name."""

RANKS = ("cume_dist", "dense_rank", "ntile", "percent_rank", "rank", "row_number")
VALUES = ("first_value", "lag", "last_value", "lead", "nth_value")


def over(parts: Parts, nulls: str | None) -> Typed:
    """Write a call of a window function."""
    window = parts.window
    assert window is not None
    if parts.distinct or parts.order_by or parts.filter is not None:
        raise refused(f"`{parts.name}` with DISTINCT, ORDER BY or FILTER", "Spark does not allow that")
    if not window.order_by:
        raise refused(f"`{parts.name}` over a window without ORDER BY", _NO_ROW, "sort the window by something")
    if parts.name in RANKS:
        return _rank(parts)
    if parts.name in ("lag", "lead"):
        return _neighbour(parts, ignoring=nulls == "IGNORE")
    value = parts.arguments[0]
    if parts.name == "nth_value":
        if nulls == "IGNORE" or len(parts.arguments) != 2 or (integer_of(parts.arguments[1].value) or 0) < 1:
            raise refused("such a call of `nth_value`", "it has not been vetted")
        return Typed(parts.call("nth_value", value.value, parts.arguments[1].value), _settled(value))
    return Typed(_first_or_last(parts.name, parts, passing=nulls == "IGNORE"), _settled(value))


def _settled(value: Typed) -> Type | None:
    return None if value.type is None else settled(value.type)


def _rank(parts: Parts) -> Typed:
    assert parts.window is not None
    values = [Number(str(integer_of(one.value))) for one in parts.arguments]
    if parts.name == "ntile" and (len(values) != 1 or (integer_of(values[0]) or 0) < 1):
        raise refused("`ntile` of a value that is not a literal", "Spark does not allow that")
    made: Expression = replace(parts.window, frame=None, call=call(parts.name, *values))
    if parts.name in ("cume_dist", "percent_rank"):
        return Typed(made, DOUBLE)
    return Typed(Cast(made, "BIGINT"), BIGINT)


def _neighbour(parts: Parts, *, ignoring: bool) -> Typed:
    """Write `lag` and `lead`; with IGNORE NULLS, in a form that all of Spark's engines agree on."""
    window = parts.window
    assert window is not None
    value, *more = parts.arguments
    offset = integer_of(more[0].value) if more else 1
    if offset is None or offset < 0 or (ignoring and offset != 1):
        raise refused(
            f"`{parts.name}` with IGNORE NULLS and an offset other than 1, or an offset that is not a literal",
            "it has not been vetted",
        )
    values, made = [value.value, *(brought(one, _settled(value)) for one in more[1:])], _settled(value)
    if ignoring:
        function, frame = ("last_value", _BEFORE) if parts.name == "lag" else ("first_value", _AFTER)
        found: Expression = replace(window, frame=frame, call=call(function, values[0], TRUE))
        return Typed(call("coalesce", found, *values[1:]) if values[1:] else found, made)

    def away(what: Expression) -> Expression:
        return replace(window, frame=None, call=call(parts.name, what, Number(str(offset))))

    found = away(values[0])
    if values[1:]:
        # With it, not every engine accepts a default that is computed.
        found = case((IsNull(away(TRUE)), values[1]), default=found)
    return Typed(found, made)


def _first_or_last(function: str, parts: Parts, *, passing: bool) -> Expression:
    """Write the first or last value of a frame; `passing` ignores NULLs."""
    assert parts.window is not None
    if not parts.window.order_by:
        raise refused(f"`{parts.name}` over a window without ORDER BY", _NO_ROW, "sort the window by something")
    if parts.filter is not None or parts.order_by:
        raise refused(f"`{parts.name}` over a window with FILTER or ORDER BY", "Spark does not allow that")
    values = (parts.argument.value, TRUE) if passing else (parts.argument.value,)
    return replace(parts.window, call=Call(function, values))
