"""Make Perfetto traces with the official protobuf, and load them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from google.protobuf import text_format
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.perfetto import READER
from dctv.session import Session

Build = Callable[[Any], None]


def trace(*builds: Build) -> bytes:
    """Return a trace with a packet for each function, which fills it."""
    whole = pb.Trace()
    for build in builds:
        packet = whole.packet.add()
        packet.trusted_packet_sequence_id = 1
        build(packet)
    return bytes(whole.SerializeToString())


def written(text: str) -> bytes:
    """Return a trace whose packets are written as protobuf prints them."""
    return bytes(text_format.Parse(text, pb.Trace()).SerializeToString())


def ask(data: bytes, query: str) -> list[tuple[Any, ...]]:
    """Mount the bytes of a trace as `t`, and return the rows of a query."""
    with TemporaryDirectory() as folder, Session() as session:
        path = Path(folder) / "a.pftrace"
        path.write_bytes(data)
        session.mount(str(path), "t")
        found = session.sql(query).arrow()
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))


def load(data: bytes) -> LoadedTrace:
    """Load the bytes of a trace."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.pftrace"
        path.write_bytes(data)
        return READER.load([path], LoadContext({}, 2, lambda _done, _total: None))


def rows(found: LoadedTrace, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table without columns that are empty."""
    data = found.tables[table].data.to_pylist()
    return [{key: value for key, value in row.items() if value is not None} for row in data]


def notes(found: LoadedTrace) -> dict[str, int]:
    """Return the diagnostics of the trace, with counts."""
    return {one.reason: one.count for one in found.diagnostics}
