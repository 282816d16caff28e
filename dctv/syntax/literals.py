"""Nodes of literals: numbers with their units, strings, constants, parameters."""

from __future__ import annotations

from fractions import Fraction

from dctv.record import record
from dctv.syntax.node import Expr


@record(eq=False, text=False)
class Number(Expr):
    """A numeric literal; `unit` is the unit's text as written (`ms`, `miles/hour`) or None."""

    text: str
    """As written, underscores dropped, without the unit: `17`, `0x1f`, `1.5`, `1e9`."""
    unit: str | None = None

    @property
    def value(self) -> Fraction:
        """The exact value."""
        return Fraction(int(self.text, 16)) if self.text[:2].lower() == "0x" else Fraction(self.text)

    @property
    def is_integer(self) -> bool:
        """Whether it is written as an integer (`1`, `0x1f`), not as `1.0` or `1e3`."""
        return self.text.isdigit() or self.text[:2].lower() == "0x"


@record(eq=False, text=False)
class String(Expr):
    """A string literal, unescaped."""

    text: str


@record(eq=False, text=False)
class Constant(Expr):
    """NULL, TRUE or FALSE."""

    value: bool | None


@record(eq=False, text=False)
class Interval(Expr):
    """`INTERVAL '3 days'`: the engine's own interval type."""

    text: str


@record(eq=False, text=False)
class Bind(Expr):
    """A bind parameter: `?` and `?3` by number (automatic ones already numbered), `:x` by name, `$1` by its text."""

    key: int | str
