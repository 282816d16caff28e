"""Find differences that are regressions by more than a limit."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from math import isclose, isnan
from typing import Literal

from dctv.comparison.differences import Difference
from dctv.comparison.significance import least_p
from dctv.contracts.table_function import Quantity
from dctv.errors import UsageError, nearest
from dctv.record import field, record
from dctv.types.units import compatible, ratio

Direction = Literal["lower", "higher", "none"]
DIRECTIONS: tuple[Direction, ...] = ("lower", "higher", "none")


@record
class Directions:
    """Which values are better."""

    usual: Direction = "lower"
    columns: Mapping[str, Direction] = field(default_factory=dict)
    """Columns with another direction."""

    def of(self, column: str) -> Direction:
        """Return which values of a column are better."""
        return self.columns.get(column, self.usual)

    def check(self, names: Collection[str]) -> None:
        """Reject unknown directions, and columns that are not compared.

        Raises:
            UsageError: there is one.
        """
        for found in (self.usual, *self.columns.values()):
            if found not in DIRECTIONS:
                raise UsageError(f"found the direction `{found}`, expected one of {', '.join(DIRECTIONS)}")
        for name in self.columns:
            if name not in names:
                near = nearest(name, list(names))
                hint = f"did you mean `{near}`?" if near else f"what is compared: {', '.join(names)}"
                raise UsageError(f"found `{name}` with a better direction, which is not compared", hint=hint)


@record
class Limit:
    """The conditions of a regression."""

    part: float
    """The minimum change relative to the first side, 0.05 for 5 %."""
    alpha: float | None = None
    """The required level of significance, if given."""
    least: tuple[Quantity, ...] = ()
    """The minimum difference, for metrics with such a unit."""


@record
class Verdict:
    """The result of judging."""

    worse: Sequence[Difference]
    judged: int
    """The number of judged differences."""
    unjudged: int
    """The number of differences that lack a value on a side."""


def judge(found: Sequence[Difference], limit: Limit, better: Directions) -> Verdict:
    """Find regressions by more than a limit; a value that was 0 regresses by any change for the worse."""
    compared = [one for one in found if better.of(one.metric.name) != "none"]
    judged = [one for one in compared if one.difference is not None and not isnan(one.difference)]
    worse = [one for one in judged if _exceeds(one, limit, better) and _is_sure(one, limit) and _is_large(one, limit)]
    return Verdict(worse, len(judged), len(compared) - len(judged))


def check_alpha(alpha: float, a: int, b: int) -> None:
    """Reject a level that this number of runs never reaches.

    Raises:
        UsageError: they cannot reach it.
    """
    least = least_p(a, b) if min(a, b) > 1 else 1.0
    if least >= alpha:
        raise UsageError(
            f"found {_runs(a)} and {_runs(b)}, whose p-values are at least {least:.2g}, expected enough for {alpha:g}",
            hint="trace more runs of both sides: four of each reach 0.029",
        )


def _exceeds(one: Difference, limit: Limit, better: Directions) -> bool:
    sign = 1 if better.of(one.metric.name) == "lower" else -1
    if one.change is None:
        return (one.difference or 0) * sign > 0
    # A change of 0.7 % does not exceed a limit of 0.7 %, whatever their doubles are.
    return one.change * sign > limit.part and not isclose(one.change * sign, limit.part)


def _is_sure(one: Difference, limit: Limit) -> bool:
    return limit.alpha is None or (one.p is not None and one.p < limit.alpha)


def _is_large(one: Difference, limit: Limit) -> bool:
    fitting = [least for least in limit.least if compatible(least.unit, one.metric.unit)]
    return all(abs(one.difference or 0) >= least.value * ratio(least.unit, one.metric.unit) for least in fitting)


def _runs(count: int) -> str:
    return "1 run" if count == 1 else f"{count} runs"
