"""A query over a whole stored table that statistics may answer: groups by a few columns, and aggregates."""

from __future__ import annotations

from fractions import Fraction

from dctv.record import record

Cell = str | int | float | None
"""A value of an answer; integers are exact, of any size."""


@record
class Aggregate:
    """One aggregate over the rows of a group."""

    function: str
    """`count`, `sum`, `avg`, `min`, `max`, `var_samp`, `var_pop`, `stddev_samp`, `stddev_pop`, or
    `approx_quantile`, the only one whose answer may be near the truth. NULLs are passed over, and without any value all
    but `count` are NULL."""
    column: str | None = None
    """None for COUNT(*)."""
    quantile: Fraction | None = None
    """The quantile of `approx_quantile`: 0 to 1."""


@record
class Question:
    """Aggregates of all rows of a table for each group; without keys the whole is one group, even if it is empty."""

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...]
