"""Concatenate results of jobs: the rows of all traces one after another, with the trace in a first column."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.errors import UsageError
from dctv.record import record
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT
from dctv.types.units import parse_unit

if TYPE_CHECKING:
    import pyarrow as pa

TRACE = "_trace"
"""The column with the trace of a row."""
_UNTYPED = '"NULL"'


@record
class TraceResult:
    """One result of one trace."""

    trace: str
    path: Path
    columns: Sequence[tuple[str, str, str]]
    """Names, types and units."""


class Stacked:
    """The rows of several parts, read from their files one after another; columns that a part lacks are NULL."""

    def __init__(self, parts: Sequence[TraceResult]) -> None:
        """Match columns by name.

        Raises:
            UsageError: columns with the same name are incompatible.
        """
        self._parts = parts
        columns: dict[str, tuple[ColumnType, str]] = {}
        for part in parts:
            _refuse_doubled([name for name, _, _ in part.columns])
            for name, kind, unit in part.columns:
                one = ColumnType(name, kind, parse_unit(unit) if unit else NO_UNIT)
                known, first = columns.get(name, (one, part.trace))
                columns[name] = (_same(known, first, one, part.trace), first)
        if TRACE in columns:
            raise UsageError(f"the report has a column `{TRACE}`, which --each adds", hint="give it another name")
        columns_of = (ColumnType(TRACE, "VARCHAR"), *(one for one, _ in columns.values()))
        self.schema: Schema = Schema(Kind.REGULAR, columns_of)

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        from dctv import _kernels

        for batch in self.reader():
            yield from _kernels.rows(batch)

    def reader(self) -> pa.RecordBatchReader:
        """Return the batches as Arrow; fields with a unit have it in their metadata under `unit`."""
        import pyarrow as pa

        fields: dict[str, pa.Field] = {}
        for part in self._parts:
            with pa.OSFile(str(part.path)) as file, pa.ipc.open_stream(file) as stream:
                for field in stream.schema:
                    if field.name not in fields or pa.types.is_null(fields[field.name].type):
                        fields[field.name] = field
        schema = pa.schema([pa.field(TRACE, pa.string()), *(fields[c.name] for c in self.schema.columns[1:])])
        return pa.RecordBatchReader.from_batches(schema, self._batches(schema))

    def _batches(self, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for part in self._parts:
            with pa.OSFile(str(part.path)) as file, pa.ipc.open_stream(file) as stream:
                for batch in stream:
                    there: Mapping[str, pa.Array] = dict(zip(batch.schema.names, batch.columns, strict=True))
                    columns = [pa.repeat(pa.scalar(part.trace), batch.num_rows)]
                    for field in list(schema)[1:]:
                        found = there.get(field.name)
                        empty = found is None or pa.types.is_null(found.type)
                        columns.append(pa.nulls(batch.num_rows, field.type) if empty else found)
                    yield pa.record_batch(columns, schema=schema)


def _refuse_doubled(names: Sequence[str]) -> None:
    """Reject duplicate column names: traces are matched by the names of their columns."""
    doubled = next((name for number, name in enumerate(names) if name in names[:number]), None)
    if doubled is not None:
        raise UsageError(f"the report has several columns `{doubled}`", hint="give each its own name with AS")


def _same(first_type: ColumnType, first: str, one: ColumnType, trace: str) -> ColumnType:
    """Return the common type of a column of two parts."""
    if _UNTYPED in (first_type.type, one.type):
        return one if first_type.type == _UNTYPED else first_type
    for what, a, b in (("type", first_type.type, one.type), ("unit", str(first_type.unit), str(one.unit))):
        if a != b:
            raise UsageError(
                f"`{one.name}` has the {what} `{a or 'none'}` in `{first}`, `{b or 'none'}` in `{trace}`",
                hint="cast it, or convert it with IN, so that it is the same in every trace",
            )
    return first_type
