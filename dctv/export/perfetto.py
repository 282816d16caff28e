"""A timeline -> Perfetto's protobuf: track descriptors, slices, counters and instants, for ui.perfetto.dev."""

from __future__ import annotations

from typing import BinaryIO

from dctv.export.timeline import Timeline


def write(timeline: Timeline, out: BinaryIO) -> None:
    """Write packets; times are absolute ns. Slices of one lane nest; each lane is a track below that of its thread."""
    from dctv._kernels import PerfettoExport

    export = PerfettoExport(timeline.start_ns)
    tracks = [(one.number, one.kind, one.name, one.pid, one.tid, one.unit) for one in timeline.tracks]
    known = dict(timeline.processes)
    pids = {one.pid for one in timeline.tracks if one.pid is not None}
    out.write(export.tracks([(pid, known.get(pid)) for pid in sorted({*known, *pids})], tracks))
    for kind in ("slices", "async_slices"):
        for batch in timeline.batches(kind):
            out.write(export.slices(batch))
        out.write(export.finish())
    for batch in timeline.batches("counters"):
        out.write(export.counters(batch))
    for batch in timeline.batches("instants"):
        out.write(export.instants(batch))
