"""Convert summaries of traces to small tables for writers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any, TypeVar

from dctv.index.summary import QUANTILES, DurationSummary, Summary
from dctv.record import record
from dctv.types.amounts import amount
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    import pyarrow as pa

Row = list[Any]
Value = TypeVar("Value", str, int)
Maker = Callable[[Summary], Iterator[Row]]

_LARGEST = (1 << 63) - 1
_DIGITS = 9
"""Digits of means and deviations; the engine's floats are exact to more digits, but not to their last ones."""
_ESTIMATED = 5
"""Digits of approximate quantiles; the rounding error keeps the total within the promised bound."""


@record
class SectionColumn:
    """A column of a section."""

    name: str
    type: str
    unit: str = ""


@record
class Figures:
    """A small result of numbers and texts."""

    columns: Sequence[SectionColumn]
    rows: Sequence[Row]

    @property
    def schema(self) -> Schema:
        """The columns; integers get a wider type if a value needs it."""
        columns = (
            ColumnType(column.name, self._type(i, column.type), parse_unit(column.unit) if column.unit else NO_UNIT)
            for i, column in enumerate(self.columns)
        )
        return Schema(Kind.REGULAR, tuple(columns))

    def _type(self, place: int, name: str) -> str:
        wide = name == "BIGINT" and any((row[place] or 0) > _LARGEST for row in self.rows)
        return "HUGEINT" if wide else name

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield all rows in one chunk."""
        yield [[row[i] for row in self.rows] for i in range(len(self.columns))]

    def reader(self) -> pa.RecordBatchReader:
        """Return the rows as Arrow."""
        import pyarrow as pa

        types = {"BIGINT": pa.int64(), "HUGEINT": pa.decimal128(38), "DOUBLE": pa.float64(), "VARCHAR": pa.string()}
        fields = [
            pa.field(c.name, types[c.type], metadata={"unit": str(c.unit)} if str(c.unit) else None)
            for c in self.schema.columns
        ]
        arrays = [pa.array([row[i] for row in self.rows], type=described.type) for i, described in enumerate(fields)]
        batch = pa.record_batch(arrays, schema=pa.schema(fields))
        return pa.RecordBatchReader.from_batches(batch.schema, [batch])


_MOMENTS = ("start", "end")
"""Columns of the section of times that hold points in time."""
EVENTS = SectionColumn("events", "BIGINT")


def _times(summary: Summary) -> Iterator[Row]:
    length = None if summary.first is None or summary.end is None else summary.end - summary.first
    yield [summary.events, summary.first, summary.end, length]


def _durations(summary: Summary) -> Iterator[Row]:
    yield _of(summary.durations)


def _of(durations: DurationSummary) -> Row:
    total = durations.total if durations.count else None
    ends = [durations.least, *map(_quantile, durations.quantiles), durations.most]
    return [durations.count, total, _rounded(durations.mean), _rounded(durations.deviation), *ends]


def _rounded(value: Fraction | float | None) -> float | None:
    return None if value is None else float(f"{float(value):.{_DIGITS}g}")


def _quantile(value: float | None) -> float | None:
    return float(f"{value:.{_ESTIMATED}g}") if isinstance(value, float) else value


def _histogram(summary: Summary) -> Iterator[Row]:
    bins = summary.durations.histogram
    used = [bits for bits, number in enumerate(bins) if number]
    for bits in range(used[0], used[-1] + 1) if used else ():
        yield [1 << bits >> 1, (1 << bits) - 1, bins[bits]]


def _categories(summary: Summary) -> Iterator[Row]:
    return _ranked(summary.categories, "")


def _ranked(counts: Mapping[Value | None, int], missing: Value) -> Iterator[Row]:
    """Yield values with their counts, the most frequent first; among equals a missing value is last."""
    for value in sorted(counts, key=lambda v: (-counts[v], v is None, missing if v is None else v)):
        yield [value, counts[value]]


def _names(summary: Summary) -> Iterator[Row]:
    for named in sorted(summary.names, key=lambda named: (-named.events, named.name is None, named.name)):
        yield [named.name, named.category, named.events, *_of(named.durations)]


def _processes(summary: Summary) -> Iterator[Row]:
    return _ranked(summary.processes or {}, 0)


def _spread(*, exact: bool) -> tuple[SectionColumn, ...]:
    """Return the columns of durations; names of approximate quantiles have a tilde."""
    kind, mark = ("BIGINT", "") if exact else ("DOUBLE", "~")
    quantiles = (SectionColumn(f"{mark}p{round(100 * q)}", kind, "ns") for q in QUANTILES)
    return (
        SectionColumn("timed", "BIGINT"),
        SectionColumn("sum", "BIGINT", "ns"),
        SectionColumn("mean", "DOUBLE", "ns"),
        SectionColumn("stddev", "DOUBLE", "ns"),
        SectionColumn("min", "BIGINT", "ns"),
        *quantiles,
        SectionColumn("max", "BIGINT", "ns"),
    )


def _sections(*, exact: bool) -> Mapping[str, tuple[Sequence[SectionColumn], Maker]]:
    """Return columns and rows of each section."""
    ns = ("BIGINT", "ns")
    spread = _spread(exact=exact)
    return {
        "times": (
            (EVENTS, SectionColumn("start", *ns), SectionColumn("end", *ns), SectionColumn("length", *ns)),
            _times,
        ),
        "durations": (spread, _durations),
        "histogram": ((SectionColumn("from", *ns), SectionColumn("to", *ns), EVENTS), _histogram),
        "categories": ((SectionColumn("category", "VARCHAR"), EVENTS), _categories),
        "names": ((SectionColumn("name", "VARCHAR"), SectionColumn("category", "VARCHAR"), EVENTS, *spread), _names),
        "processes": ((SectionColumn("pid", "BIGINT"), EVENTS), _processes),
    }


def section(name: str, summary: Summary, *, readable: bool, clock: Callable[[int], str] | None = None) -> Figures:
    """Build the table of one section; `readable` writes each time as text in a suitable unit.

    `clock` formats points in time.
    """
    columns, rows = _sections(exact=summary.exact)[name]
    found = Figures(columns, list(rows(summary)))
    if clock is not None and name == "times":
        found = _by_clock(found, clock)
    return _readable(found) if readable else found


def _by_clock(figures: Figures, clock: Callable[[int], str]) -> Figures:
    moved = [column.name in _MOMENTS for column in figures.columns]
    columns = [
        SectionColumn(c.name, "VARCHAR") if moves else c for c, moves in zip(figures.columns, moved, strict=True)
    ]
    rows = [
        [clock(value) if moves and value is not None else value for value, moves in zip(row, moved, strict=True)]
        for row in figures.rows
    ]
    return Figures(columns, rows)


def _readable(figures: Figures) -> Figures:
    units = [parse_unit(column.unit) if column.unit else None for column in figures.columns]
    columns = [
        column if unit is None else SectionColumn(column.name, "VARCHAR")
        for column, unit in zip(figures.columns, units, strict=True)
    ]
    rows = [
        [
            value if unit is None or value is None else amount(value, unit)
            for value, unit in zip(row, units, strict=True)
        ]
        for row in figures.rows
    ]
    return Figures(columns, rows)
