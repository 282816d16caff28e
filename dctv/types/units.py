"""The algebra of units: exponents over base dimensions and an exact factor; see units.txt for the names."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: what it measures, how large it is, and how it is written."""

    dimensions: tuple[tuple[str, Fraction], ...]
    """Base dimensions with their powers, sorted by name, none with power 0: `(("length", 1), ("time", -1))`."""
    factor: Fraction
    """Its size in base units, exact: a millisecond is 1/1000 of the second."""
    symbols: tuple[tuple[str, Fraction], ...]
    """How it prints: short unit names with powers, in order written."""


NO_UNIT = Unit((), Fraction(1), ())
