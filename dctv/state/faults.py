"""What can go wrong with states; the kernels raise these by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from dctv.errors import DctvError

P = ParamSpec("P")
T = TypeVar("T")


class StateError(DctvError):
    """Base of all errors of state histories."""


class TimeOutOfRange(StateError):
    """A time before the begin of a history, or behind what is known of it."""


class OutOfOrder(StateError):
    """A change that comes after a later one."""


class AttributeNotFound(StateError):
    """A quark or a path of no attribute."""


class WrongValue(StateError):
    """A state of another type than the attribute's others, too large or too long."""


class HistoryClosed(StateError):
    """A history that takes no more changes, or that was given up."""


class HistoryDamaged(StateError):
    """A file that is no history, of another version, or not what was written."""


class HistoryOfAnother(HistoryDamaged):
    """A history of another trace, or that was made by another version of what makes it."""


def of_64_bits(method: Callable[P, T]) -> Callable[P, T]:
    """Let a method refuse numbers that are too large for what it calls."""

    @wraps(method)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except OverflowError:
            raise TimeOutOfRange("expected times and attributes of at most 64 bits, found a larger number") from None

    return bounded
