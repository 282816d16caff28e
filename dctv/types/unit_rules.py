"""Compute the unit of a function's result from the units of its arguments, by the rule that the function follows."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from fractions import Fraction

from dctv.errors import UnitError
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import compatible, describe, divide, finer, is_bare, multiply, parse_unit, power, ratio, rooted

Argument = Unit | None
"""The unit of an argument; None for a literal 0 or NULL, which fits every unit."""
Outcome = tuple[Unit, list[Fraction]]
"""The unit of the result, and the factor of each argument before the call."""
_ONE = Fraction(1)
_OF_DATES = (
    "`_ts // 100ms * 100ms` rounds a time of a trace down, `floor(_ts / 100ms) * 100ms` one below 0, too; "
    "GROUP USING SPANS FROM t.quantize(100ms) groups by spans"
)
"""The hint for calls of functions of dates."""


class UnitRule(Enum):
    """The effect of a function on units; the value is its text in the reference."""

    BARE = "takes bare numbers only"
    """exp, ln, product: the result has no meaning for a quantity, or its unit would depend on the data."""
    NONE = "takes any unit, result has none"
    """count, sign, skewness: the result does not depend on the unit of the arguments."""
    KEEP = "keeps the unit of its first argument, the others are bare"
    """sum, avg, quantile, round: f(c*x) = c*f(x), or the rounding is meant in the unit at hand."""
    FIRST = "keeps the unit of its first argument, the others may have any"
    """arg_max, wavg: the others choose or weigh, and their scale does not matter."""
    SECOND = "keeps the unit of its second argument, the others may have any"
    """regr_avgx."""
    SAME = "takes compatible units, result is in the finest of them"
    """coalesce, greatest, gcd: the arguments are compared, or any of them may be the result."""
    COMPARE = "takes compatible units, result has none"
    """atan2: only the ratio of the arguments matters."""
    CHOOSE = "takes a condition and compatible units, result is in the finest of them"
    """if."""
    SHIFT = "takes compatible units and, second, a bare number; result is in the finest of them"
    """lag, lead: value, offset, default."""
    PRODUCT = "multiplies the units of its first two arguments"
    """covar_pop, regr_sxy."""
    QUOTIENT = "divides the unit of its first argument by that of the second"
    """regr_slope, fdiv."""
    SQUARE = "squares the unit of its first argument"
    """variance: f(c*x) = c^2*f(x)."""
    SQUARE_SECOND = "squares the unit of its second argument"
    """regr_sxx."""
    ROOT = "halves the powers of the unit"
    """sqrt."""
    CUBE_ROOT = "divides the powers of the unit by three"
    """cbrt."""
    POWER = "raises the unit to the second argument, a literal number"
    """pow."""
    BINS = "takes compatible units and, last, a bare number; result is in the finest of them, or is no number"
    """equi_width_bins, bar."""
    IN_SECONDS = "takes a time, which it is given in seconds, or a bare number; result has none"
    """to_timestamp."""
    IN_MILLISECONDS = "takes a time, which it is given in milliseconds, or a bare number; result has none"
    """to_milliseconds."""
    IN_NANOSECONDS = "takes a time, which it is given in nanoseconds, or a bare number; result has none"
    """make_timestamp_ns."""
    TIMES_NS = "multiplies the unit by time"
    """time_sum: an integral over _duration, which is in ns."""
    IN_BYTES = "takes an amount of information, which it is given in bytes, or a bare number; result has none"
    """format_bytes."""


def result_unit(rule: UnitRule, arguments: Sequence[Argument], function: str) -> Outcome:
    """Return the unit of a call's result, and the factor for each argument.

    Raises:
        UnitError: The arguments' units do not fit the rule; without a place.
    """
    return _RULES[rule](arguments, function)


def _bare(arguments: Sequence[Argument], function: str) -> Outcome:
    for unit in arguments:
        if unit is not None and not is_bare(unit):
            hint = _OF_DATES if function in ("date_trunc", "time_bucket") else "drop the unit with unitless(x)"
            raise UnitError(f"`{function}` has no rule for units, found `{unit}`", hint=hint)
    return NO_UNIT, _ones(arguments)


def _none(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    return NO_UNIT, _ones(arguments)


def _keep(arguments: Sequence[Argument], function: str) -> Outcome:
    _need_bare(arguments, range(1, len(arguments)), function)
    return _at(arguments, 0), _ones(arguments)


def _first(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    return _at(arguments, 0), _ones(arguments)


def _second(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    return _at(arguments, 1), _ones(arguments)


def _same(arguments: Sequence[Argument], function: str) -> Outcome:
    units = [unit for unit in arguments if unit is not None]
    if not units:
        return NO_UNIT, _ones(arguments)
    common = units[0]
    for unit in units[1:]:
        if not compatible(common, unit):
            raise _mismatch(function, common, unit)
        common = finer(common, unit)
    return common, [_ONE if unit is None else ratio(unit, common) for unit in arguments]


def _compare(arguments: Sequence[Argument], function: str) -> Outcome:
    return NO_UNIT, _same(arguments, function)[1]


def _choose(arguments: Sequence[Argument], function: str) -> Outcome:
    _need_bare(arguments, range(min(1, len(arguments))), function)
    unit, factors = _same(arguments[1:], function)
    return unit, [*_ones(arguments[:1]), *factors]


def _shift(arguments: Sequence[Argument], function: str) -> Outcome:
    _need_bare(arguments[:2], range(1, min(2, len(arguments))), function)
    unit, factors = _same([*arguments[:1], *arguments[2:]], function)
    return unit, [*factors[:1], *_ones(arguments[1:2]), *factors[1:]]


def _product(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    unit, factor = multiply(_at(arguments, 0), _at(arguments, 1))
    return unit, _scaled_first(arguments, factor)


def _quotient(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    unit, factor = divide(_at(arguments, 0), _at(arguments, 1))
    return unit, _scaled_first(arguments, factor)


def _square(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    return power(_at(arguments, 0), Fraction(2)), _ones(arguments)


def _square_second(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    return power(_at(arguments, 1), Fraction(2)), _ones(arguments)


def _root(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    unit, factor = rooted(_at(arguments, 0), 2)
    return unit, _scaled_first(arguments, factor)


def _cube_root(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    unit, factor = rooted(_at(arguments, 0), 3)
    return unit, _scaled_first(arguments, factor)


def _times_ns(arguments: Sequence[Argument], function: str) -> Outcome:
    del function
    unit, factor = multiply(_at(arguments, 0), parse_unit("ns"))
    return unit, _scaled_first(arguments, factor)


def _power(arguments: Sequence[Argument], function: str) -> Outcome:
    # Only `raised` gets the value of the exponent.
    _need_bare(arguments, range(1, len(arguments)), function)
    if is_bare(_at(arguments, 0)):
        return NO_UNIT, _ones(arguments)
    raise UnitError(f"`{function}` can raise a unit only to a literal number", hint="drop the unit with unitless(x)")


def raised(unit: Unit, exponent: Fraction) -> tuple[Unit, Fraction]:
    """Return the unit of a power, and the factor of the number before it is raised.

    Raises:
        UnitError: The unit has no such power; without a place.
    """
    root, factor = rooted(unit, exponent.denominator) if exponent.denominator != 1 else (unit, _ONE)
    return power(root, Fraction(exponent.numerator)), factor


def _bins(arguments: Sequence[Argument], function: str) -> Outcome:
    count = min(3 if function == "bar" else 2, len(arguments))
    _need_bare(arguments, range(count, len(arguments)), function)
    unit, factors = _same(arguments[:count], function)
    return NO_UNIT if function == "bar" else unit, [*factors, *_ones(arguments[count:])]


def _in(unit: str, what: str) -> Callable[[Sequence[Argument], str], Outcome]:
    def outcome(arguments: Sequence[Argument], function: str) -> Outcome:
        target = parse_unit(unit)
        amount = _at(arguments, 0)
        _need_bare(arguments, range(1, len(arguments)), function)
        if is_bare(amount):
            return NO_UNIT, _ones(arguments)
        if not compatible(amount, target):
            raise UnitError(f"`{function}` takes {what}, found {describe(amount)}")
        return NO_UNIT, _scaled_first(arguments, ratio(amount, target))

    return outcome


_RULES: dict[UnitRule, Callable[[Sequence[Argument], str], Outcome]] = {
    UnitRule.BARE: _bare,
    UnitRule.NONE: _none,
    UnitRule.KEEP: _keep,
    UnitRule.FIRST: _first,
    UnitRule.SECOND: _second,
    UnitRule.SAME: _same,
    UnitRule.COMPARE: _compare,
    UnitRule.CHOOSE: _choose,
    UnitRule.SHIFT: _shift,
    UnitRule.PRODUCT: _product,
    UnitRule.QUOTIENT: _quotient,
    UnitRule.SQUARE: _square,
    UnitRule.SQUARE_SECOND: _square_second,
    UnitRule.ROOT: _root,
    UnitRule.CUBE_ROOT: _cube_root,
    UnitRule.TIMES_NS: _times_ns,
    UnitRule.POWER: _power,
    UnitRule.BINS: _bins,
    UnitRule.IN_BYTES: _in("B", "an amount of information"),
    UnitRule.IN_SECONDS: _in("s", "a time"),
    UnitRule.IN_MILLISECONDS: _in("ms", "a time"),
    UnitRule.IN_NANOSECONDS: _in("ns", "a time"),
}


def _at(arguments: Sequence[Argument], index: int) -> Unit:
    """Return the unit of an argument; the engine complains about one that is missing."""
    return (arguments[index] if index < len(arguments) else None) or NO_UNIT


def _ones(arguments: Sequence[Argument]) -> list[Fraction]:
    return [_ONE] * len(arguments)


def _scaled_first(arguments: Sequence[Argument], factor: Fraction) -> list[Fraction]:
    return [factor, *_ones(arguments)][: len(arguments)]


def _need_bare(arguments: Sequence[Argument], indexes: range, function: str) -> None:
    for index in indexes:
        unit = arguments[index]
        if unit is not None and not is_bare(unit):
            raise UnitError(f"argument {index + 1} of `{function}` must be a bare number, found `{unit}`")


def _mismatch(function: str, a: Unit, b: Unit) -> UnitError:
    message = f"`{function}` takes units that convert into each other, found {describe(a)} and {describe(b)}"
    if is_bare(a) == is_bare(b):
        return UnitError(message)
    return UnitError(message, hint=f"give the bare number a unit, as in 1`{b if is_bare(a) else a}`")
