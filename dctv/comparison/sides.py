"""Assign the columns of two sides of results to keys and metrics."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dctv.errors import UsageError, nearest
from dctv.record import record, replace
from dctv.types.schema import ColumnType
from dctv.types.units import describe
from dctv.types.values import dialect_type, is_integer, is_numeric

if TYPE_CHECKING:
    import pyarrow as pa

ADDED = ("metric", "unit", "difference", "change", "low", "high", "p", "note")
"""Columns of a comparison besides the keys and the two sides."""
_UNTYPED = '"NULL"'
_SAME_EVERYWHERE = "cast it, or convert it with IN, so that it is the same in every trace"


@record
class TraceRun:
    """The result of a query for one trace."""

    trace: str
    columns: tuple[ColumnType, ...]
    table: pa.Table


@record
class Side:
    """The runs of one side."""

    label: str
    runs: tuple[TraceRun, ...]


Sides = tuple[Side, Side]


@record
class ColumnRoles:
    """The roles of a query's columns in a comparison."""

    keys: tuple[ColumnType, ...]
    """Columns that identify rows."""
    metrics: tuple[ColumnType, ...]
    """Columns that are compared."""


def all_runs(sides: Sides) -> list[TraceRun]:
    """Return the runs of both sides, one after the other."""
    return [run for side in sides for run in side.runs]


def layout_of(sides: Sides, by: Sequence[str]) -> ColumnRoles:
    """Choose keys and metrics: keys are the columns of `by`, else all columns that are not numbers.

    Raises:
        UsageError: columns are not the same for all runs, there is nothing to compare, or names clash.
    """
    columns = list(_common(all_runs(sides)))
    keys = _keys(columns, by)
    metrics = [column for column in columns if column not in keys]
    other = next((column for column in metrics if not is_numeric(column.type)), None)
    if other is not None:
        raise UsageError(
            f"`{other.name}` is {dialect_type(other.type)}, expected a number beside the keys {_listed(keys)}",
            hint="add it to --by, or leave it out of the query",
        )
    if not metrics:
        found = ", ".join(f"`{column.name}` {dialect_type(column.type)}" for column in columns)
        raise UsageError(
            f"found no number to compare beside the keys, but {found}",
            hint="select a sum, a count or a quantile, such as SUM(_duration) AS total",
        )
    _refuse_clashes(keys, sides)
    return ColumnRoles(tuple(keys), tuple(metrics))


def _common(runs: Sequence[TraceRun]) -> Iterator[ColumnType]:
    """Yield the columns of the query that are the same in every run."""
    for run in runs:
        names = [column.name for column in run.columns]
        doubled = next((name for number, name in enumerate(names) if name in names[:number]), None)
        if doubled is not None:
            raise UsageError(f"the query has several columns `{doubled}`", hint="give each its own name with AS")
    first = runs[0]
    for run in runs[1:]:
        for one, other in ((first, run), (run, first)):
            for column in one.columns:
                if not any(column.name == found.name for found in other.columns):
                    raise UsageError(
                        f"the query has a column `{column.name}` for `{one.trace}`, none for `{other.trace}`",
                        hint="name the columns that both have, instead of *",
                    )
    for column in first.columns:
        yield _same([(next(c for c in run.columns if c.name == column.name), run.trace) for run in runs])


def _same(found: Sequence[tuple[ColumnType, str]]) -> ColumnType:
    """Return the common column of several with one name: with one type, or numbers, and one unit."""
    typed = [one for one in found if one[0].type != _UNTYPED] or found
    first_column, first = typed[0]
    for one, trace in typed[1:]:
        numbers = is_numeric(first_column.type) and is_numeric(one.type)
        if first_column.type != one.type and not numbers:
            a, b = dialect_type(first_column.type), dialect_type(one.type)
            raise UsageError(f"`{one.name}` is {a} for `{first}`, {b} for `{trace}`", hint=_SAME_EVERYWHERE)
        if first_column.unit != one.unit:
            a, b = describe(first_column.unit), describe(one.unit)
            raise UsageError(f"the unit of `{one.name}` is {a} for `{first}`, {b} for `{trace}`", hint=_SAME_EVERYWHERE)
    types = {one.type for one, _ in typed}
    if len(types) == 1:
        return first_column
    return replace(first_column, type="HUGEINT" if all(map(is_integer, types)) else "DOUBLE")


def _keys(columns: Sequence[ColumnType], by: Sequence[str]) -> list[ColumnType]:
    if not by:
        return [column for column in columns if not is_numeric(column.type)]
    names = [column.name for column in columns]
    for name in by:
        if name not in names:
            near = nearest(name, names)
            hint = f"did you mean `{near}`?" if near else f"its columns: {', '.join(names)}"
            raise UsageError(f"the query has no column `{name}` to match rows by", hint=hint)
    return [column for column in columns if column.name in by]


def _refuse_clashes(keys: Sequence[ColumnType], sides: Sides) -> None:
    labels = [side.label for side in sides]
    for column in keys:
        if column.name in ADDED:
            raise UsageError(
                f"the query has a key `{column.name}`, which is also a column of the comparison",
                hint="give it another name with AS",
            )
        if column.name in labels:
            raise UsageError(
                f"a side has the same name as the key `{column.name}` of the query", hint="rename one of them"
            )
    for label in labels:
        if label in ADDED:
            raise UsageError(f"a side has the same name as the column `{label}` of the comparison", hint="rename it")
    if labels[0] == labels[1]:
        raise UsageError(f"both sides are called `{labels[0]}`", hint="give each its own name")


def _listed(keys: Sequence[ColumnType]) -> str:
    return ", ".join(f"`{key.name}`" for key in keys)
