"""A condition in the engine's SQL -> its conjuncts, which of them cannot fail, and what they say of columns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from sqlglot import exp

from dctv.plan.sql import column
from dctv.types.values import is_integer

_COMPARISONS = (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE, exp.NullSafeEQ, exp.NullSafeNEQ)
_FLOATS = ("DOUBLE", "FLOAT")


def conjuncts(test: exp.Expr) -> Iterator[exp.Expr]:
    """Yield the parts of a chain of ANDs; BETWEEN is two of them."""
    test = test.unnest()
    if isinstance(test, exp.And):
        yield from conjuncts(test.this)
        yield from conjuncts(test.expression)
    elif isinstance(test, exp.Between) and _is_simple(test.this) and not test.args.get("symmetric"):
        yield exp.GTE(this=test.this, expression=test.args["low"])
        yield exp.LTE(this=test.this, expression=test.args["high"])
    else:
        yield test


def _is_simple(value: exp.Expr) -> bool:
    return isinstance(value.unnest(), exp.Column) or sum_of(value) is not None


def sum_of(value: exp.Expr) -> frozenset[str] | None:
    """Return the names of two columns that are added."""
    value = value.unnest()
    if not isinstance(value, exp.Add):
        return None
    parts = [value.this.unnest(), value.expression.unnest()]
    return frozenset(p.name for p in parts) if all(isinstance(p, exp.Column) for p in parts) else None


def cannot_fail(test: exp.Expr, types: Mapping[str, str]) -> bool:
    """Whether a condition has a value for every row: comparisons within one family of types, and what joins them.

    Arithmetic may overflow, casts may not know a text, and comparing a text with a number is a cast.
    """
    test = test.unnest()
    if isinstance(test, exp.And | exp.Or):
        return cannot_fail(test.this, types) and cannot_fail(test.expression, types)
    if isinstance(test, exp.Not):
        return cannot_fail(test.this, types)
    if isinstance(test, exp.Is):
        return isinstance(test.expression, exp.Null) and isinstance(test.this.unnest(), exp.Column)
    if isinstance(test, exp.Like | exp.ILike):
        return _families([test.this, test.expression], types) == {"text"}
    if isinstance(test, exp.Column):
        return _family(test, types) == "bool"
    return _one_family(_compared(test), types)


def _compared(test: exp.Expr) -> list[exp.Expr]:
    """Return the values that a condition compares with each other; none for other conditions."""
    if isinstance(test, exp.In):
        return [test.this, *test.expressions] if test.args.get("query") is None and test.expressions else []
    if isinstance(test, exp.Between):
        return [test.this, test.args["low"], test.args["high"]]
    return [test.this, test.expression] if isinstance(test, _COMPARISONS) else []


def _one_family(values: Sequence[exp.Expr], types: Mapping[str, str]) -> bool:
    found = _families(values, types) if values else {None}
    return len(found) == 1 and None not in found


def _families(values: Sequence[exp.Expr], types: Mapping[str, str]) -> set[str | None]:
    families = {_family(v.unnest(), types) for v in values if not isinstance(v.unnest(), exp.Null)}
    return {"number" if f == "literal" else f for f in families} or {"null"}


def _family(value: exp.Expr, types: Mapping[str, str]) -> str | None:
    """Return what a column or literal may be compared with; None for other expressions and types."""
    if isinstance(value, exp.Neg):
        return "number" if _family(value.this.unnest(), types) == "literal" else None
    if isinstance(value, exp.Literal):
        return "text" if value.is_string else "literal"
    if isinstance(value, exp.Boolean):
        return "bool"
    if not isinstance(value, exp.Column):
        return None
    kind = types.get(value.name, "")
    if is_integer(kind) or kind in _FLOATS:
        return "number"
    return {"VARCHAR": "text", "BOOLEAN": "bool"}.get(kind)


def renamed(test: exp.Expr, names: Mapping[str, str]) -> exp.Expr:
    """Return a condition over other columns, without a table in front."""
    return test.transform(lambda node: column(names[node.name]) if isinstance(node, exp.Column) else node)


def names_in(test: exp.Expr) -> set[str]:
    """Return the names of the columns in a condition."""
    return {c.name for c in test.find_all(exp.Column)}


def bound_of(test: exp.Expr) -> tuple[exp.Expr, type[exp.Expr], int] | None:
    """Read a comparison with a whole number as (what is compared, how, number), the number on the right."""
    flipped: dict[type[exp.Expr], type[exp.Expr]] = {
        exp.LT: exp.GT,
        exp.LTE: exp.GTE,
        exp.GT: exp.LT,
        exp.GTE: exp.LTE,
        exp.EQ: exp.EQ,
    }
    test = test.unnest()
    if type(test) not in flipped:
        return None
    left, right = test.this.unnest(), test.expression.unnest()
    for subject, other, how in ((left, right, type(test)), (right, left, flipped[type(test)])):
        number = _whole(other)
        if number is not None:
            return subject, how, number
    return None


def _whole(value: exp.Expr) -> int | None:
    sign = 1
    if isinstance(value, exp.Neg):
        sign, value = -1, value.this.unnest()
    if not isinstance(value, exp.Literal) or value.is_string:
        return None
    number = Fraction(str(value.this))
    # A number that is written as a double is compared as one: with these, no whole number is rounded to the wrong side.
    most = 2**63 if str(value.this).isdigit() else 2**53
    return sign * int(number) if number.denominator == 1 and number < most else None
