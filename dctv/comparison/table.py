"""Format differences as a table: exact, for programs, or with suitable units and digits for reading."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import floor, isfinite, log10
from typing import TYPE_CHECKING

from dctv.comparison.differences import Certainty, Difference
from dctv.comparison.sides import ColumnRoles, Sides, all_runs
from dctv.record import record
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT, Unit
from dctv.types.units import parse_unit, ratio
from dctv.types.values import is_integer

if TYPE_CHECKING:
    import pyarrow as pa

Column = tuple[ColumnType, list[object]]
_TIMES = ("s", "ms", "us", "ns")
_PERCENT = "percent"
_DIGITS = 6
"""Significant digits of a number in readable tables."""
_FEW = 3
"""Significant digits of a p-value in readable tables."""


@record
class ResultTable:
    """A small result that is complete in memory."""

    schema: Schema
    arrow: pa.Table
    """Fields with a unit have it in their metadata under `unit`."""

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        from dctv import _kernels

        for batch in self.arrow.to_batches():
            yield from _kernels.rows(batch)

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as Arrow."""
        return self.arrow.to_reader()


def exact(sides: Sides, layout: ColumnRoles, found: Sequence[Difference], certainty: Certainty) -> ResultTable:
    """Build the table for programs: numbers in the units of the query, which are in a column."""
    columns: list[Column] = [
        (_text("metric"), [one.metric.name for one in found]),
        (_text("unit"), [str(one.metric.unit) or None for one in found]),
        *_numbers(sides, found, certainty),
        (_text("note"), [one.note or None for one in found]),
    ]
    return _table(sides, layout, found, columns)


def readable(sides: Sides, layout: ColumnRoles, found: Sequence[Difference], certainty: Certainty) -> ResultTable:
    """Build the readable table: times in a suitable unit, six digits, and notes only if there are any."""
    units = {column: _fitting(column.unit, [one for one in found if one.metric == column]) for column in layout.metrics}
    heads = {column: ColumnType(column.name, column.type, unit).head for column, (unit, _) in units.items()}
    columns: list[Column] = [(_text("metric"), [heads[one.metric] for one in found])]
    for column, values in _numbers(sides, found, certainty):
        scaled = str(column.unit) != _PERCENT and column.name != "p"
        factors = [units[one.metric][1] if scaled else 1.0 for one in found]
        places = 2 if str(column.unit) == _PERCENT else None
        digits = _DIGITS if scaled else _FEW
        columns.append((column, [_shown(v, f, places, digits) for v, f in zip(values, factors, strict=True)]))
    if any(one.note for one in found):
        columns.append((_text("note"), [one.note for one in found]))
    return _table(sides, layout, found, columns)


def _numbers(sides: Sides, found: Sequence[Difference], certainty: Certainty) -> Iterator[Column]:
    for number, side in enumerate(sides):
        yield _double(side.label), [one.values[number] for one in found]
    yield _double("difference"), [one.difference for one in found]
    yield _double("change", _PERCENT), [_percent(one.change) for one in found]
    if certainty is not Certainty.NONE:
        yield _double("low", _PERCENT), [_percent(one.low) for one in found]
        yield _double("high", _PERCENT), [_percent(one.high) for one in found]
    if certainty is Certainty.TESTED:
        yield _double("p"), [one.p for one in found]


def _text(name: str) -> ColumnType:
    return ColumnType(name, "VARCHAR")


def _double(name: str, unit: str = "") -> ColumnType:
    return ColumnType(name, "DOUBLE", parse_unit(unit) if unit else NO_UNIT)


def _percent(part: float | None) -> float | None:
    return None if part is None else 100 * part


def _fitting(unit: Unit, found: Sequence[Difference]) -> tuple[Unit, float]:
    """Return a readable unit, and the factor of its numbers: the largest unit in which some time is 1 or more."""
    most = max((abs(v) for one in found for v in one.values if v is not None and isfinite(v)), default=0.0)
    if str(unit) in _TIMES and most:
        for name in _TIMES:
            other = parse_unit(name)
            factor = float(ratio(unit, other))
            if most * factor >= 1 or name == _TIMES[-1]:
                return other, factor
    return unit, 1.0


def _shown(value: object, factor: float, places: int | None, digits: int) -> float | None:
    """Round a number for reading; integers that are not converted keep all digits."""
    if not isinstance(value, float):
        return None
    if not isfinite(value) or not value or (factor == 1 and value.is_integer()):
        return value
    number = value * factor
    return round(number, places if places is not None else digits - 1 - floor(log10(abs(number))))


def _table(sides: Sides, layout: ColumnRoles, found: Sequence[Difference], columns: Sequence[Column]) -> ResultTable:
    import pyarrow as pa

    keys = [(key, _taken(sides, key, found)) for key in layout.keys]
    types = {"VARCHAR": pa.string(), "DOUBLE": pa.float64()}
    arrays = [*keys, *((column, pa.array(values, types[column.type])) for column, values in columns)]
    fields = [
        pa.field(column.name, array.type, metadata={"unit": str(column.unit)} if str(column.unit) else None)
        for column, array in arrays
    ]
    schema = Schema(Kind.REGULAR, tuple(column for column, _ in arrays))
    return ResultTable(schema, pa.table([array for _, array in arrays], schema=pa.schema(fields)))


def _taken(sides: Sides, key: ColumnType, found: Sequence[Difference]) -> pa.ChunkedArray:
    """Return the keys of differences, as in the query's results."""
    import pyarrow as pa

    runs = all_runs(sides)
    columns = [run.table.column(key.name) for run in runs]
    types = {one.type for one in columns if not pa.types.is_null(one.type)}
    typed = types.pop() if len(types) == 1 else _numeric(key) if types else pa.null()
    chunks = [chunk for one in columns for chunk in one.cast(typed, safe=False).chunks]
    starts = [0]
    for one in columns:
        starts.append(starts[-1] + len(one))
    places = pa.array([starts[run] + row for run, row in (one.place for one in found)], pa.int64())
    return pa.chunked_array(chunks, typed).unify_dictionaries().take(places)


def _numeric(key: ColumnType) -> pa.DataType:
    """Return the type for numbers of several types."""
    import pyarrow as pa

    return pa.decimal128(38, 0) if is_integer(key.type) else pa.float64()
