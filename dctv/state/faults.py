"""Errors of states; the kernels raise these by their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

from dctv.errors import DctvError, FileDamaged, FileOfAnother

P = ParamSpec("P")
T = TypeVar("T")


class StateError(DctvError):
    """Base of all errors of state histories."""


class TimeOutOfRange(StateError):
    """A time before the start of a history, or after the last known state."""


class OutOfOrder(StateError):
    """A change that comes after a later one."""


class AttributeNotFound(StateError):
    """A quark or path without an attribute."""


class WrongValue(StateError):
    """A state with another type than the attribute's others, too large or too long."""


class HistoryClosed(StateError):
    """A history that accepts no more changes, or that was discarded."""


class HistoryDamaged(StateError, FileDamaged):
    """A file that is not a history, has another version, or is damaged."""


class HistoryOfAnother(HistoryDamaged, FileOfAnother):
    """A history of another trace, or built by another version of its provider."""


def of_64_bits(method: Callable[P, T]) -> Callable[P, T]:
    """Let a method reject numbers that do not fit into 64 bits."""

    @wraps(method)
    def bounded(*args: P.args, **kwargs: P.kwargs) -> T:
        try:
            return method(*args, **kwargs)
        except OverflowError:
            raise TimeOutOfRange("expected times and attributes of at most 64 bits, found a larger number") from None

    return bounded
