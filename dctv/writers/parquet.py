"""Write a result as a Parquet file; units stand in the metadata of the fields."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write zstd-compressed row groups of up to a million rows."""
    import pyarrow.parquet as pq

    reader = rows.reader()
    count = 0
    with pq.ParquetWriter(out, reader.schema, compression="zstd") as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


PARQUET = Writer("parquet", "Parquet file", (".parquet",), write, many=False)
