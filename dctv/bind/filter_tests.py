"""One comparison of the filter language, about one column, to the condition that is true just where it holds.

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

from sqlglot import exp

from dctv.bind.bound import literal
from dctv.plan.sql import any_of, call, cast, column, is_null, known, number, text, type_named
from dctv.record import record
from dctv.syntax import filter as ast
from dctv.types.values import is_float, is_integer, is_string

Condition = exp.Expr | bool
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
_SQL: dict[ast.Operator, type[exp.Binary]] = {
    "==": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INTEGER": 32, "BIGINT": 64, "HUGEINT": 128}
_WHOLE_JSON = ("BIGINT", "UBIGINT", "HUGEINT", "UHUGEINT")


@record
class Number:
    """A literal in the unit of what it is compared with."""

    value: Fraction
    whole: bool
    """Whether it is written as a whole number; another one means the nearest double where it meets doubles."""


Operand = Number | str | bool

MOST_LISTED = 500
"""Members of a list that are written one by one, which indexes understand; longer ones are joined as a table."""


def kind_of(type_name: str) -> str:
    """Return what a column holds: `number`, `text`, `truth`, or empty for what nothing compares with."""
    if is_integer(type_name) or is_float(type_name):
        return "number"
    return "text" if is_string(type_name) else "truth" if type_name == "BOOLEAN" else ""


def kind_of_value(value: Operand) -> str:
    """Return the same of a literal."""
    return "truth" if isinstance(value, bool) else "text" if isinstance(value, str) else "number"


def plain(value: str, op: ast.Operator, other: Operand) -> bool:
    """Compare a text that all rows have."""
    return isinstance(other, str) and _PLAIN[op](value, other)


def comparison(subject: exp.Expr, type_name: str, op: ast.Operator, value: Operand) -> Condition:
    """Compare a column with a literal of its kind; truth values are only equal or not."""
    if isinstance(value, bool):
        return _SQL[op](this=subject, expression=exp.Boolean(this=value)) if op in {"==", "!="} else False
    if isinstance(value, str):
        return _SQL[op](this=subject, expression=_text(value))
    return _whole(subject, type_name, op, value.value) if is_integer(type_name) else _float(subject, op, value)


def membership(subject: exp.Expr, type_name: str, values: Sequence[Operand], *, wanted: bool) -> Condition:
    """Say that a column is one of some literals of its kind, or none of them."""
    items = [pair for value in values for pair in _equal(subject, type_name, value)]
    if not items:
        return False if wanted else known(subject)
    found = exp.In(this=subject, expressions=[one for _, one in items])
    if len(items) > MOST_LISTED:
        texts = [json.dumps(value) if isinstance(value, str) else str(value).lower() for value, _ in items]
        listed = call("from_json", text(f"[{','.join(texts)}]"), text(json.dumps([type_name])))
        query = exp.Select(expressions=[call("unnest", listed)])
        found = exp.In(this=subject, query=exp.Subquery(this=query))
    return found if wanted else exp.Not(this=found)


def _equal(subject: exp.Expr, type_name: str, value: Operand) -> Iterator[tuple[str | int | float | bool, exp.Expr]]:
    """Yield the value of the column's type that equals a literal, and how it is written; none if there is none."""
    test = comparison(subject, type_name, "==", value)
    if isinstance(test, bool):
        return
    if isinstance(value, Number):
        yield (int(value.value) if is_integer(type_name) else _nearest(value.value)), test.expression
    else:
        yield value, test.expression


def _text(value: str) -> exp.Expr:
    """Write a text; the engine's own literals end at a zero character."""
    pieces = value.split("\0")
    if len(pieces) == 1:
        return text(value)
    parts: list[exp.Expr] = [text(pieces[0])]
    for piece in pieces[1:]:
        parts += [call("chr", exp.Literal.number("0")), text(piece)]
    return call("concat", *parts)


def _range(type_name: str) -> tuple[int, int]:
    signed = type_name.removeprefix("U")
    bits = _BITS[signed]
    return (0, 2**bits - 1) if type_name != signed else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)


def _whole(subject: exp.Expr, type_name: str, op: ast.Operator, value: Fraction) -> Condition:
    """Compare whole numbers with any number."""
    lowest, highest = _range(type_name)
    if op in {"==", "!="}:
        if value.denominator == 1 and lowest <= value <= highest:
            return _SQL[op](this=subject, expression=number(int(value)))
        return False if op == "==" else known(subject)
    # Below the first bound or up to it, or the other way round.
    bound = math.floor(value) if op in {"<=", ">"} else math.ceil(value)
    above = op in {">", ">="}
    if bound > highest or (bound == highest and op in {">", "<="}):
        return False if above else known(subject)
    if bound < lowest or (bound == lowest and op in {"<", ">="}):
        return known(subject) if above else False
    return _SQL[op](this=subject, expression=number(bound))


def _float(subject: exp.Expr, op: ast.Operator, value: Number) -> Condition:
    """Compare doubles with any number."""
    near = _nearest(value.value)
    if not math.isinf(near) and (Fraction(near) == value.value or not value.whole):
        return _SQL[op](this=subject, expression=_double(near))
    if op in {"==", "!="}:
        return False if op == "==" else known(subject)
    below = near if not math.isinf(near) and Fraction(near) < value.value else math.nextafter(near, -math.inf)
    if math.isinf(below):
        return known(subject) if op in {">", ">="} else False
    return (exp.LTE if op in {"<", "<="} else exp.GT)(this=subject, expression=_double(below))


def _nearest(value: Fraction) -> float:
    try:
        return value.numerator / value.denominator
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _double(value: float) -> exp.Expr:
    return literal(Fraction(value), integral=False)


class Inside:
    """A member of an object that a column holds as JSON text; its type is known row by row."""

    def __init__(self, owner: str, path: Sequence[str]) -> None:
        pointer = "".join("/" + part.replace("~", "~0").replace("/", "~1") for part in path)
        # Texts that are no JSON stand in the same columns.
        whole = exp.TryCast(this=column(owner), to=type_named("JSON"))
        self._type = call("json_type", whole, text(pointer))
        self._text = call("json_extract_string", whole.copy(), text(pointer))

    def absent(self) -> exp.Expr:
        """Say that it is missing or null."""
        return any_of([is_null(self._type.copy()), exp.EQ(this=self._type.copy(), expression=text("NULL"))])

    def present(self) -> exp.Expr:
        """Say that it has a value."""
        return exp.NEQ(this=self._type.copy(), expression=text("NULL"))

    def comparison(self, op: ast.Operator, value: Operand) -> Condition:
        """Compare it with a literal, where it is of the literal's kind."""
        if isinstance(value, bool):
            return self._where(("BOOLEAN",), comparison(cast(self._text.copy(), "BOOLEAN"), "BOOLEAN", op, value))
        if isinstance(value, str):
            return self._where(("VARCHAR",), comparison(self._text.copy(), "VARCHAR", op, value))
        wholes = comparison(self._number("HUGEINT"), "HUGEINT", op, value)
        floats = comparison(self._number("DOUBLE"), "DOUBLE", op, value)
        either = [t for t in (self._where(_WHOLE_JSON, wholes), self._where(("DOUBLE",), floats)) if t is not False]
        return any_of([t for t in either if not isinstance(t, bool)]) if either else False

    def _number(self, type_name: str) -> exp.Expr:
        return exp.TryCast(this=self._text.copy(), to=type_named(type_name))

    def _where(self, types: Sequence[str], test: Condition) -> Condition:
        if isinstance(test, bool):
            return False
        is_one = exp.In(this=self._type.copy(), expressions=[text(t) for t in types])
        # The engine may look at both sides of an AND: only a CASE keeps values of other types out of the test.
        return exp.Case(ifs=[exp.If(this=is_one, true=test)], default=exp.Boolean(this=False))
