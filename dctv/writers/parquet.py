"""Write a result as a Parquet file; units stand in the metadata of the fields."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, BinaryIO, NoReturn

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
    if not _fits(reader.schema):
        _refuse(rows.schema.columns, reader.schema)
    count = 0
    with pq.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def _fits(schema: pa.Schema) -> bool:
    """Whether all types have a form in Parquet: those with intervals, and maps whose keys have no type, do not."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        pq.ParquetWriter(pa.BufferOutputStream(), schema).close()
    except (pa.ArrowNotImplementedError, pa.ArrowInvalid):
        return False
    return True


def _refuse(columns: Sequence[ColumnType], schema: pa.Schema) -> NoReturn:
    """Raise an error that names the first column without a form in Parquet."""
    import pyarrow as pa

    column = next(one for one, field in zip(columns, schema, strict=True) if not _fits(pa.schema([field])))
    hint = "x IN ns is its length, x::STRING its text" if column.type == "INTERVAL" else "cast it: x::STRING"
    raise UsageError(
        f"the column `{column.name}` has the type {dialect_type(column.type)}, which Parquet cannot hold", hint=hint
    )


PARQUET = Writer("parquet", "Parquet file", (".parquet",), write, many=False)
