"""Convert casts from DuckDB's semantics to equivalents on Spark, which rounds and parses differently."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence

from dctv.engines.sql.vetted.refusal import refused, unknown
from dctv.engines.sql.vetted.scope import Typed
from dctv.engines.sql.vetted.types import HUGEINT, NUMBERS, Kind, kind_of, spark_name
from dctv.plan.build import call, case, is_not_null
from dctv.plan.expressions import FALSE, TRUE, Between, Binary, Cast, Expression, InList, Number, Text, Unary
from dctv.record import record
from dctv.signatures.casts import INTEGERS, settled
from dctv.signatures.combine import common
from dctv.signatures.types import Type

_WHOLE = re.compile(r"[-+]?[0-9]{1,38}")
_DATE = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}")
_TIME = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2} [0-9]{2}:[0-9]{2}:[0-9]{2}(\.[0-9]{1,6})?")
_BLANKS = r"[ \t\n\f\r]*"
_ODD_INTEGER = (
    rf"^{_BLANKS}[-+]?(0[xXbB][0-9A-Fa-f_]+|[0-9_]*[0-9][0-9_]*\.[0-9_]*([eE][-+]?[0-9]+)?"
    rf"|\.[0-9_]+([eE][-+]?[0-9]+)?|[0-9_]+[eE][-+]?[0-9]+|[0-9]+_[0-9_]*){_BLANKS}$"
)
"""Texts that DuckDB casts to an integer by rounding, and Spark rejects."""
_ODD_FLOAT = rf"^{_BLANKS}[-+]?[0-9.eE]*[0-9]_[-+0-9.eE_]*{_BLANKS}$"
_LAST_OF_TWO_BYTES = 0xFFFF
_TRUE, _FALSE = ("t", "true", "y", "yes", "1"), ("f", "false", "n", "no", "0")
_TOO_WIDE = ("HUGEINT", "UHUGEINT", "UBIGINT")


@record
class Goal:
    """The target of a cast."""

    type: Type
    lenient: bool
    """Whether the result is NULL if the cast fails."""


Rule = Callable[[Typed, Goal], Expression]


def cast(typed: Typed, target: Type, *, lenient: bool = False) -> Expression:
    """Cast a value, explicitly.

    Raises:
        NotOnThisEngine: Spark's result differs.
    """
    if typed.type is None:
        raise unknown(f"a cast to `{target}`")
    source, goal = settled(typed.type), Goal(settled(target), lenient)
    if source == goal.type and not isinstance(typed.value, Text | Number | Unary):
        return typed.value
    kinds = (kind_of(typed.type), kind_of(target))
    if kinds[0] == "null":
        return Cast(typed.value, spark_name(target))
    if kinds not in _RULES:
        raise refused(f"a cast from `{source}` to `{target}`", "some values are converted differently there")
    return _RULES[kinds](typed, goal)


def brought(typed: Typed, target: Type | None) -> Expression:
    """Cast a value to the common type of several."""
    if typed.type is None or target is None or kind_of(target) == "null":
        return typed.value
    return typed.value if spark_name(typed.type) == spark_name(target) else cast(typed, target)


def compared(values: Sequence[Typed]) -> list[Expression]:
    """Cast operands of a comparison or sum to one type, except integers and decimals, which Spark casts alike."""
    kinds = {kind_of(one.type) for one in values if one.type is not None}
    if len(kinds) > 1 or not kinds <= set(NUMBERS):
        return cast_to_common(values)[0] if kinds != {"integer", "decimal"} else [one.value for one in values]
    return [one.value for one in values]


def cast_to_common(values: Sequence[Typed], first: Typed | None = None) -> tuple[list[Expression], Type | None]:
    """Cast values to one type, and return it; DuckDB considers them in order, but `first` before the others."""
    looked_at = values if first is None else [first, *(one for one in values if one is not first)]
    types = [one.type for one in looked_at if one.type is not None]
    if len(types) < len(values):
        return [one.value for one in values], None
    target = common(types)
    if target is None:
        raise refused(f"{_names(types)} cast to one type", "the common type is not known")
    return [brought(one, target) for one in values], target


def _names(types: Sequence[Type]) -> str:
    return " and ".join(dict.fromkeys(f"`{settled(one)}`" for one in types))


def failing(message: str, kind: Type) -> Expression:
    """Return an expression that fails the query when it is evaluated, in place of a value of a type."""
    return Cast(call("raise_error", Text(message)), spark_name(kind))


def as_double(typed: Typed) -> Expression:
    """Cast a number to DOUBLE."""
    return typed.value if typed.type is not None and typed.type.name == "DOUBLE" else Cast(typed.value, "DOUBLE")


def integer_of(value: Expression) -> int | None:
    """Return the integer that an expression is, if it is a literal."""
    match value:
        case Number(text) if text.isdecimal():
            return int(text)
        case Unary("-", inner):
            found = integer_of(inner)
            return None if found is None else -found
        case Cast(inner):
            return integer_of(inner)
        case Text(text) if _WHOLE.fullmatch(text):
            return int(text)
        case _:
            return None


def not_zero(divisor: Expression) -> Expression:
    """Turn a zero divisor into NULL, since Spark fails on division by zero."""
    number = divisor
    while isinstance(number, Cast):
        number = number.operand
    if isinstance(number, Number) and float(number.text):
        return divisor
    return call("nullif", divisor, Number("0"))


def matches(text: Expression, expression: str) -> Expression:
    """Test whether a text matches a regular expression, which must be portable."""
    return call("regexp_like", text, Text(expression))


def _plain(typed: Typed, goal: Goal) -> Expression:
    return Cast(typed.value, spark_name(goal.type), goal.lenient)


def _to_integer(typed: Typed, goal: Goal) -> Expression:
    """Cast an integer to an integer; a type that Spark stores in a wider one keeps its range."""
    assert typed.type is not None
    if not goal.type.name.startswith("U"):
        return _plain(typed, goal)
    source = settled(typed.type)
    least, most = INTEGERS[goal.type.name]
    if source.name in INTEGERS and INTEGERS[source.name][0] >= least and INTEGERS[source.name][1] <= most:
        return Cast(typed.value, spark_name(goal.type))
    within = Between(typed.value, Number(str(least)), Number(str(most)))
    tested = (within, Cast(typed.value, spark_name(goal.type)))
    if goal.lenient:
        return case(tested)
    wrong = (is_not_null(typed.value), failing(f"a value is out of the range of {goal.type}", goal.type))
    return case(tested, wrong)


def _from_decimal(typed: Typed, goal: Goal) -> Expression:
    """Round halves away from zero, then cast."""
    whole = Cast(call("round", typed.value, Number("0")), "DECIMAL(38, 0)")
    return _to_integer(Typed(whole, HUGEINT), goal)


def _from_float(typed: Typed, goal: Goal) -> Expression:
    """Round halves to even, then cast."""
    if goal.type.name in _TOO_WIDE:
        raise refused(f"a cast from `{typed.type}` to `{goal.type}`", "large numbers lose digits there")
    rounded = call("bround", typed.value)
    if not goal.type.name.startswith("U"):
        return Cast(rounded, spark_name(goal.type), goal.lenient)
    return _to_integer(Typed(Cast(rounded, "BIGINT", goal.lenient), HUGEINT), goal)


def _text_to_integer(typed: Typed, goal: Goal) -> Expression:
    if isinstance(typed.value, Text):
        if not _WHOLE.fullmatch(typed.value.value):
            raise refused(f"a cast of '{typed.value.value}' to `{goal.type}`", "only plain integers are parsed alike")
        return _plain(typed, goal)
    if goal.type.name.startswith("U"):
        wide = _text_to_integer(typed, Goal(HUGEINT, goal.lenient))
        return _to_integer(Typed(wide, HUGEINT), goal)
    return _read(typed.value, goal, _ODD_INTEGER) if goal.lenient else _plain(typed, goal)


def _text_to_float(typed: Typed, goal: Goal) -> Expression:
    return _read(typed.value, goal, _ODD_FLOAT) if goal.lenient else _plain(typed, goal)


def _read(text: Expression, goal: Goal, odd: str) -> Expression:
    """Parse a number, NULL if the text is none; fail on texts that only DuckDB accepts."""
    message = Text(f"a text that is a {goal.type} for DuckDB is none for Spark: ")
    stop = Cast(call("raise_error", call("concat", message, text)), spark_name(goal.type))
    read = Cast(text, spark_name(goal.type), lenient=True)
    return case((is_not_null(read), read), (matches(text, odd), stop))


def _text_to_bool(typed: Typed, goal: Goal) -> Expression:
    small = call("lower", typed.value)
    yes = (InList(small, tuple(map(Text, _TRUE))), TRUE)
    no = (InList(small, tuple(map(Text, _FALSE))), FALSE)
    if goal.lenient:
        return case(yes, no)
    return case(yes, no, (is_not_null(typed.value), failing("a text is neither true nor false", goal.type)))


def _list(typed: Typed, goal: Goal) -> Expression:
    assert typed.type is not None
    kinds = [kind_of(one.children[0]) for one in (settled(typed.type), goal.type)]
    if kinds not in (["integer", "integer"], ["null", kinds[1]]) or goal.type.children[0].name.startswith("U"):
        raise refused(f"a cast from `{typed.type}` to `{goal.type}`", "it has not been vetted")
    return _plain(typed, goal)


def _written(form: re.Pattern[str]) -> Rule:
    def rule(typed: Typed, goal: Goal) -> Expression:
        if not isinstance(typed.value, Text) or not form.fullmatch(typed.value.value):
            raise refused(
                f"a cast from text to `{goal.type}`", "only texts such as '2024-01-31 10:00:00' are parsed alike"
            )
        return _plain(typed, goal)

    return rule


_RULES: Mapping[tuple[Kind, Kind], Rule] = {
    ("bool", "bool"): _plain,
    ("bool", "integer"): lambda typed, goal: Cast(Cast(typed.value, "INT"), spark_name(goal.type)),
    ("bool", "float"): lambda typed, goal: Cast(Cast(typed.value, "INT"), spark_name(goal.type)),
    ("bool", "text"): _plain,
    ("integer", "bool"): lambda typed, _: Binary("!=", typed.value, Number("0")),
    ("integer", "integer"): _to_integer,
    ("integer", "decimal"): _plain,
    ("integer", "float"): _plain,
    ("integer", "text"): _plain,
    ("decimal", "integer"): _from_decimal,
    ("decimal", "decimal"): _plain,
    ("decimal", "float"): _plain,
    ("decimal", "text"): _plain,
    ("float", "integer"): _from_float,
    ("float", "float"): _plain,
    ("text", "text"): _plain,
    ("text", "bool"): _text_to_bool,
    ("text", "integer"): _text_to_integer,
    ("text", "float"): _text_to_float,
    ("text", "date"): _written(_DATE),
    ("text", "time"): _written(_TIME),
    ("date", "date"): _plain,
    ("date", "text"): _plain,
    ("list", "list"): _list,
}
"""The casts that are allowed, by kinds; all others are refused."""


def pattern_of(like: Typed) -> Expression:
    """Write the pattern of a LIKE without ESCAPE, with backslashes doubled: on Spark they escape by default."""
    if isinstance(like.value, Text):
        if any(ord(letter) > _LAST_OF_TWO_BYTES for letter in like.value.value):
            raise refused(
                f"LIKE '{like.value.value}'", "such letters count as two characters there", "write it with REGEXP"
            )
        return Text(like.value.value.replace("\\", "\\\\"))
    return call("replace", like.value, Text("\\"), Text("\\\\"))
