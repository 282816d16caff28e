"""Turn one comparison of the filter language, about one column, into the condition that is true just where it holds.

A comparison that is unknown (the value is missing, or of another type) does not hold, and nor does its opposite. So
there are conditions for both, and none of them needs a NOT around it. Numbers are compared by their exact values:
what a column's type cannot hold is moved to the nearest value that it can, so that nothing is cast.
"""

from __future__ import annotations

import json
import math
import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction

from dctv.bind.bound import literal
from dctv.plan.build import any_of, call, case, equal, is_not_null, negated, number, select, unequal
from dctv.plan.expressions import (
    FALSE,
    Binary,
    Boolean,
    Cast,
    Column,
    Expression,
    InList,
    InQuery,
    IsNull,
    Text,
)
from dctv.record import record
from dctv.syntax import filter as ast
from dctv.types.values import is_float, is_integer, is_string

Condition = Expression | bool
"""For the engine, or what it comes to in all rows of a table."""

OPPOSITE: dict[ast.Operator, ast.Operator] = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_PLAIN: dict[ast.Operator, Callable[[str, str], bool]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WHOLE_JSON = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")


@record
class ScaledNumber:
    """A literal in the unit of what it is compared with."""

    value: Fraction
    whole: bool
    """Whether it is written as a whole number; another one means the nearest double where it meets doubles."""


Operand = ScaledNumber | str | bool

MOST_LISTED = 500
"""Members of a list that are written one by one, which indexes understand; longer ones are joined as a table."""


def kind_of(type_name: str) -> str:
    """Return the kind of a column's values: `number`, `text`, `truth`, or empty if they cannot be compared."""
    if is_integer(type_name) or is_float(type_name):
        return "number"
    return "text" if is_string(type_name) else "truth" if type_name == "BOOLEAN" else ""


def kind_of_value(value: Operand) -> str:
    """Return the same of a literal."""
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def plain(value: str, op: ast.Operator, other: Operand) -> bool:
    """Compare a text that all rows have."""
    return isinstance(other, str) and _PLAIN[op](value, other)


def comparison(subject: Expression, type_name: str, op: ast.Operator, value: Operand) -> Condition:
    """Compare a column with a literal of its kind; truth values are only equal or not."""
    if isinstance(value, bool):
        return _compared(op, subject, Boolean(value)) if op in {"==", "!="} else False
    if isinstance(value, str):
        return _compared(op, subject, _text(value))
    return (
        _compare_integer(subject, type_name, op, value.value) if is_integer(type_name) else _float(subject, op, value)
    )


def membership(subject: Expression, type_name: str, values: Sequence[Operand], *, expected: bool) -> Condition:
    """Say that a column is one of some literals of its kind, or none of them."""
    items = [pair for value in values for pair in _equal(subject, type_name, value)]
    if not items:
        return False if expected else is_not_null(subject)
    found: Expression = InList(subject, tuple(one for _, one in items))
    if len(items) > MOST_LISTED:
        texts = [json.dumps(value) if isinstance(value, str) else str(value).lower() for value, _ in items]
        listed = call("from_json", Text(f"[{','.join(texts)}]"), Text(json.dumps([type_name])))
        found = InQuery(subject, select(call("unnest", listed)))
    return found if expected else negated(found)


def _compared(op: ast.Operator, subject: Expression, value: Expression) -> Binary:
    return Binary("=" if op == "==" else op, subject, value)


def _equal(
    subject: Expression, type_name: str, value: Operand
) -> Iterator[tuple[str | int | float | bool, Expression]]:
    """Yield the value of the column's type that equals a literal, and how it is written; none if there is none."""
    test = comparison(subject, type_name, "==", value)
    if not isinstance(test, Binary):
        return
    if isinstance(value, ScaledNumber):
        yield (int(value.value) if is_integer(type_name) else _nearest(value.value)), test.right
    else:
        yield value, test.right


def _text(value: str) -> Expression:
    """Write a text; the engine's own literals end at a zero character."""
    pieces = value.split("\0")
    if len(pieces) == 1:
        return Text(value)
    parts: list[Expression] = [Text(pieces[0])]
    for piece in pieces[1:]:
        parts += [call("chr", number(0)), Text(piece)]
    return call("concat", *parts)


def _range(type_name: str) -> tuple[int, int]:
    signed = type_name.removeprefix("U")
    bits = _BITS[signed]
    return (0, 2**bits - 1) if type_name != signed else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _compare_integer(subject: Expression, type_name: str, op: ast.Operator, value: Fraction) -> Condition:
    """Compare whole numbers with any number."""
    lowest, highest = _range(type_name)
    if op in {"==", "!="}:
        if value.denominator == 1 and lowest <= value <= highest:
            return _compared(op, subject, number(int(value)))
        return False if op == "==" else is_not_null(subject)
    # Below the first bound or up to it, or the other way round.
    bound = math.floor(value) if op in {"<=", ">"} else math.ceil(value)
    above = op in {">", ">="}
    if bound > highest or (bound == highest and op in {">", "<="}):
        return False if above else is_not_null(subject)
    if bound < lowest or (bound == lowest and op in {"<", ">="}):
        return is_not_null(subject) if above else False
    return _compared(op, subject, number(bound))


def _float(subject: Expression, op: ast.Operator, value: ScaledNumber) -> Condition:
    """Compare doubles with any number."""
    near = _nearest(value.value)
    if not math.isinf(near) and (Fraction(near) == value.value or not value.whole):
        return _compared(op, subject, _double(near))
    if op in {"==", "!="}:
        return False if op == "==" else is_not_null(subject)
    below = near if not math.isinf(near) and Fraction(near) < value.value else math.nextafter(near, -math.inf)
    if math.isinf(below):
        return is_not_null(subject) if op in {">", ">="} else False
    return Binary("<=" if op in {"<", "<="} else ">", subject, _double(below))


def _nearest(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _double(value: float) -> Expression:
    return literal(Fraction(value), integral=False)


class JsonMember:
    """A member of an object that a column holds as JSON text; its type is known row by row."""

    def __init__(self, owner: str, path: Sequence[str]) -> None:
        pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
        # Texts that are no JSON stand in the same columns.
        whole = Cast(Column(owner), "JSON", lenient=True)
        self._type = call("json_type", whole, Text(pointer))
        self._text = call("json_extract_string", whole, Text(pointer))

    def absent(self) -> Expression:
        """Build the condition that it is missing or null."""
        return any_of([IsNull(self._type), equal(self._type, Text("NULL"))])

    def present(self) -> Expression:
        """Say that it has a value."""
        return unequal(self._type, Text("NULL"))

    def comparison(self, op: ast.Operator, value: Operand) -> Condition:
        """Compare it with a literal, in rows where it has the literal's kind."""
        if isinstance(value, bool):
            return self._where(("BOOLEAN",), comparison(Cast(self._text, "BOOLEAN"), "BOOLEAN", op, value))
        if isinstance(value, str):
            return self._where(("VARCHAR",), comparison(self._text, "VARCHAR", op, value))
        wholes = comparison(self._number("HUGEINT"), "HUGEINT", op, value)
        floats = comparison(self._number("DOUBLE"), "DOUBLE", op, value)
        either = [t for t in (self._where(_WHOLE_JSON, wholes), self._where(("DOUBLE",), floats)) if t is not False]
        return any_of([t for t in either if not isinstance(t, bool)]) if either else False

    def _number(self, type_name: str) -> Expression:
        return Cast(self._text, type_name, lenient=True)

    def _where(self, types: Sequence[str], test: Condition) -> Condition:
        if isinstance(test, bool):
            return False
        is_one = InList(self._type, tuple(Text(t) for t in types))
        # The engine may look at both sides of an AND: only a CASE keeps values of other types out of the test.
        return case((is_one, test), default=FALSE)
