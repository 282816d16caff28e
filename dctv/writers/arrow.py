"""Write a result as Arrow IPC, a file or a stream; units stand in the metadata of the fields."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer


def write_file(rows: ResultRows, out: BinaryIO) -> int:
    """Write the file format, which allows random access."""
    import pyarrow as pa

    reader = rows.reader()
    count = 0
    with pa.ipc.new_file(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


def write_stream(rows: ResultRows, out: BinaryIO) -> int:
    """Write the streaming format, which a reader can begin to use before the end."""
    import pyarrow as pa

    reader = rows.reader()
    count = 0
    with pa.ipc.new_stream(out, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
            count += batch.num_rows
    return count


ARROW = Writer("arrow", "Arrow IPC file", (".arrow", ".feather"), write_file, many=False)
ARROWS = Writer("arrows", "Arrow IPC stream", (".arrows",), write_stream, many=False)
