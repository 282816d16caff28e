"""A state of an attribute and its time range."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from dctv.record import record
from dctv.state.faults import WrongValue

if TYPE_CHECKING:
    from pyarrow import RecordBatch

Value = int | float | str | None
"""The state of an attribute; None if it has none."""


def compare(one: Value, other: Value) -> int:
    """Return -1, 0 or 1 if a state is less than, equal to or greater than another.

    None is less than any state, and numbers compare by value, whatever their types.

    Raises:
        WrongValue: one is a text and the other a number.
    """
    if one is None or other is None:
        return (one is not None) - (other is not None)
    if isinstance(one, str) and isinstance(other, str):
        return (one > other) - (one < other)
    if isinstance(one, str) or isinstance(other, str):
        raise WrongValue(f"cannot compare the states {one!r} and {other!r}, expected two texts or two numbers")
    return (one > other) - (one < other)


@record
class Interval:
    """The state of an attribute from `start` to `end`, both included, in ns.

    With `ongoing` it is not complete: the history was not closed, so the state may last longer than `end`.
    """

    quark: int
    start: int
    end: int
    value: Value
    ongoing: bool = False

    def __contains__(self, time: int) -> bool:
        """Return whether the state lasts at a time."""
        return self.start <= time <= self.end

    @property
    def duration(self) -> int:
        """Its length in ns: that of the half-open span `[start, start + duration)` in SQL."""
        return self.end - self.start + 1


def intervals_of(batches: Iterable[RecordBatch]) -> Iterator[Interval]:
    """Yield the intervals in the kernels' batches."""
    for batch in batches:
        quarks, starts, ends, ongoing, _, wholes, reals, texts = (column.to_pylist() for column in batch.columns)
        rows = zip(quarks, starts, ends, ongoing, wholes, reals, texts, strict=True)
        for quark, start, end, goes_on, whole, real, text in rows:
            value = whole if whole is not None else real if real is not None else text
            yield Interval(quark, start, end, value, goes_on)
