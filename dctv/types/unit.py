"""A unit as tables have it: what it measures, how large it is, how it is written; its algebra is in `units`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from dctv.record import fields, record

if TYPE_CHECKING:
    from fractions import Fraction


class _Unread:
    """What is read when somebody looks: an index is built without any arithmetic of units, and without its names."""

    __slots__ = ("_read",)
    _read: Callable[[], Unit]

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            """Read what it is; called for what has no value yet."""
            names = [one.name for one in fields(self)]
            if name not in names:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            found = self._read()
            for one in names:
                object.__setattr__(self, one, getattr(found, one))
            return getattr(found, name)


@record
class Unit(_Unread):
    """A unit: what it measures, how large it is, and how it is written."""

    dimensions: tuple[tuple[str, Fraction], ...]
    """Base dimensions with their powers, sorted by name, none with power 0: `(("length", 1), ("time", -1))`."""
    factor: Fraction
    """Its size in base units, exact: a millisecond is 1/1000 of the second."""
    symbols: tuple[tuple[str, Fraction], ...]
    """How it prints: short unit names with powers, in order written, those with negative powers last."""

    def __str__(self) -> str:
        above = "*".join(_written(name, power) for name, power in self.symbols if power > 0)
        below = "".join("/" + _written(name, -power) for name, power in self.symbols if power < 0)
        return (above or "1") + below if self.symbols else ""


def unread(read: Callable[[], Unit]) -> Unit:
    """Return a unit that is read when somebody looks at it."""
    made = object.__new__(Unit)
    object.__setattr__(made, "_read", read)
    return made


def _bare() -> Unit:
    from fractions import Fraction

    return Unit((), Fraction(1), ())


NO_UNIT = unread(_bare)


def _written(name: str, own: Fraction) -> str:
    if own == 1:
        return name
    return f"{name}^{own}" if own.denominator == 1 else f"{name}^({own})"
