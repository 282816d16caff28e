"""A timeline -> Chrome's JSON: complete events, counters, instants, names of threads and processes."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import BinaryIO

from dctv.export.timeline import Timeline, Track


def write(timeline: Timeline, out: BinaryIO) -> None:
    """Write the object form, one event a line; times are absolute us, written without loss."""
    from dctv._kernels import ChromeExport

    places = {one.number: _place(one) for one in timeline.tracks}
    tracks = [(one.number, one.name, *places[one.number]) for one in timeline.tracks]
    export = ChromeExport(tracks, timeline.start_ns)
    out.write(b'{"displayTimeUnit":"ns","traceEvents":[\n')
    out.write("".join(f"{line},\n" for line in _names(timeline)).encode())
    for kind, made in (
        ("slices", export.slices),
        ("async_slices", export.async_slices),
        ("counters", export.counters),
        ("instants", export.instants),
    ):
        for batch in timeline.batches(kind):
            out.write(made(batch))
    # An event without meaning ends the list, since every other one is followed by a comma.
    out.write(b'{"ph":"M","name":"trace_end","pid":0,"tid":0,"args":{}}\n],\n')
    told = {f"dctv.{name}": value for name, value in sorted(timeline.properties.items())}
    out.write(f'"otherData":{json.dumps(told, ensure_ascii=False)}}}\n'.encode("utf-8", "replace"))


def _place(one: Track) -> tuple[int, int]:
    """Return process and thread: tracks that are no threads get numbers of their own."""
    pid = one.pid or 0
    if one.kind == "thread" and one.tid is not None:
        return pid, one.tid
    return pid, pid if one.kind in {"counter", "async", "process"} else one.number


def _names(timeline: Timeline) -> Iterator[str]:
    for pid, name in timeline.processes:
        if name:
            yield _named("process_name", pid, pid, name)
    for one in timeline.tracks:
        if one.kind not in {"counter", "async", "process"} and one.name:
            yield _named("thread_name", *_place(one), one.name)


def _named(what: str, pid: int, tid: int, name: str) -> str:
    event = {"ph": "M", "name": what, "pid": pid, "tid": tid, "args": {"name": name}}
    return json.dumps(event, separators=(",", ":"))
