"""Write a timeline as Chrome's JSON: slices, counters, instants, arrows, names, and kernel events as ftrace text."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, BinaryIO

from dctv.export.kernel import described
from dctv.export.timeline import ExportedTimeline, ExportedTrack

if TYPE_CHECKING:
    from dctv._kernels import ChromeExport

_MEMBER = 32 << 20
"""The maximum number of bytes of kernel text in one member, to limit the memory of readers."""


def write(timeline: ExportedTimeline, out: BinaryIO) -> None:
    """Write the object form, one event per line; times are absolute us, written without loss."""
    from dctv._kernels import ChromeExport

    places = {one.number: _place(one) for one in timeline.tracks}
    doubles = _doubles(timeline)
    tracks = [(one.number, one.kind, one.name, *places[one.number], one.number in doubles) for one in timeline.tracks]
    export = ChromeExport(tracks, timeline.start_ns, timeline.properties.get("kernel"), described())
    out.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    out.write("".join(f"{line},\n" for line in _names(timeline)).encode())
    if timeline.last is not None:
        out.write(export.bound(0, "start of the trace") + export.bound(timeline.last, "end of the trace"))
    for kind, made in (
        ("slices", export.slices),
        ("async_slices", export.async_slices),
        ("counters", export.counters),
        ("instants", export.instants),
        ("flows", export.flows),
    ):
        for batch in timeline.batches(kind):
            out.write(made(batch))
        out.write(export.finish())
    # An event without meaning ends the array, since every other one is followed by a comma.
    out.write(b'{"ph":"M","name":"trace_end","pid":0,"tid":0,"args":{}}\n],\n')
    _write_kernel(export, timeline, out)
    properties = {f"dctv.{name}": value for name, value in sorted(timeline.properties.items())}
    out.write(f'"otherData":{json.dumps(properties, ensure_ascii=False)}}}\n'.encode("utf-8", "replace"))


def _write_kernel(export: ChromeExport, timeline: ExportedTimeline, out: BinaryIO) -> None:
    """Write kernel events as ftrace text; each member begins with the line by which viewers recognize it."""
    written: int | None = None
    for batch in timeline.batches("kernel"):
        lines = export.kernel(batch)
        if written is None or written + len(lines) > _MEMBER:
            out.write(b'"systemTraceEvents":"' if written is None else b'",\n"systemTraceEvents":"')
            out.write(b"# tracer: nop\\n#\\n")
            written = 0
        out.write(lines)
        written += len(lines)
    if written is not None:
        out.write(b'",\n')


def _place(one: ExportedTrack) -> tuple[int, int]:
    """Return process and thread; tracks that are not threads get unique numbers."""
    pid = one.pid or 0
    if one.kind == "thread" and one.tid is not None:
        return pid, one.tid
    return pid, pid if one.kind in {"counter", "async", "process"} else one.number


def _names(timeline: ExportedTimeline) -> Iterator[str]:
    for pid, name in timeline.processes:
        if name:
            yield _named("process_name", pid, pid, name)
    for one in timeline.tracks:
        if one.kind not in {"counter", "async", "process"} and one.name:
            yield _named("thread_name", *_place(one), one.name)

    for place in timeline.places:
        args: dict[str, object] = {} if place.order is None else {"sort_index": place.order}
        args |= {} if place.labels is None else {"labels": place.labels}
        yield json.dumps({"ph": "M", "name": place.what, "pid": place.pid, "tid": place.tid or 0, "args": args})


def _doubles(timeline: ExportedTimeline) -> set[int]:
    """Return the counters with the same name as an earlier one of their process: they need an id."""
    taken, found = set(), set()
    for one in timeline.tracks:
        if one.kind == "counter":
            key = (one.pid, one.name)
            if key in taken:
                found.add(one.number)
            taken.add(key)
    return found


def _named(what: str, pid: int, tid: int, name: str) -> str:
    event = {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}
    return json.dumps(event, separators=(",", ":"))
