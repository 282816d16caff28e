"""The algebra of units: exponents over base dimensions and an exact factor; see units.txt for the names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fractions import Fraction
from functools import lru_cache

from dctv.errors import UnitError
from dctv.types import unit_names
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.unit_text import check_power, read_terms


@lru_cache(maxsize=1024)
def parse_unit(text: str) -> Unit:
    """Parse a name or an expression to a unit: `ms`, `MiB`, `miles/hour`, `m/s²`, `1/s`.

    Raises:
        UnitError: A name is unknown or ambiguous, or the text is no product of units; without a place.
    """
    number, terms = read_terms(text)
    if number != 1 or not terms:
        raise UnitError(f"a unit is made of names, not numbers, found `{text}`")
    powers: dict[str, Fraction] = {}
    for name, power in terms.items():
        for symbol, own in unit_names.find_terms(name).items():
            powers[symbol] = check_power(powers.get(symbol, Fraction(0)) + own * power)
    return _build(powers)


def known_units() -> list[str]:
    """Return every name of a unit, those without prefixes first."""
    return unit_names.known_units()


def is_bare(unit: Unit) -> bool:
    """Whether a unit is that of bare numbers."""
    return not unit.symbols


def compatible(a: Unit, b: Unit) -> bool:
    """Whether quantities of the two units measure the same and can be converted; a bare number fits only itself."""
    return a.dimensions == b.dimensions and is_bare(a) == is_bare(b)


def ratio(source: Unit, target: Unit) -> Fraction:
    """Return the factor that converts a number in the source unit to the target unit."""
    if not compatible(source, target):
        raise UnitError(f"cannot convert {describe(source)} to {describe(target)}")
    return source.factor / target.factor


def finer(a: Unit, b: Unit) -> Unit:
    """Return the smaller of two compatible units, the first of equal ones."""
    return b if ratio(b, a) < 1 else a


def multiply(a: Unit, b: Unit) -> tuple[Unit, Fraction]:
    """Return the unit of a product, and the factor of the product of the bare numbers.

    Symbols of the same dimension merge into the one written first: mi/h times d is mi, with factor 24.
    """
    if is_bare(a) or is_bare(b):
        return (b if is_bare(a) else a), Fraction(1)
    powers = dict(a.symbols)
    for name, power in b.symbols:
        partner, sign = _partner(name, powers)
        powers[partner] = check_power(powers.get(partner, Fraction(0)) + sign * power)
    product = _build(powers)
    if not product.dimensions:
        product = NO_UNIT
    return product, a.factor * b.factor / product.factor


def divide(a: Unit, b: Unit) -> tuple[Unit, Fraction]:
    """Return the unit of a quotient, and the factor of the quotient of the bare numbers."""
    return multiply(a, power(b, Fraction(-1)))


def power(a: Unit, exponent: Fraction) -> Unit:
    """Return a unit to a power; raise UnitError where its size would be no ratio (the root of `ns`), see `rooted`."""
    if is_bare(a) or not exponent:
        return NO_UNIT
    return _build({name: check_power(own * exponent) for name, own in a.symbols})


def rooted(a: Unit, degree: int) -> tuple[Unit, Fraction]:
    """Return the unit of a root, and the factor of the number before the root is taken.

    The root of a ns² is a ns. The root of a ns has no exact size: it is taken in base units, as s^(1/2).
    """
    try:
        return power(a, Fraction(1, degree)), Fraction(1)
    except UnitError:
        base = base_unit(a)
        return power(base, Fraction(1, degree)), ratio(a, base)


def base_unit(a: Unit) -> Unit:
    """Return the compatible unit that is made of base units alone: `s` for `ms`, `m/s` for `mi/h`."""
    if not a.dimensions:
        return a
    return _build({unit_names.base_symbol(dimension): own for dimension, own in a.dimensions})


def describe(unit: Unit) -> str:
    """Name a unit as error messages do."""
    return "a bare number" if is_bare(unit) else f"`{unit}`"


def _build(powers: Mapping[str, Fraction]) -> Unit:
    """Return the unit of symbols with powers; those with power 0 vanish."""
    kept = [(name, own) for name, own in powers.items() if own]
    kept.sort(key=lambda item: item[1] < 0)
    dimensions, factors = unit_names.scale(kept)
    return Unit(dimensions, _exact_product(factors), tuple(kept))


def _partner(name: str, powers: Iterable[str]) -> tuple[str, int]:
    """Return the symbol that `name` merges into, and -1 where that one is its reciprocal (s and Hz)."""
    if name in powers:
        return name, 1
    own = unit_names.symbol(name).dimensions
    reciprocal = tuple((dimension, -power) for dimension, power in own)
    for other in powers:
        dimensions = unit_names.symbol(other).dimensions
        if dimensions == own:
            return other, 1
        if dimensions == reciprocal:
            return other, -1
    return name, 1


def _exact_product(factors: Iterable[tuple[Fraction, Fraction]]) -> Fraction:
    """Return the product of powers, which must be a ratio."""
    product = Fraction(1)
    for size, own in factors:
        whole = size ** abs(own.numerator)
        top = _exact_root(whole.numerator, own.denominator)
        bottom = _exact_root(whole.denominator, own.denominator)
        product *= Fraction(top, bottom) if own > 0 else Fraction(bottom, top)
    return product


def _exact_root(value: int, degree: int) -> int:
    """Return the root of a positive integer by bisection; raise UnitError when it is no integer."""
    if degree == 1 or value == 1:
        return value
    low, high = 1, 1 << (value.bit_length() // degree + 1)
    while low < high:
        middle = (low + high) // 2
        if middle**degree < value:
            low = middle + 1
        else:
            high = middle
    if low**degree != value:
        raise UnitError(
            "this root of a unit has no exact size", hint="convert it to base units first, or write unitless(x)"
        )
    return low
