"""Match the rows of all runs by key: an outer join."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction
from math import isfinite

from dctv import _kernels
from dctv.comparison.sides import ColumnRoles, Sides, TraceRun, all_runs
from dctv.errors import UsageError
from dctv.record import record

Number = int | float | Fraction
Found = tuple[Number | None, ...]
"""The values of one run in the compared columns."""


@record
class ComparedRow:
    """A key, and the runs' values for it."""

    key: tuple[object, ...]
    place: tuple[int, int]
    """The first run with it, counted over both sides, and the number of the row there."""
    found: dict[int, Found]
    """By the number of the run; runs without the key are missing."""


def matched(sides: Sides, layout: ColumnRoles) -> list[ComparedRow]:
    """Match the rows of all runs by their keys, in the order of their first occurrence.

    Raises:
        UsageError: a run has several rows with the same key.
    """
    rows: dict[str, ComparedRow] = {}
    for number, run in enumerate(all_runs(sides)):
        for place, (key, found) in enumerate(_rows(run, layout)):
            row = rows.setdefault(repr(tuple(map(_as_text, key))), ComparedRow(key, (number, place), {}))
            if number in row.found:
                raise _doubled(run, layout, key)
            row.found[number] = found
    return list(rows.values())


def _rows(run: TraceRun, layout: ColumnRoles) -> Iterator[tuple[tuple[object, ...], Found]]:
    names = [column.name for column in run.columns]
    keys = [names.index(column.name) for column in layout.keys]
    metrics = [names.index(column.name) for column in layout.metrics]
    for batch in run.table.to_batches():
        for columns in _kernels.rows(batch):
            for values in zip(*columns, strict=True):
                yield tuple(values[i] for i in keys), tuple(_number(values[i]) for i in metrics)


def _as_text(value: object) -> object:
    """Return an identity for a value of a key: numbers are the same whatever their types and signs of zero."""
    if isinstance(value, float | Decimal):
        whole = isfinite(value) and value == int(value)
        return int(value) if whole else float(value)
    return value


def _number(value: object) -> Number | None:
    """Convert a value to a number without loss."""
    if isinstance(value, Decimal):
        return Fraction(value)
    assert value is None or isinstance(value, int | float)
    return value


def _doubled(run: TraceRun, layout: ColumnRoles, key: tuple[object, ...]) -> UsageError:
    hint = "name a further column as a key with --by, or sum up with GROUP BY"
    if not layout.keys:
        return UsageError(
            f"the query has several rows for `{run.trace}`, and no column that distinguishes them", hint=hint
        )
    return UsageError(f"the query has several rows of {key_text(layout, key)} for `{run.trace}`", hint=hint)


def key_text(layout: ColumnRoles, key: tuple[object, ...]) -> str:
    """Describe a key in a message: `name` train_step, `pid` 3."""
    values = ["NULL" if value is None else str(value) for value in key]
    return ", ".join(f"`{column.name}` {value}" for column, value in zip(layout.keys, values, strict=True))
