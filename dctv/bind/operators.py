"""Bind operators: check units, determine the unit of the result, and write the engine's form."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from dctv.bind import time_literals
from dctv.bind.alike import alike
from dctv.bind.bound import Bound, arithmetic_family, as_interval, as_time, constant, convert, is_time, scale, unify
from dctv.bind.conditions import check_cast, check_truth
from dctv.bind.types import BIGINT, BOOLEAN, INTERVAL, VARCHAR, of_call, of_operator, settled
from dctv.bind.wall_clock import as_times
from dctv.catalog.namespace import Catalog
from dctv.contracts.engine import ZERO_DIVISION
from dctv.errors import BindError, UnitError
from dctv.plan import build as w
from dctv.plan.expressions import (
    COMPARISONS,
    FALSE,
    NULL,
    Between,
    Binary,
    Boolean,
    Cast,
    Expression,
    InList,
    IsNull,
    Like,
    Number,
    Row,
    Text,
    Unary,
)
from dctv.record import replace
from dctv.signatures.types import Type
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT
from dctv.types.units import divide, multiply, parse_unit, ratio

_NS = parse_unit("ns")
_US = parse_unit("us")
_LISTS = ("LIST", "ARRAY")
_BARE = ("||", "<<", ">>", "&", "|")


def _bare(bound: Bound, op: str) -> None:
    if bound.unit != NO_UNIT:
        raise UnitError(
            f"`{op}` takes no units, found `{bound.unit}`", bound.place, hint="drop the unit with unitless(...)"
        )


def unary(expr: ast.Unary, bound: Bound) -> Bound:
    """Bind `-x`, `+x`, `~x`, `NOT x`."""
    if expr.op in ("~", "NOT"):
        _bare(bound, expr.op)
        if expr.op == "NOT":
            check_truth(bound)
        made = of_operator(expr.op, bound.type)
        return Bound(Unary(expr.op, bound.value), place=expr.place, parts=(bound,), type=made)
    if expr.op == "+":
        return replace(bound, place=expr.place)
    if bound.constant is not None:
        negative = constant(-bound.constant, bound.unit, expr.place, integral=bound.integral)
        # Only floating-point numbers have a zero below 0.
        return negative if bound.integral or bound.constant else replace(negative, value=Unary("-", bound.value))
    made = of_operator("-", bound.type)
    return Bound(Unary("-", bound.value), bound.unit, expr.place, family=bound.family, parts=(bound,), type=made)


def binary(expr: ast.Binary, left: Bound, right: Bound, catalog: Catalog) -> Bound:
    """Bind an infix operator."""
    if expr.op in COMPARISONS:
        left, right = alike(as_times([left, right], catalog), f"`{expr.op}`")
        return _infix(expr, left, right)
    if expr.op in ("+", "-"):
        return _sum(expr, left, right)
    if expr.op == "*":
        return _product(expr, left, right)
    if expr.op == "||" and all(one.type is not None and one.type.name in _LISTS for one in (left, right)):
        left, right = unify([left, right], "`||`")
        return replace(_infix(expr, left, right), unit=left.unit)
    if expr.op in _BARE:
        for side in (left, right):
            _bare(side, expr.op)
        return _infix(expr, left, right)
    return _quotient(expr, left, right)


def logical(expr: ast.Logical, tests: Sequence[Bound]) -> Bound:
    """Bind a chain of ANDs or ORs."""
    for one in tests:
        _bare(one, expr.op)
        check_truth(one)
    values = [one.value for one in tests]
    value = w.any_of(values) if expr.op == "OR" else w.all_of(values)
    assert value is not None
    return Bound(value, place=expr.place, parts=tuple(tests), type=of_operator(expr.op, *(one.type for one in tests)))


def truth(expr: ast.Truth, bound: Bound) -> Bound:
    """Bind `x IS TRUE` and similar tests; other values are cast to a condition."""
    _bare(bound, f"IS {str(expr.value).upper()}")
    check_cast(bound)
    test = bound.value if bound.type in (BOOLEAN, None) else Cast(bound.value, BOOLEAN.text)
    value = Binary("<!=>" if expr.negated else "<=>", test, Boolean(expr.value))
    made = None if bound.type is None else BOOLEAN
    return Bound(value, place=expr.place, parts=(bound,), type=made)


def _infix(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    """Write an operator of two sides that are of one unit, or of none."""
    made = result_type(expr.op, (left, right))
    return Bound(Binary(expr.op, left.value, right.value), place=expr.place, parts=(left, right), type=made)


def result_type(op: str, sides: Sequence[Bound]) -> Type | None:
    """Return the type of an operator; rows are compared place by place."""
    rows = [one.parts for one in sides if isinstance(one.value, Row)]
    if len(rows) < len(sides):
        return of_operator(op, *(one.type for one in sides))
    fits = len({len(one) for one in rows}) == 1 and all(
        result_type(op, one) == BOOLEAN for one in zip(*rows, strict=True)
    )
    return BOOLEAN if fits else None


def _sum(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    if _is_date(left) and is_time(right):
        if _has_nanoseconds(left, right):
            return _moved(expr, left, right)
        right = as_interval(right)
    elif _is_date(right) and is_time(left) and expr.op == "+":
        if _has_nanoseconds(right, left):
            return _moved(expr, right, left)
        left = as_interval(left)
    left, right = unify([left, right], f"`{expr.op}`")
    unit = left.unit
    if left.constant is not None and right.constant is not None and unit != NO_UNIT:
        value = left.constant + right.constant if expr.op == "+" else left.constant - right.constant
        return constant(value, unit, expr.place, integral=left.integral and right.integral)
    return replace(_infix(expr, left, right), unit=unit, family=arithmetic_family(left, right))


def _has_nanoseconds(date: Bound, time: Bound) -> bool:
    """Whether the sum of a date and a time may need more than the microseconds of an INTERVAL."""
    assert date.type is not None
    if date.type.name != "TIMESTAMP_NS":
        return False
    return time.constant is None or (time.constant * ratio(time.unit, _US)).denominator != 1


def _moved(expr: ast.Binary, date: Bound, time: Bound) -> Bound:
    """Bind the sum of a TIMESTAMP_NS and a time, to the nanosecond."""
    distance = Cast(convert(time, _NS, f"`{expr.op}`").value, BIGINT.text)
    value = w.call("make_timestamp_ns", Binary(expr.op, w.call("epoch_ns", date.value), distance))
    made = of_call("make_timestamp_ns", [BIGINT])
    return Bound(value, place=expr.place, parts=(date, time), type=made)


def _is_date(bound: Bound) -> bool:
    return bound.type is not None and bound.type.name in time_literals.TYPES


def _product(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    for side, other in ((left, right), (right, left)):
        if side.type == INTERVAL and other.unit != NO_UNIT:
            raise UnitError(f"an INTERVAL is multiplied by a bare number, found `{other.unit}`", other.place)
    unit, factor = multiply(left.unit, right.unit)
    if left.constant is not None and right.constant is not None and (left.unit, right.unit) != (NO_UNIT, NO_UNIT):
        value = left.constant * right.constant * factor
        return constant(value, unit, expr.place, integral=left.integral and right.integral)
    return scale(replace(_infix(expr, left, right), family=arithmetic_family(left, right)), factor, unit)


def _quotient(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    """Bind `/`, `//` and `%`; a divisor that may be zero gives NULL and a warning."""
    if left.type == INTERVAL and right.unit != NO_UNIT:
        left = as_time(left)
    elif right.type == INTERVAL and left.unit != NO_UNIT:
        right = as_time(right)
    if expr.op == "%":
        left, right = unify([left, right], "`%`")
        unit, factor = left.unit, Fraction(1)
    elif expr.op == "//" and right.unit not in (left.unit, NO_UNIT):
        # Truncation comes last, so both sides are brought to one unit first where they have one in common.
        left, right = _same_unit(left, right)
        unit, factor = divide(left.unit, right.unit)
    else:
        unit, factor = divide(left.unit, right.unit)
    if expr.op == "/" and left.constant is not None and right.constant and _with_units(left, right):
        return constant(left.constant / right.constant * factor, unit, expr.place, integral=False)
    family = "float" if expr.op == "/" else arithmetic_family(left, right)
    value, made = _division(expr.op, left, right), _quotient_type(expr.op, left, right)
    result = Bound(value, unit, expr.place, family=family, parts=(left, right), type=made)
    return scale(result, factor, unit)


def _quotient_type(op: str, left: Bound, right: Bound) -> Type | None:
    made = of_operator(op, left.type, right.type)
    if op != "//" or arithmetic_family(left, right) == "integer" or made is None:
        return made
    if arithmetic_family(left, right) == "float":
        return of_call("trunc", [made])
    whole = of_operator("-", left.type, of_operator("%", left.type, right.type))
    return of_operator("//", whole, right.type)


def _same_unit(left: Bound, right: Bound) -> tuple[Bound, Bound]:
    try:
        left, right = unify([left, right], "`//`")
    except UnitError:
        return left, right
    return left, right


def _with_units(left: Bound, right: Bound) -> bool:
    """Whether either operand has a unit, so that constants are folded exactly."""
    return left.unit != NO_UNIT or right.unit != NO_UNIT


def _division(op: str, left: Bound, right: Bound) -> Expression:
    quotient: Expression = Binary(op, left.value, right.value)
    if op == "//" and arithmetic_family(left, right) != "integer":
        # The engine's `//` truncates integers only: for doubles its quotient keeps the fraction.
        is_float = arithmetic_family(left, right) == "float"
        quotient = w.call("trunc", quotient) if is_float else _whole_quotient(left.value, right.value)
    if right.constant:
        return quotient
    counted = IsNull(w.call(ZERO_DIVISION, Cast(right.value, "DOUBLE")))
    # The inner CASE calls the counter for zeros only; the outer NULL takes the quotient's type.
    is_zero = w.case((w.equal(right.value, Number("0")), counted), default=FALSE)
    return w.case((is_zero, NULL), default=quotient)


def _whole_quotient(left: Expression, right: Expression) -> Expression:
    """Divide without remainder, exactly for integers, where the types are not known."""
    return Binary("//", w.minus(left, Binary("%", left, right)), right)


SEARCHES = {"REGEXP": "regexp_matches", "SIMILAR TO": "regexp_full_match"}
"""Operators that are functions of the engine."""


def like(expr: ast.Like, subject: Bound, pattern: Bound, escape: Bound | None, *, proven: bool) -> Bound:
    """Bind LIKE and similar operators; `proven` says that the pattern is valid."""
    for bound in (subject, pattern):
        _bare(bound, expr.op)
    if escape is not None and isinstance(escape.value, Text) and len(escape.value.value) > 1:
        raise BindError("ESCAPE takes one character", escape.place)
    if expr.op in SEARCHES:
        value: Expression = w.call(SEARCHES[expr.op], subject.value, pattern.value)
        made = of_call(SEARCHES[expr.op], [subject.type, pattern.type], proven=proven)
    else:
        escaped = None if escape is None or expr.op == "GLOB" else escape.value
        value = Like(expr.op, subject.value, pattern.value, escaped)
        made = of_operator(expr.op, subject.type, pattern.type)
    if escape is not None and settled(escape.type) != VARCHAR:
        made = None
    return Bound(_negate(value, negated=expr.negated), place=expr.place, parts=(subject, pattern), type=made)


def between(expr: ast.Between, operands: list[Bound], catalog: Catalog) -> Bound:
    """Bind BETWEEN of a value and two ends."""
    parts = alike(as_times(operands, catalog), "BETWEEN")
    return _range("BETWEEN", Between(*(one.value for one in parts)), parts, expr)


def in_list(expr: ast.InList, operands: list[Bound], catalog: Catalog) -> Bound:
    """Bind IN of a value and the items of a list."""
    parts = alike(as_times(operands, catalog), "IN")
    first, *others = [one.value for one in parts]
    return _range("IN", InList(first, tuple(others)), parts, expr)


def _range(op: str, value: Expression, parts: list[Bound], expr: ast.Between | ast.InList) -> Bound:
    return Bound(
        _negate(value, negated=expr.negated), place=expr.place, parts=tuple(parts), type=result_type(op, parts)
    )


def _negate(value: Expression, *, negated: bool) -> Expression:
    return w.negated(value) if negated else value
