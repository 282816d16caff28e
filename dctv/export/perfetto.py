"""Write a timeline as Perfetto's protobuf: tracks, kernel events, slices, counters, instants and arrows."""

from __future__ import annotations

from typing import Any, BinaryIO

from dctv.export.kernel import described
from dctv.export.timeline import ExportedTimeline

_BOOT = 6
_CLOCKS = {
    "realtime": 1,
    "realtime_coarse": 2,
    "monotonic": 3,
    "monotonic_coarse": 4,
    "monotonic_raw": 5,
    "boottime": _BOOT,
}
"""By Perfetto's numbers; other clocks are treated as the boot clock."""


def write(timeline: ExportedTimeline, out: BinaryIO) -> None:
    """Write packets; times are absolute ns. Slices of one lane nest; each lane is a track below its thread's."""
    from dctv._kernels import PerfettoExport

    properties = timeline.properties
    clock = _CLOCKS.get(properties.get("clock", ""), _BOOT)
    unix = int(properties["start_unix_ns"]) if "start_unix_ns" in properties else None
    system = [properties.get(key) for key in ("system", "kernel_build", "kernel", "machine")]
    # No time is negative: rows keep their distances from the start of the trace, and `losses` says so.
    export = PerfettoExport(clock, max(timeline.start_ns, 0), unix, system, described())
    if timeline.last is not None:
        out.write(export.header())
    out.write(export.tracks(*_tracks(timeline)))
    for batch in timeline.batches("kernel"):
        out.write(export.kernel(batch))
    for kind in ("slices", "async_slices"):
        for batch in timeline.batches(kind):
            out.write(export.slices(batch))
        out.write(export.finish())
    for kind, made in (("counters", export.counters), ("instants", export.instants), ("flows", export.flows)):
        for batch in timeline.batches(kind):
            out.write(made(batch))
    if timeline.last is not None:
        out.write(export.trailer(timeline.last))


def _tracks(timeline: ExportedTimeline) -> tuple[list[Any], list[Any]]:
    """Return the descriptions of processes and tracks."""
    kinds: dict[int | None, str] = {one.number: one.kind for one in timeline.tracks}
    places = {(one.what, one.pid, one.tid): one for one in timeline.places}
    tracks = []
    for one in timeline.tracks:
        # Processes have descriptions of their own, and refer to their threads by number.
        below = one.parent if kinds.get(one.parent, "process") not in {"process", "thread"} else None
        place = places.get(("thread_sort_index", one.pid, one.tid))
        order = place.order if place is not None else None
        tracks.append((one.number, one.kind, one.name, one.pid, one.tid, one.unit, below, order))
    process_names = dict(timeline.processes)
    processes = []
    for pid in sorted({*process_names, *(one.pid for one in timeline.tracks if one.pid is not None)}):
        place, labels = places.get(("process_sort_index", pid, None)), places.get(("process_labels", pid, None))
        processes.append((pid, process_names.get(pid), place and place.order, labels and labels.labels))
    return processes, tracks
