"""Steps of a form's query: what their columns are called, and the times that bound all others."""

from __future__ import annotations

from sqlglot import exp

from dctv.plan import sql as w
from dctv.record import record

LAST = exp.Literal.number("9223372036854775807")
"""The last time, which no span covers."""
FIRST = exp.Neg(this=exp.Literal.number("9223372036854775808"))
"""The first time."""


@record
class Step:
    """A table of a form's query: spans have `ts`, `end`, the partition's `k0`..., and values."""

    name: str
    values: tuple[str, ...] = ()


def keys(count: int) -> list[str]:
    """Name the partition columns of a step."""
    return [f"k{number}" for number in range(count)]


def lasting(ts: exp.Expr, end: exp.Expr, *too_long: exp.Expr | str) -> exp.Expr:
    """Subtract times that may lie so far apart that no duration says it."""
    latest = w.plus(LAST.copy(), w.least(ts.copy(), w.number(0)))
    far = exp.and_(w.greater(w.number(0), ts.copy()), w.greater(end.copy(), latest))
    return w.case((far, w.error(*too_long)), default=w.minus(end, ts))
