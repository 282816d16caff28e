"""Exact quantiles that a select asks for, with the engine's formulas for the ranks of their values.

The formulas are repeated here, so values and types are those of the engine's quantiles over all rows. Interpolation is
offered between integers and floats only: between others the engine rounds in ways of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial

from dctv.plan.build import call, equal, greater, minus, number, plus, times
from dctv.plan.expressions import Binary, Call, Case, Cast, Expression, List, Number
from dctv.plan.queries import Select
from dctv.plan.types_of import type_of
from dctv.plan.walk import walk
from dctv.record import record
from dctv.types.values import is_float

_BETWEEN = ("quantile_cont", "median")
"""Quantiles that may lie between two values."""
QUANTILES = (*_BETWEEN, "quantile_disc", "quantile")
_WHOLE = ("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "UTINYINT", "USMALLINT", "UINTEGER", "UBIGINT")
_OTHERS = ("DECIMAL", "DATE", "TIMESTAMP")
"""How the names of other types begin that have an order, and all their values in Arrow."""
_MOST_SHARES = 10

Rank = Callable[[Expression], Expression]
"""From the number of values to the rank of one of them, from 0."""


@record
class RankedValues:
    """The values of which a select asks quantiles, the same ones in all calls."""

    value: Expression
    test: Expression | None
    """FILTER."""
    kind: str
    """Their type."""
    shares: tuple[str, ...]
    source: str
    """The name of the table that they are of."""

    @property
    def count(self) -> Call:
        """The number of values."""
        return Call("count", (self.value,), filter=self.test)

    def quantile(self, node: Call, count: Expression, value: Callable[[str, Rank], Expression]) -> Expression:
        """Return the quantiles that a call asks for, given the number of values and the value of a share's rank."""
        shares, listed = _shares(node)
        values = [self._at(share, count, partial(value, share), between=node.function in _BETWEEN) for share in shares]
        return Case(((greater(count, number(0)), List(tuple(values)) if listed else values[0]),))

    def _at(self, share: str, count: Expression, value: Callable[[Rank], Expression], *, between: bool) -> Expression:
        """Return the quantile of a share."""
        if not between:
            return value(partial(_rank_among, Fraction(share)))

        def rank(count: Expression) -> Expression:
            return times(Cast(minus(count, number(1)), "DOUBLE"), Cast(Number(share), "DOUBLE"))

        def at(function: str) -> Expression:
            return value(lambda count: call(function, rank(count)))

        return self._between(at("floor"), at("ceil"), Binary("%", rank(count), number(1)))

    def _between(self, a: Expression, b: Expression, share: Expression) -> Expression:
        """Interpolate as the engine does, to the last digit."""
        kind = "FLOAT" if self.kind == "FLOAT" else "DOUBLE"
        low, high = Cast(a, "DOUBLE"), Cast(b, "DOUBLE")
        if kind == "FLOAT":
            mixed: Expression = plus(low, times(minus(high, low), share))
        else:
            # It is compiled to the same instructions: a product and a sum may be rounded once.
            mixed = call("list_inner_product", List((high, low)), List((share, minus(number(1), share))))
        return Cast(Case(((equal(share, number(0)), low),), mixed), kind)


def ranked(select: Select, types: Mapping[str, str]) -> RankedValues | None:
    """Return the values whose quantiles a select asks for; None if there are none, or of several expressions."""
    calls = [one for one in walk(select) if isinstance(one, Call) and one.function in QUANTILES]
    subjects = {(one.arguments[0], one.filter) for one in calls}
    shares = [share for one in calls for share in _shares(one)[0]]
    if len(subjects) != 1 or not all(_shares(one)[0] for one in calls) or len(set(shares)) > _MOST_SHARES:
        return None
    ((value, test),) = subjects
    kind = type_of(value, types)
    mixes = any(one.function in _BETWEEN for one in calls)
    if kind is None or not (kind in _WHOLE or is_float(kind) or (not mixes and kind.startswith(_OTHERS))):
        return None
    assert select.source is not None
    return RankedValues(value, test, kind, tuple(dict.fromkeys(shares)), select.source.called)


def _shares(node: Call) -> tuple[list[str], bool]:
    """Return the shares of a call, none if they are not plain numbers, and whether they are a list."""
    given = node.arguments[1] if len(node.arguments) > 1 else Number("0.5")
    items = given.items if isinstance(given, List) else (given,)
    texts = [one.text for one in items if isinstance(one, Number) and one.text.replace(".", "").isdigit()]
    return texts if len(texts) == len(items) else [], isinstance(given, List)


def _rank_among(share: Fraction, count: Expression) -> Expression:
    """Return the rank, from 0, of the value that the engine picks; it multiplies shares exactly."""
    all_, above = number(share.denominator), number(share.denominator - share.numerator)
    return minus(call("greatest", number(1), minus(count, Binary("//", times(count, above), all_))), number(1))
