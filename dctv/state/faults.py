"""What can go wrong with states; the kernels raise these by their names."""

from __future__ import annotations

from dctv.errors import DctvError


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
