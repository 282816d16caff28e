"""Rows of all runs to one row for each key, with what each run has of it: an outer join."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from fractions import Fraction

from dctv import _kernels
from dctv.comparison.sides import ColumnRoles, Sides, TraceRun, all_runs
from dctv.errors import UsageError
from dctv.record import record

Number = int | float | Fraction
Found = tuple[Number | None, ...]
"""What one run has in the columns that are compared."""


@record
class ComparedRow:
    """A key, and what the runs have of it."""

    key: tuple[object, ...]
    place: tuple[int, int]
    """A run that has it, of those of both sides, and the number of the row there."""
    found: dict[int, Found]
    """By the numbers of runs; those that lack it are not there."""


def matched(sides: Sides, layout: ColumnRoles) -> list[ComparedRow]:
    """Match the rows of all runs by their keys, in the order in which keys are first met.

    Raises:
        UsageError: a run has several rows of one key.
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
    """Return what tells a value of a key: 0 and -0 are one, as in GROUP BY."""
    return value + 0.0 if isinstance(value, float) else value


def _number(value: object) -> Number | None:
    """Return a value that can be calculated with, without loss."""
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
    """Name a key in a sentence: `name` train_step, `pid` 3."""
    values = ["NULL" if value is None else str(value) for value in key]
    return ", ".join(f"`{column.name}` {value}" for column, value in zip(layout.keys, values, strict=True))
