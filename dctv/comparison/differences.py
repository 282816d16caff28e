"""Compute differences of matched rows: one for each row and metric, the most important first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from fractions import Fraction
from math import inf, isfinite, isnan

from dctv.comparison import significance
from dctv.comparison.matching import ComparedRow, Number
from dctv.comparison.sides import ColumnRoles, Sides
from dctv.record import record, replace
from dctv.types.schema import ColumnType


class Certainty(Enum):
    """The certainty that is known of a change."""

    NONE = "none"
    """None: a side has one run."""
    BOUNDED = "bounded"
    """Its interval."""
    TESTED = "tested"
    """Its interval and a p-value."""


@record
class Difference:
    """One number of one row on both sides."""

    key: Mapping[str, object]
    """The row's keys by their columns."""
    metric: ColumnType
    """The compared column."""
    place: tuple[int, int]
    """The origin of the keys: a run, and its row."""
    runs: tuple[tuple[float, ...], tuple[float, ...]]
    """The values of those runs of both sides that have it."""
    values: tuple[float | None, float | None]
    """The medians of both sides."""
    difference: float | None = None
    """The second median minus the first."""
    change: float | None = None
    """The difference relative to the first median, 0.05 for 5 %; None if that is 0."""
    low: float | None = None
    """With `high`, the 95 % interval of the change."""
    high: float | None = None
    p: float | None = None
    """The p-value."""
    note: str = ""
    """The reason why it cannot be compared, or a remark."""

    @property
    def weight(self) -> float:
        """Its importance, in the unit of the metric: the difference, or the value of the only side."""
        numbers = [self.difference] if self.difference is not None else [v for v in self.values if v is not None]
        return max((inf if isnan(value) else abs(value) for value in numbers), default=-1.0)


def differences(
    sides: Sides, layout: ColumnRoles, rows: Sequence[ComparedRow], certainty: Certainty
) -> list[Difference]:
    """Compare the values of the sides, column by column."""
    found: list[Difference] = []
    for number in range(len(layout.metrics)):
        own = [_difference(sides, layout, row, number) for row in rows]
        own.sort(key=lambda one: -one.weight)
        found += own
    if certainty is not Certainty.NONE:
        bounds = significance.intervals([one.runs for one in found])
        found = [replace(one, low=low, high=high) for one, (low, high) in zip(found, bounds, strict=True)]
    if certainty is Certainty.TESTED:
        values = significance.p_values([one.runs for one in found])
        found = [replace(one, p=p) for one, p in zip(found, values, strict=True)]
    return found


def _difference(sides: Sides, layout: ColumnRoles, row: ComparedRow, number: int) -> Difference:
    count = len(sides[0].runs)
    numbers: tuple[list[Number], list[Number]] = ([], [])
    for run, found in row.found.items():
        value = found[number]
        if value is not None:
            numbers[run >= count].append(value)
    there = (any(run < count for run in row.found), any(run >= count for run in row.found))
    medians = _median(numbers[0]), _median(numbers[1])
    difference, change = _change(*medians)
    note = _note(sides, there, numbers, medians)
    return Difference(
        {column.name: value for column, value in zip(layout.keys, row.key, strict=True)},
        layout.metrics[number],
        row.place,
        (tuple(map(float, numbers[0])), tuple(map(float, numbers[1]))),
        (_float(medians[0]), _float(medians[1])),
        _float(difference),
        change,
        note=note,
    )


def _median(values: Sequence[Number]) -> Number | None:
    """Return the median; NaN if one of the values is NaN, None if there are none."""
    if not values:
        return None
    if any(isnan(value) for value in values):
        return float("nan")
    ordered = sorted(values)
    low, high = ordered[(len(ordered) - 1) // 2], ordered[len(ordered) // 2]
    if isinstance(low, float) or isinstance(high, float):
        return float(low) / 2 + float(high) / 2
    return Fraction(low + high) / 2


def _change(a: Number | None, b: Number | None) -> tuple[Number | None, float | None]:
    if a is None or b is None:
        return None, None
    difference = b - a
    if not isfinite(difference):
        return difference, None
    if not a:
        return difference, None if difference else 0.0
    change = float(difference) / abs(float(a))
    return difference, change if isfinite(change) else None


def _float(value: Number | None) -> float | None:
    return None if value is None else float(value)


def _note(
    sides: Sides,
    there: tuple[bool, bool],
    numbers: tuple[Sequence[Number], Sequence[Number]],
    medians: tuple[Number | None, Number | None],
) -> str:
    """Describe which side lacks the row or has no number in it, and which values are not from all runs."""
    notes: list[str] = []
    for own, other in ((0, 1), (1, 0)):
        if not there[other]:
            notes.append(f"only in {sides[own].label}")
    for number, side in enumerate(sides):
        if there[number] and not numbers[number]:
            notes.append(f"NULL in {side.label}")
        elif there[number] and len(numbers[number]) < len(side.runs):
            notes.append(f"in {len(numbers[number])} of {len(side.runs)} runs of {side.label}")
    if medians[0] == 0 and medians[1]:
        notes.append(f"0 in {sides[0].label}")
    return ", ".join(notes)
