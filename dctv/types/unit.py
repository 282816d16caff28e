"""Units of columns: their dimension, size and spelling; their algebra is in `units`."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from dctv.record import Unread, record, unread

if TYPE_CHECKING:
    from fractions import Fraction


@record
class Unit(Unread):
    """A unit: its dimension, size and spelling.

    While an index is built, most are never accessed, so that neither their names nor fractions are computed.
    """

    dimensions: tuple[tuple[str, Fraction], ...]
    """Base dimensions with their powers, sorted by name, none with power 0: `(("length", 1), ("time", -1))`."""
    factor: Fraction
    """Its size in base units, exact: a millisecond is 1/1000 of the second."""
    symbols: tuple[tuple[str, Fraction], ...]
    """Its printed form: short unit names with powers, in order written, those with negative powers last."""

    def __reduce__(self) -> tuple[object, ...]:
        """Return how to make it in another process: equal units become one object there."""
        return _shared, (_ratios(self.dimensions), self.factor.as_integer_ratio(), _ratios(self.symbols))

    def __str__(self) -> str:
        above = "*".join(_written(name, power) for name, power in self.symbols if power > 0)
        below = "".join("/" + _written(name, -power) for name, power in self.symbols if power < 0)
        return (above or "1") + below if self.symbols else ""


_Ratio = tuple[int, int]
_Ratios = tuple[tuple[str, _Ratio], ...]


def _ratios(powers: tuple[tuple[str, Fraction], ...]) -> _Ratios:
    return tuple((name, power.as_integer_ratio()) for name, power in powers)


@cache
def _shared(dimensions: _Ratios, factor: _Ratio, symbols: _Ratios) -> Unit:
    """Return the unit of these numbers, the same object each time."""
    from fractions import Fraction

    def powers(ratios: _Ratios) -> tuple[tuple[str, Fraction], ...]:
        return tuple((name, Fraction(*ratio)) for name, ratio in ratios)

    return Unit(powers(dimensions), Fraction(*factor), powers(symbols))


def _bare() -> Unit:
    from fractions import Fraction

    return Unit((), Fraction(1), ())


NO_UNIT = unread(Unit, _bare)


def _written(name: str, own: Fraction) -> str:
    if own == 1:
        return name
    return f"{name}^{own}" if own.denominator == 1 else f"{name}^({own})"
