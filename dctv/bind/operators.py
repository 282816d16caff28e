"""Binds operators: which units go together, what unit results, and how the engine writes it."""

from __future__ import annotations

from fractions import Fraction

from sqlglot import exp

from dctv.bind.bound import Bound, both, constant, operand, scale, unify
from dctv.bind.types import VARCHAR, of_call, of_operator, settled
from dctv.contracts.engine import ZERO_DIVISION
from dctv.errors import BindError, UnitError
from dctv.plan.sql import type_named
from dctv.record import replace
from dctv.signatures.types import Type
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT
from dctv.types.units import divide, multiply

_COMPARISONS = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
    "<=>": exp.NullSafeEQ,
    "<!=>": exp.NullSafeNEQ,
}
_SUMS = {"+": exp.Add, "-": exp.Sub}
_BARE = {
    "||": exp.DPipe,
    "<<": exp.BitwiseLeftShift,
    ">>": exp.BitwiseRightShift,
    "&": exp.BitwiseAnd,
    "|": exp.BitwiseOr,
    "AND": exp.And,
    "OR": exp.Or,
}


def _bare(bound: Bound, op: str) -> None:
    if bound.unit != NO_UNIT:
        raise UnitError(
            f"`{op}` takes no units, found `{bound.unit}`", bound.place, hint="drop the unit with unitless(...)"
        )


def refuse_text(bound: Bound) -> None:
    """Refuse a string where a condition stands, which the engine would try to read as one row by row."""
    if bound.family == "text":
        raise BindError("a condition is BOOL, found a string", bound.place, hint="compare it with something")


def unary(expr: ast.Unary, bound: Bound) -> Bound:
    """Bind `-x`, `+x`, `~x`, `NOT x`."""
    if expr.op in ("~", "NOT"):
        _bare(bound, expr.op)
        form = exp.BitwiseNot if expr.op == "~" else exp.Not
        made = of_operator(expr.op, bound.type)
        return Bound(form(this=operand(bound.sql)), place=expr.place, parts=(bound,), type=made)
    if expr.op == "+":
        return replace(bound, place=expr.place)
    if bound.constant is not None:
        return constant(-bound.constant, bound.unit, expr.place, integral=bound.integral)
    negated = exp.Paren(this=exp.Neg(this=operand(bound.sql)))
    made = of_operator("-", bound.type)
    return Bound(negated, bound.unit, expr.place, family=bound.family, parts=(bound,), type=made)


def binary(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    """Bind an infix operator."""
    if expr.op in _COMPARISONS:
        left, right = unify([left, right], f"`{expr.op}`")
        sql = _COMPARISONS[expr.op](this=operand(left.sql), expression=operand(right.sql))
        return Bound(sql, place=expr.place, parts=(left, right), type=of_operator(expr.op, left.type, right.type))
    if expr.op in _SUMS:
        return _sum(expr, left, right)
    if expr.op == "*":
        return _product(expr, left, right)
    if expr.op in _BARE:
        for side in (left, right):
            _bare(side, expr.op)
            if expr.op in ("AND", "OR"):
                refuse_text(side)
        sql = _BARE[expr.op](this=operand(left.sql), expression=operand(right.sql))
        made = of_operator(expr.op, left.type, right.type)
        return Bound(sql, place=expr.place, parts=(left, right), type=made)
    return _quotient(expr, left, right)


def _sum(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    left, right = unify([left, right], f"`{expr.op}`")
    unit = left.unit
    if left.constant is not None and right.constant is not None and unit != NO_UNIT:
        value = left.constant + right.constant if expr.op == "+" else left.constant - right.constant
        return constant(value, unit, expr.place, integral=left.integral and right.integral)
    sql = _SUMS[expr.op](this=operand(left.sql), expression=operand(right.sql))
    made = of_operator(expr.op, left.type, right.type)
    return Bound(sql, unit, expr.place, family=both(left, right), parts=(left, right), type=made)


def _product(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    unit, factor = multiply(left.unit, right.unit)
    if left.constant is not None and right.constant is not None and (left.unit, right.unit) != (NO_UNIT, NO_UNIT):
        value = left.constant * right.constant * factor
        return constant(value, unit, expr.place, integral=left.integral and right.integral)
    sql = exp.Mul(this=operand(left.sql), expression=operand(right.sql))
    made = of_operator("*", left.type, right.type)
    return scale(Bound(sql, unit, expr.place, family=both(left, right), parts=(left, right), type=made), factor, unit)


def _quotient(expr: ast.Binary, left: Bound, right: Bound) -> Bound:
    """Bind `/`, `//` and `%`; a divisor that may be zero gives NULL and a warning."""
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
    family = "float" if expr.op == "/" else both(left, right)
    sql, made = _division(expr.op, left, right), _quotient_type(expr.op, left, right)
    result = Bound(sql, unit, expr.place, family=family, parts=(left, right), type=made)
    return scale(result, factor, unit)


def _quotient_type(op: str, left: Bound, right: Bound) -> Type | None:
    made = of_operator(op, left.type, right.type)
    if op != "//" or both(left, right) == "integer" or made is None:
        return made
    if both(left, right) == "float":
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


def _division(op: str, left: Bound, right: Bound) -> exp.Expr:
    forms = {"/": exp.Div, "//": exp.IntDiv, "%": exp.Mod}
    sql: exp.Expr = exp.Paren(this=forms[op](this=operand(left.sql), expression=operand(right.sql)))
    if op == "//" and both(left, right) != "integer":
        # The engine's `//` truncates integers only: for doubles its quotient keeps the fraction.
        known = both(left, right) == "float"
        sql = exp.Anonymous(this="trunc", expressions=[sql]) if known else _whole_quotient(left, right)
    if right.constant:
        return sql
    zero = exp.EQ(this=operand(right.sql.copy()), expression=exp.Literal.number("0"))
    divisor = exp.Cast(this=right.sql.copy(), to=type_named("DOUBLE"))
    counted = exp.Is(this=exp.Anonymous(this=ZERO_DIVISION, expressions=[divisor]), expression=exp.Null())
    # The inner CASE calls the counter for zeros only; the outer NULL takes the quotient's type.
    is_zero = exp.Case(ifs=[exp.If(this=zero, true=counted)], default=exp.Boolean(this=False))
    return exp.Case(ifs=[exp.If(this=is_zero, true=exp.Null())], default=sql)


def _whole_quotient(left: Bound, right: Bound) -> exp.Expr:
    """Divide without remainder, exactly for integers, where the types are not known."""
    remainder = exp.Paren(this=exp.Mod(this=operand(left.sql.copy()), expression=operand(right.sql.copy())))
    whole = exp.Paren(this=exp.Sub(this=operand(left.sql.copy()), expression=remainder))
    return exp.Paren(this=exp.IntDiv(this=whole, expression=operand(right.sql.copy())))


def like(expr: ast.Like, subject: Bound, pattern: Bound, escape: Bound | None, *, proven: bool) -> Bound:
    """Bind LIKE, ILIKE, GLOB and REGEXP, whose pattern may be `proven` to be one."""
    for bound in (subject, pattern):
        _bare(bound, expr.op)
    if expr.op == "REGEXP":
        sql: exp.Expr = exp.Anonymous(this="regexp_matches", expressions=[subject.sql, pattern.sql])
    elif expr.op == "GLOB":
        sql = exp.Glob(this=operand(subject.sql), expression=operand(pattern.sql))
    else:
        form = exp.Like if expr.op == "LIKE" else exp.ILike
        sql = form(this=operand(subject.sql), expression=operand(pattern.sql))
        if escape is not None:
            sql = exp.Escape(this=sql, expression=escape.sql)
    if expr.op == "REGEXP":
        made = of_call("regexp_matches", [subject.type, pattern.type], proven=proven)
    else:
        made = of_operator(expr.op, subject.type, pattern.type)
    if escape is not None and settled(escape.type) != VARCHAR:
        made = None
    return Bound(_negate(sql, negated=expr.negated), place=expr.place, parts=(subject, pattern), type=made)


def between(expr: ast.Between, subject: Bound, low: Bound, high: Bound) -> Bound:
    """Bind BETWEEN."""
    subject, low, high = unify([subject, low, high], "BETWEEN")
    sql = exp.Between(this=operand(subject.sql), low=operand(low.sql), high=operand(high.sql))
    parts = (subject, low, high)
    return Bound(
        _negate(sql, negated=expr.negated),
        place=expr.place,
        parts=parts,
        type=of_operator("BETWEEN", *(one.type for one in parts)),
    )


def in_list(expr: ast.InList, subject: Bound, items: list[Bound]) -> Bound:
    """Bind IN with a list."""
    subject, *items = unify([subject, *items], "IN")
    sql = exp.In(this=operand(subject.sql), expressions=[i.sql for i in items])
    parts = (subject, *items)
    return Bound(
        _negate(sql, negated=expr.negated),
        place=expr.place,
        parts=parts,
        type=of_operator("IN", *(one.type for one in parts)),
    )


def _negate(sql: exp.Expr, *, negated: bool) -> exp.Expr:
    return exp.Not(this=exp.Paren(this=sql)) if negated else exp.Paren(this=sql)
