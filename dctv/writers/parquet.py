"""Write a result as a Parquet file; units stand in the metadata of the fields."""

from __future__ import annotations

from typing import TYPE_CHECKING, BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.errors import UsageError
from dctv.types.schema import ColumnType
from dctv.types.values import dialect_type

if TYPE_CHECKING:
    import pyarrow as pa


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write zstd-compressed row groups of up to a million rows.

    Raises:
        UsageError: Parquet has no form of a column's type; nothing is written then.
    """
    import pyarrow.parquet as pq

    reader = rows.reader()
    for column, field in zip(rows.schema.columns, reader.schema, strict=True):
        _check(column, field)
    count = 0
    with pq.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _check(column: ColumnType, field: pa.Field) -> None:
    """Refuse types without a form in Parquet: those with intervals, and maps whose keys have no type."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetWriter(pa.BufferOutputStream(), pa.schema([field])).close()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        hint = "cast it: x::STRING"
        if column.type == "INTERVAL":
            hint = "x IN ns is its length, x::STRING its text"
        raise UsageError(
            f"the column `{column.name}` has the type {dialect_type(column.type)}, which Parquet cannot hold", hint=hint
        ) from None


PARQUET = Writer("parquet", "Parquet file", (".parquet",), write, many=False)
