"""Steps of a form's query: names of their columns, and the minimum and maximum time."""

from __future__ import annotations

from dctv.plan import build as w
from dctv.plan.expressions import And, Expression, Number, Unary
from dctv.record import record

LAST = Number("9223372036854775807")
"""The last time, which no span covers."""
FIRST = Unary("-", Number("9223372036854775808"))
"""The first time."""


@record
class FormTable:
    """A table of a form's query: spans have `ts`, `end`, the partition's `k0`..., and values."""

    name: str
    values: tuple[str, ...] = ()


def keys(count: int) -> list[str]:
    """Name the partition columns of a step."""
    return [f"k{number}" for number in range(count)]


def lasting(ts: Expression, end: Expression, *too_long: Expression | str) -> Expression:
    """Subtract times; `too_long` replaces differences that do not fit into a duration."""
    latest = w.plus(LAST, w.least(ts, w.number(0)))
    far = And((w.greater(w.number(0), ts), w.greater(end, latest)))
    return w.case((far, w.error(*too_long)), default=w.minus(end, ts))
