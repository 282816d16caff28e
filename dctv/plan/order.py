"""The known row order of a plan."""

from __future__ import annotations

from enum import IntEnum


class RowOrder(IntEnum):
    """An order of rows; each implies all that precede it."""

    ANY = 0
    """The order may differ in the next run."""
    STABLE = 1
    """The same in every run."""
    TIME = 2
    """Ascending in `_ts`, and rows of equal time the same in every run."""
