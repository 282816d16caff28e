"""Makes Perfetto traces with the official protobuf, and loads them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as pb

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.readers.perfetto import READER

Build = Callable[[Any], None]


def trace(*builds: Build) -> bytes:
    """Return a trace with a packet for each function, which fills it."""
    whole = pb.Trace()
    for build in builds:
        packet = whole.packet.add()
        packet.trusted_packet_sequence_id = 1
        build(packet)
    return bytes(whole.SerializeToString())


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
    """Return what was told of the trace, and how often."""
    return {one.reason: one.count for one in found.diagnostics}
