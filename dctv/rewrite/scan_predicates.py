"""Translate conditions to predicates of an index, with literals as the engine compares them.

Sound: where a row has some truth value for the condition, the predicate has it too, or is `Undecidable` there.

- Whole numbers are compared exactly with columns of whole numbers. The engine compares them with a double as doubles:
  for doubles below 2^53 that is exact, greater ones are not translated. A double column rounds the literal.
- Texts are compared byte by byte. Casts for each row (a text against a number) are not translated, nor is
  case-insensitive LIKE; a pattern with wildcards inside becomes a prefix.
- A sum of two columns is a time and a duration. A column times a whole number, as units make it, is divided out.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from math import isfinite

from dctv.plan import expressions as e
from dctv.plan import predicate as p
from dctv.record import record
from dctv.rewrite.conditions import FLIPPED
from dctv.rewrite.literals import LARGEST, Double, Literal, is_lossless, literal_of
from dctv.types.values import is_integer

Names = Callable[[e.Expression], tuple[str, str] | None]
"""The name that a column has in predicates, and its type; None for one that is not handed on from a stored table."""

_EXACT = 2**53
_SAFE = {"<=>": "=", "<!=>": "!="}
_PREFIXES = ("starts_with", "prefix", "^@")


@record
class _Subject:
    """A column, or the sum of two, maybe times a whole number."""

    columns: tuple[str, ...]
    type: str
    factor: int = 1


def predicate_of(test: e.Expression, names: Names, *, positive: bool = True) -> p.Predicate:
    """Translate a condition; `positive` says whether it is under an even number of NOTs."""
    match test:
        case e.And(parts) | e.Or(parts):
            form = p.And if isinstance(test, e.And) else p.Or
            return form(tuple(predicate_of(part, names, positive=positive) for part in parts))
        case e.Unary("NOT", operand):
            return p.Not(predicate_of(operand, names, positive=not positive))
        case e.Between(operand, low, high):
            ends = (e.Binary(">=", operand, low), e.Binary("<=", operand, high))
            return p.And(tuple(_comparison(one, names, positive=positive) for one in ends))
        case e.IsNull(operand):
            return _is_null(operand, names, positive=positive)
        case e.Binary():
            return _comparison(test, names, positive=positive)
        case _:
            return _plain(test, names, positive=positive)


def _plain(test: e.Expression, names: Names, *, positive: bool) -> p.Predicate:
    """Translate a condition without nested ones."""
    match test:
        case e.Column():
            found = names(test)
            return (
                p.Compare((found[0],), operator="=", value=True) if found and found[1] == "BOOLEAN" else p.Undecidable()
            )
        case e.InList():
            return _membership(test, names)
        case e.Like():
            return _like(test, names)
        case e.Call(function, (subject, pattern)) if function in _PREFIXES:
            name, text = _text(subject, names), literal_of(pattern)
            return p.Prefix(name, text) if name is not None and isinstance(text, str) else p.Undecidable()
        case _:
            truth = literal_of(test)
            return p.of_truth(truth, positive=positive) if truth is None or isinstance(truth, bool) else p.Undecidable()


def _is_null(operand: e.Expression, names: Names, *, positive: bool) -> p.Predicate:
    if isinstance(operand, e.Column):
        found = names(operand)
        return p.Undecidable() if found is None else p.IsNull(found[0])
    value = literal_of(operand)
    return p.Undecidable() if value is Ellipsis else p.of_truth(value is None, positive=positive)


def _comparison(test: e.Binary, names: Names, *, positive: bool) -> p.Predicate:
    operator = _SAFE.get(test.operator, test.operator)
    if operator not in FLIPPED:
        return p.Undecidable()
    safe = operator != test.operator
    left, right, subject = literal_of(test.left), literal_of(test.right), test.left
    if left is not Ellipsis and right is not Ellipsis:
        return _of_literals(left, operator, right, safe=safe, positive=positive)
    if left is not Ellipsis:
        right, operator, subject = left, FLIPPED[operator], test.right
    found = _subject(subject, names)
    if found is None or right is Ellipsis:
        return p.Undecidable()
    if safe:
        return _null_safe(found, operator, right)
    return p.of_truth(None, positive=positive) if right is None else _compared(found, operator, right)


def _null_safe(subject: _Subject, operator: str, literal: Literal | None) -> p.Predicate:
    if len(subject.columns) > 1:
        return p.Undecidable()
    missing = p.IsNull(subject.columns[0])
    if literal is None:
        return missing if operator == "=" else p.Not(missing)
    compared = _compared(subject, operator, literal)
    return p.And((compared, p.Not(missing))) if operator == "=" else p.Or((compared, missing))


def _of_literals(
    left: Literal | None, operator: str, right: Literal | None, *, safe: bool, positive: bool
) -> p.Predicate:
    """Fold a comparison of two literals."""
    if left is None or right is None:
        same = left is None and right is None
        return p.of_truth((same == (operator == "=")) if safe else None, positive=positive)
    if isinstance(left, Double) or isinstance(right, Double):
        return p.Undecidable()
    truth = p.truth_of(p.Compare(("",), operator, right), left)
    return p.Undecidable() if truth is Ellipsis else p.of_truth(truth, positive=positive)


def _membership(test: e.InList, names: Names) -> p.Predicate:
    subject = _subject(test.operand, names)
    if subject is None or len(subject.columns) > 1 or subject.factor != 1 or not test.items:
        return p.Undecidable()
    found = [literal_of(one) for one in test.items]
    # A double among whole numbers makes doubles of all.
    rounding = any(isinstance(one, Double) for one in found)
    values: list[p.Value] = []
    for one in found:
        if one is None:
            continue
        value = None if one is Ellipsis or (rounding and not _is_small(one)) else _value(one, subject.type)
        if value is None:
            return p.Undecidable()
        values.append(value)
    return p.In(subject.columns[0], tuple(dict.fromkeys(values)), has_null=None in found)


def _is_small(literal: Literal) -> bool:
    return isinstance(literal, Double) or (isinstance(literal, int) and abs(literal) < _EXACT)


def _like(test: e.Like, names: Names) -> p.Predicate:
    escape: str | None = None
    if test.escape is not None:
        found = literal_of(test.escape)
        if not isinstance(found, str) or len(found) != 1:
            return p.Undecidable()
        escape = found
    name, pattern = _text(test.operand, names), literal_of(test.pattern)
    if test.operator != "LIKE" or name is None or not isinstance(pattern, str):
        return p.Undecidable()
    return _pattern(name, pattern, escape)


def _text(value: e.Expression, names: Names) -> str | None:
    """Return the name of a column of texts."""
    subject = _subject(value, names)
    return None if subject is None or subject.type != "VARCHAR" else subject.columns[0]


def _pattern(name: str, pattern: str, escape: str | None) -> p.Predicate:
    """Read a LIKE pattern: a text, a prefix and `%`, or a prefix and more wildcards."""
    text = ""
    place = 0
    while place < len(pattern) and (pattern[place] == escape or pattern[place] not in "%_"):
        if pattern[place] == escape:
            place += 1
            if place == len(pattern):
                return p.Undecidable()
        text += pattern[place]
        place += 1
    rest = pattern[place:]
    if not rest:
        return p.Compare((name,), "=", text)
    return (
        p.Prefix(name, text) if set(rest) == {"%"} and escape != "%" else p.And((p.Prefix(name, text), p.Undecidable()))
    )


def _compared(subject: _Subject, operator: str, literal: Literal) -> p.Predicate:
    value = _value(literal, subject.type)
    if value is None or (len(subject.columns) > 1 and not isinstance(value, int | Fraction)):
        return p.Undecidable()
    if subject.factor != 1:
        if isinstance(value, str):
            return p.Undecidable()
        scaled = Fraction(value) / subject.factor
        value = int(scaled) if scaled.denominator == 1 else scaled
    return p.Compare(subject.columns, operator, value)


def _value(literal: Literal, kind: str) -> p.Value | None:
    """Return a literal as a column of some type is compared with it; None where that is not simple."""
    match literal:
        case str():
            return literal if kind == "VARCHAR" else None
        case bool():
            return literal if kind == "BOOLEAN" else None
        case int():
            return _whole(literal, kind)
        case Double(value):
            if not isfinite(value) or not (kind == "DOUBLE" or (is_integer(kind) and abs(value) < _EXACT)):
                return None
            return _exact(Fraction(value))


def _whole(literal: int, kind: str) -> p.Value | None:
    if is_integer(kind):
        return literal if abs(literal) < LARGEST else None
    if kind == "DOUBLE" and abs(literal) < LARGEST:
        return int(float(literal))
    return literal if kind == "FLOAT" and abs(literal) < 2**24 else None


def _exact(value: Fraction) -> p.Value:
    return value.numerator if value.denominator == 1 else value


def _subject(value: e.Expression, names: Names) -> _Subject | None:
    """Read the operand that is compared with a literal."""
    match value:
        case e.Column():
            found = names(value)
            return None if found is None else _Subject((found[0],), found[1])
        case e.Binary("+", left, right):
            return _sum(_subject(left, names), _subject(right, names))
        case e.Binary("*", left, right):
            inner, factor = _subject(left, names), literal_of(right)
            if inner is None or not is_integer(inner.type) or type(factor) is not int or factor <= 0:
                return None
            return _Subject(inner.columns, "BIGINT", inner.factor * factor)
        case e.Cast(operand, kind):
            inner = _subject(operand, names)
            return _Subject(inner.columns, kind, inner.factor) if inner and is_lossless(inner.type, kind) else None
        case _:
            return None


def _sum(left: _Subject | None, right: _Subject | None) -> _Subject | None:
    if left is None or right is None or not (is_integer(left.type) and is_integer(right.type)):
        return None
    plain = left.factor == right.factor == 1 and len(left.columns) == len(right.columns) == 1
    return _Subject((*left.columns, *right.columns), "BIGINT") if plain else None
