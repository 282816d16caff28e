"""Serialize tables as Arrow streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any


def as_stream(table: Any) -> bytes:
    """Return a pyarrow Table as an IPC stream of one batch."""
    return b"".join(streamed(table.schema, table.combine_chunks().to_batches()))


def streamed(schema: Any, batches: Iterable[Any]) -> Iterator[bytes]:
    """Yield an IPC stream in pieces, as batches arrive."""
    import pyarrow as pa

    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, schema) as writer:
        for batch in batches:
            writer.write_batch(batch)
    yield sink.getvalue().to_pybytes()
