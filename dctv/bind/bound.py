"""Bound expressions: engine expression and unit, with constants kept exact until they are printed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal

from dctv.bind.types import BIGINT, DOUBLE, INTERVAL, of_call, of_integer, of_operator
from dctv.errors import BindError, DctvError, Place, UnitError
from dctv.plan.expressions import (
    NULL,
    Binary,
    Call,
    Cast,
    Column,
    Expression,
    Lambda,
    List,
    Null,
    Number,
    Row,
    StartOf,
    Text,
    Unary,
)
from dctv.plan.nodes import Plan
from dctv.record import record, replace
from dctv.signatures.states import is_state
from dctv.signatures.types import Type, array_of, list_of, map_of
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import compatible, finer, parse_unit, ratio

_NS = parse_unit("ns")
_DECIMAL_DIGITS = 38
_STATES = "export it of values in one unit: sum(x IN ms) EXPORT_STATE"
Family = Literal["integer", "float", "text"] | None
"""The family of a type, known without asking the engine; None is any other type, or an unknown one."""


@record
class Bound:
    """An expression whose names are resolved."""

    value: Expression
    unit: Unit = NO_UNIT
    place: Place | None = None
    constant: Fraction | None = None
    """The exact value of a numeric constant."""
    integral: bool = False
    """Whether a constant was written as an integer, so that its type is an integer's."""
    family: Family = None
    """What is known of its type."""
    parts: tuple[Bound, ...] = ()
    """What it is made of, to find the part the engine objects to."""
    type: Type | None = None
    """Its type; None if only the engine knows it."""
    aggregate: bool = False
    """Whether it is the value of a group of rows."""
    serial: bool = False
    """Whether it depends on the order in which rows are met, even if its parts do not."""
    length: Fraction | None = None
    """The ns of an INTERVAL literal that has no months."""
    since: int | StartOf | None = None
    """Of a time of the wall clock: when time 0 of its first part was, in ns since 1970."""
    origin: Plan | None = None
    """Of a column `_ts`: the table that it is of."""
    macro: str = ""
    """The macro that is called here, if it stands in the text of one."""

    @property
    def is_zero(self) -> bool:
        """Whether it is the literal 0, which is compatible with every unit."""
        return self.constant == 0 and self.unit == NO_UNIT

    @property
    def fits_all(self) -> bool:
        """Whether it is 0, NULL or `[]`, which go with every unit."""
        value = self.value
        return self.is_zero or isinstance(value, Null) or (isinstance(value, List) and not value.items)


def with_macro(macro: str, message: str) -> str:
    """Prefix a message with the name of the macro that it is about, if any."""
    return f"in the macro `{macro}`: {message}" if macro else message


def literal(value: Fraction, *, integral: bool, place: Place | None = None) -> Expression:
    """Write an exact number for the engine: as an integer if it is one, else as the nearest double.

    Raises:
        BindError: it is larger than every double.
    """
    if integral and value.denominator == 1:
        text = str(abs(value.numerator))
    else:
        try:
            text = repr(abs(value.numerator / value.denominator))
        except OverflowError:
            raise BindError("the number is too large: a FLOAT64 is at most 1.8e308", place) from None
        text = text if "e" in text or "inf" in text else text + "e0"
    return Unary("-", Number(text)) if value < 0 else Number(text)


def decimal_literal(value: Fraction) -> Expression | None:
    """Write an exact number as a DECIMAL for the engine; None if it has more digits than one holds."""
    digits = _DECIMAL_DIGITS
    if 10**digits % value.denominator or abs(value) >= 10**digits:
        return None
    scaled = str(abs(value.numerator) * (10**digits // value.denominator)).rjust(digits + 1, "0")
    text = f"{scaled[:-digits]}.{scaled[-digits:].rstrip('0') or '0'}"
    if len(text) - 1 > digits:
        return None
    return Unary("-", Number(text)) if value < 0 else Number(text)


def constant(value: Fraction, unit: Unit, place: Place | None, *, integral: bool) -> Bound:
    """Make a bound constant."""
    integral = integral and value.denominator == 1
    family: Family = "integer" if integral else "float"
    made = _number(value, integral=integral)
    return Bound(literal(value, integral=integral, place=place), unit, place, value, integral, family, type=made)


def _number(value: Fraction, *, integral: bool) -> Type | None:
    return of_integer(int(value)) if integral and value.denominator == 1 else DOUBLE


def scale(bound: Bound, factor: Fraction, unit: Unit) -> Bound:
    """Multiply by an exact factor; integers stay integers where the factor is one."""
    if factor == 1:
        return replace(bound, unit=unit)
    if bound.constant is not None:
        value = bound.constant * factor
        return replace(
            bound,
            value=literal(value, integral=bound.integral, place=bound.place),
            constant=value,
            unit=unit,
            integral=bound.integral and value.denominator == 1,
            family="integer" if bound.integral and value.denominator == 1 else "float",
            type=_number(value, integral=bound.integral),
        )
    scaled, made = bound.value, bound.type
    if is_state(made):
        raise UnitError(
            f"the state of an aggregate in `{bound.unit}` has no form in `{unit}`", bound.place, hint=_STATES
        )
    if made is not None and made.name in ("LIST", "ARRAY"):
        return _scaled_list(bound, made, factor, unit)
    if made is not None and made.name == "MAP":
        return _scaled_map(bound, made, factor, unit)
    if factor.numerator != 1:
        # 64 bits before multiplying: a narrow column times 10^6 would overflow its own type.
        scaled = Binary("*", scaled, Cast(Number(str(factor.numerator)), "BIGINT"))
        made = of_operator("*", made, BIGINT)
    if factor.denominator != 1:
        scaled = Binary("/", scaled, Number(f"{factor.denominator}e0"))
        return replace(bound, value=scaled, unit=unit, family="float", type=of_operator("/", made, DOUBLE))
    return replace(bound, value=scaled, unit=unit, type=made)


def _scaled_list(bound: Bound, made: Type, factor: Fraction, unit: Unit) -> Bound:
    if isinstance(bound.value, List) and all(one.constant is not None for one in bound.parts):
        # Aggregates take lists of literals as settings, and no others.
        parts = tuple(scale(one, factor, unit) for one in bound.parts)
        kind = of_call("list_value", [one.type for one in parts])
        return replace(bound, value=List(tuple(one.value for one in parts)), unit=unit, parts=parts, type=kind)
    element = scale(Bound(Column("element"), bound.unit, type=made.children[0]), factor, unit)
    scaled: Expression = Call("list_transform", (bound.value, Lambda(("element",), element.value)))
    kind = None if element.type is None else list_of(element.type)
    if made.name == "ARRAY":
        kind = array_of(element.type or DOUBLE, *made.numbers)
        scaled = Cast(scaled, kind.text)
    return replace(bound, value=scaled, unit=unit, type=kind)


def _scaled_map(bound: Bound, made: Type, factor: Fraction, unit: Unit) -> Bound:
    key, value = made.children
    values = scale(Bound(Call("map_values", (bound.value,)), bound.unit, type=list_of(value)), factor, unit)
    scaled = Call("map", (Call("map_keys", (bound.value,)), values.value))
    kind = None if values.type is None else map_of(key, values.type.children[0])
    return replace(bound, value=scaled, unit=unit, type=kind)


def convert(bound: Bound, unit: Unit, what: str) -> Bound:
    """Convert to a compatible unit; 0, NULL and `[]` take any, and an INTERVAL is a time."""
    if isinstance(bound.value, Row):
        need_bare(bound, "a value in a row that is compared with a struct")
    if bound.unit == unit:
        return bound
    if bound.type == INTERVAL and bound.unit == NO_UNIT and compatible(unit, _NS):
        bound = as_time(bound)
    if bound.unit == NO_UNIT and bound.fits_all:
        return replace(bound, unit=unit)
    if not compatible(bound.unit, unit):
        raise mismatch(bound, Bound(NULL, unit, bound.place), what)
    return scale(bound, ratio(bound.unit, unit), unit)


def as_time(bound: Bound) -> Bound:
    """Turn an INTERVAL into a number with a unit; the engine takes a month for 30 days."""
    if bound.length is not None:
        value = bound.length
        return constant(value, _NS, bound.place, integral=value.denominator == 1)
    exact = _exact_difference(bound)
    if exact is not None:
        made = of_operator("-", BIGINT, BIGINT)
        return Bound(exact, _NS, bound.place, family="integer", parts=(bound,), type=made)
    made = of_call("epoch_us", [bound.type])
    return Bound(
        Call("epoch_us", (bound.value,)), parse_unit("us"), bound.place, family="integer", parts=(bound,), type=made
    )


def _exact_difference(bound: Bound) -> Expression | None:
    """Return how many ns lie between two timestamps, one of them with ns, which an INTERVAL would round."""
    value = bound.value
    if not isinstance(value, Binary) or value.operator != "-":
        return None
    types = [one.type.name for one in bound.parts if one.type is not None]
    if "TIMESTAMP_NS" not in types or not {*types} <= {"TIMESTAMP_NS", "TIMESTAMP"}:
        return None
    return Binary("-", Call("epoch_ns", (value.left,)), Call("epoch_ns", (value.right,)))


def as_interval(bound: Bound, *, lenient: bool = False) -> Bound:
    """Turn a number with a unit of time into an INTERVAL, which counts microseconds; `lenient` is TRY_CAST."""
    micros = scale(bound, ratio(bound.unit, parse_unit("us")), NO_UNIT)
    whole = Cast(micros.value, "BIGINT", lenient=lenient, place=bound.place)
    made = None if bound.type is None else INTERVAL
    return Bound(Call("to_microseconds", (whole,)), NO_UNIT, bound.place, parts=(bound,), type=made)


def is_time(bound: Bound) -> bool:
    """Whether it has a unit of time."""
    return bound.unit != NO_UNIT and compatible(bound.unit, _NS)


def _aligned(bounds: list[Bound]) -> list[Bound]:
    """Convert intervals to times if they are combined with times, which may be shorter than any interval."""
    return [as_time(b) if b.type == INTERVAL else b for b in bounds] if any(map(is_time, bounds)) else bounds


def need_bare(bound: Bound, what: str) -> None:
    """Refuse a value with a unit, or a row of such values."""
    if isinstance(bound.value, Row):
        for part in bound.parts:
            need_bare(part, what)
    if bound.unit != NO_UNIT:
        raise UnitError(
            f"{what} has no unit, found `{bound.unit}`", bound.place, hint="drop the unit with unitless(...)"
        )


def with_parts(row: Bound, parts: Sequence[Bound]) -> Bound:
    """Return a row of other values."""
    return replace(row, value=Row(tuple(one.value for one in parts)), parts=tuple(parts))


def _unified_rows(bounds: list[Bound], what: str) -> list[Bound]:
    """Bring the values of rows to the finest unit of each place; other operands are compared as they are."""
    rows = [one for one in bounds if isinstance(one.value, Row)]
    if any(len(one.parts) != len(rows[0].parts) for one in rows):
        return bounds
    columns = [list(column) for column in zip(*(one.parts for one in rows), strict=True)]
    if not all(isinstance(one.value, Row | Null) for one in bounds):
        for one in rows:
            need_bare(one, "a value in a row that is compared with a struct")
    unified = zip(*(unify(column, what) for column in columns), strict=True)
    made = iter([with_parts(one, parts) for one, parts in zip(rows, unified, strict=True)])
    return [next(made) if isinstance(one.value, Row) else one for one in bounds]


def unify(bounds: list[Bound], what: str) -> list[Bound]:
    """Bring operands to the finest of their units."""
    if any(isinstance(one.value, Row) for one in bounds):
        return _unified_rows(bounds, what)
    bounds = _aligned(bounds)
    _same_family(bounds, what)
    present = [b for b in bounds if not b.fits_all]
    if not present:
        return bounds
    unit = present[0].unit
    for bound in present[1:]:
        if not compatible(unit, bound.unit):
            raise mismatch(present[0], bound, what)
        unit = finer(unit, bound.unit)
    return [replace(b, unit=unit) if b.fits_all else convert(b, unit, what) for b in bounds]


def _same_family(bounds: list[Bound], what: str) -> None:
    """Refuse to mix text and numbers, which the engine would cast to one or the other without a word."""
    with_family = [b for b in bounds if b.family is not None]
    texts = [b for b in with_family if b.family == "text"]
    if texts and len(texts) < len(with_family):
        odd = next(b for b in with_family if (b.family == "text") != (with_family[0].family == "text"))
        unit = next((b.unit for b in with_family if b.unit != NO_UNIT), NO_UNIT)
        number = "a number" if unit == NO_UNIT else f"a number in `{unit}`"
        first, second = ("a string", number) if odd.family != "text" else (number, "a string")
        raise BindError(f"{what} mixes {first} and {second}", odd.place, hint=_comparison_hint(odd, unit))


def _comparison_hint(odd: Bound, unit: Unit) -> str:
    """Return how to compare strings with numbers of a unit; a literal may be meant as the other."""
    if isinstance(odd.value, Text):
        number = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([^\W\d]*)\s*", odd.value.value)
        if number is not None and (not number[2] or _unit_called(number[2]) is not None):
            return f"a number stands without quotes: {number[1]}{number[2] or ('' if unit == NO_UNIT else unit)}"
        if compatible(unit, _NS) and re.match(r"\d{4}-\d\d-\d\d", odd.value.value):
            return f"a date says so before its quotes: TIMESTAMP '{odd.value.value}'"
    elif odd.constant is not None and odd.place is not None and odd.unit == NO_UNIT:
        return f"a string stands in single quotes: '{odd.place.text}'"
    return "cast one of them, such as x::STRING"


_USUAL = ("ns", "us", "ms", "s", "min", "h", "B", "kB", "MB", "Hz", "kHz", "MHz")
"""Units that a hint offers to convert to."""


def mismatch(left: Bound, right: Bound, what: str) -> UnitError:
    """Return the error for operands with incompatible units, at the place of the right one."""

    def name(bound: Bound) -> str:
        bare = "an INTERVAL" if bound.type == INTERVAL else "a date" if is_date(bound) else "a bare number"
        return bare if bound.unit == NO_UNIT else f"`{bound.unit}`"

    named, bare = (left, right) if left.unit != NO_UNIT else (right, left)
    hint = None
    if is_date(bare) and is_time(named):
        hint = "times of a trace count from its start: t.wall_clock(_ts) is the time of the wall clock for a trace `t`"
    elif bare.unit == NO_UNIT and bare.type != INTERVAL:
        number = _shown(bare.constant) if bare.constant is not None and bare.integral else "1000"
        hint = f"write the number with its unit, such as `{number}{named.unit}`, or drop a unit with unitless(...)"
        apart = _unit_apart(bare)
        if apart is not None and compatible(apart, named.unit):
            hint = f"a unit touches its number: `{number}{apart}`"
    elif "m" in {str(left.unit), str(right.unit)} and any(compatible(b.unit, parse_unit("s")) for b in (left, right)):
        hint = "`m` is metre, a minute is `min`"
    elif NO_UNIT not in (left.unit, right.unit):
        usual = [parse_unit(one) for one in _USUAL] if isinstance(right.value, Null) else []
        alike = [str(one) for one in usual if compatible(one, left.unit) and one != left.unit]
        hint = (
            f"`{left.unit}` converts to {', '.join(alike)}; unitless(...) drops a unit"
            if alike
            else "they measure different things: unitless(...) drops a unit, `*` and `/` take any two"
        )
    return UnitError(f"{what} mixes {name(left)} and {name(right)}", right.place, hint=hint)


def is_date(bound: Bound) -> bool:
    """Whether it is a date, or a time of a day of one."""
    return bound.type is not None and (bound.type.name == "DATE" or bound.type.name.startswith("TIMESTAMP"))


def _unit_apart(bound: Bound) -> Unit | None:
    """Return the unit that follows a number after a blank, where it is an alias: `5 ms`."""
    if bound.place is None or bound.constant is None:
        return None
    word = re.match(r"[ \t]+([^\W\d_]+)", bound.place.source.text[bound.place.stop :])
    return None if word is None else _unit_called(word[1])


def _unit_called(name: str) -> Unit | None:
    try:
        return parse_unit(name)
    except DctvError:
        return None


def _shown(value: Fraction) -> str:
    return f"({value})" if value < 0 else str(value)


def arithmetic_family(left: Bound, right: Bound) -> Family:
    """Return the family of an arithmetic result: float if either operand is one."""
    if "float" in (left.family, right.family):
        return "float"
    return "integer" if left.family == right.family == "integer" else None
