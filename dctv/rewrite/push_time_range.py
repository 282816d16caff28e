"""Push ranges of `_ts` and `_ts + _duration` above a span operator down to its inputs.

The condition stays above; rows that it makes superfluous below are not read. Sound by the promise of an operator on
its output and inputs (`TimeLocality`). Let [s, e) be a row of the output, [a, b) one of an input, in whole numbers.

*Covered*: each output row depends on one row of each input, with a <= s and e <= b (for an event at s: a <= s < b).

- s < x (or <=) gives a < x (or <=).
- s > x or s >= x gives b > x, since b >= e > s.
- e > x (or >=) gives b > x (or >=).
- e < x or e <= x gives a < x, since a <= s < e.

So an input row without the property on the right gives no output row with the one on the left, and can go. Durations
need no rule: a condition on them is seldom narrow.

*Touching*: the output near a time depends on the input rows that touch it, with a <= e and s <= b. Where rows are
cut at every boundary, a later row decides where an earlier piece ends, and a row that ends at x makes a piece begin at
x; so

- s > x or s >= x gives b >= x, and not b > x;
- e < x or e <= x gives a <= x;
- s < x says nothing: a piece that begins before x may end because of a row that begins after it, however late.

An output row with the property on the left touches only input rows with the one on the right, and is the same without
the others; a row without the property may change, but stays without it: each operator cuts the time from x on (or up
to x) as if nothing were outside, and joins no pieces across x that were apart: an end or begin at x stays.

`b` is written as `_ts + _duration`, which cannot overflow: a span's end fits into 64 bits.
"""

from __future__ import annotations

from dctv.contracts.span_operator import TimeLocality
from dctv.plan.build import number, plus
from dctv.plan.expressions import Binary, Column, Expression
from dctv.rewrite.conditions import bound_of, sum_of
from dctv.types.schema import DURATION, TS, Kind, Schema


def time_range(test: Expression, times: TimeLocality, names: list[str], source: Schema) -> list[Expression]:
    """Return the conditions on one input that a condition on the output implies."""
    found = bound_of(test)
    if found is None:
        return []
    subject, how, value = found
    edge = _edge(subject, times, names)
    if edge is None:
        return []
    sides = (">=", "<=") if how == "=" else (how,)
    start = Column(TS)
    edges = {"start": start, "end": plus(start, Column(DURATION)) if source.kind is Kind.SPAN else start}
    implied = (_implied(edge, side, times) for side in sides)
    return [Binary(operator, edges[which], number(value)) for which, operator in filter(None, implied)]


def _edge(subject: Expression, times: TimeLocality, names: list[str]) -> str | None:
    """Return the edge of the output's rows that is compared."""
    ts = names[times.start]
    if isinstance(subject, Column):
        return "start" if subject.name == ts else None
    if times.duration is None:
        return None
    return "end" if sum_of(subject) == frozenset((ts, names[times.duration])) else None


def _implied(edge: str, how: str, times: TimeLocality) -> tuple[str, str] | None:
    lower = how in (">", ">=")
    if times.covered:
        same = (edge == "start") != lower
        return ("end" if lower else "start"), (how if same else ">" if lower else "<")
    if edge == "start":
        return ("end", ">=") if lower else None
    return None if lower else ("start", "<=")
