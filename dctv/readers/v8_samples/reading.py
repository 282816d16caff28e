"""Read V8 profiles as chunks of rows: samples with their stacks, and the functions of the call trees."""

from __future__ import annotations

import gzip
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import LINE, RAW, Checkpoint, DecodedChunk
from dctv.contracts.reader import LoadContext
from dctv.readers.v8_samples.tree import ProfileTree, int64_or_none, tree_of
from dctv.record import record
from dctv.types.schema import TS

_MOST = 512 << 20
"""The maximum decompressed size of a profile: it is parsed as one value."""
_US = 1000
_LATEST = 1 << 62

_SAMPLE = [
    (TS, "int", "ns"),
    ("line", "int", ""),
    ("event", "text", ""),
    ("node", "int", ""),
    ("period", "int", ""),
    ("stack", "text", ""),
    ("file", "int", ""),
]
_NODES = [
    ("node", "int", ""),
    ("parent", "int", ""),
    ("name", "text", ""),
    ("url", "text", ""),
    ("line", "int", ""),
    ("column", "int", ""),
    ("own", "int", ""),
    ("stack", "text", ""),
    ("file", "int", ""),
]
_EVENT = {
    "name": "sample",
    "named_by": "event",
    "category": None,
    "pid": None,
    "tid": None,
    "duration": None,
    "args": ["node", "period", "stack", "file"],
}


@record
class _Samples:
    """Times in ns, node numbers, and periods: ns since the previous sample, or bytes."""

    event: str
    times: Sequence[int]
    nodes: Sequence[int | None]
    periods: Sequence[int | None]
    lost: int = 0
    """Invalid samples."""
    cut: bool = False
    """Whether the numbers of times and samples differ."""


class ProfilePass:
    """One pass over profiles."""

    def __init__(self, paths: Sequence[Path], context: LoadContext) -> None:
        self._paths = paths
        self._context = context
        self._notes: list[tuple[int, str, int, str, bool]] = []
        self._range: tuple[int, int] | None = None
        self._line = 0
        self._clock = ""

    def __iter__(self) -> Iterator[DecodedChunk]:
        for file, path in enumerate(self._paths):
            self._context.progress(file, len(self._paths))
            try:
                profile = json.loads(_read(path))
            except ValueError as error:
                raise ValueError(f"cannot read `{path}`: it is not JSON: {error}") from None
            if not isinstance(profile, dict):
                raise ValueError(f"cannot read `{path}`: expected an object with a profile")
            yield self._chunk(file, profile)

    def _chunk(self, file: int, profile: Mapping[str, Any]) -> DecodedChunk:
        tree = tree_of(profile)
        samples = _of_cpu(profile) if "nodes" in profile or "startTime" in profile else _of_heap(profile, tree)
        self._note(file, "node of the call tree is malformed, or is given twice", tree.bad, incomplete=True)
        self._note(file, "stack is too long, that of the function above is used", tree.deep, incomplete=False)
        self._note(file, "sample has no time or size", samples.lost, incomplete=True)
        self._note(file, "there are not as many times as samples", int(samples.cut), incomplete=True)
        if samples.times:
            first, last = min(samples.times), max(samples.times)
            known = self._range or (first, last)
            self._range = min(known[0], first), max(known[1], last)
            self._clock = self._clock or ("monotonic" if samples.event == "cpu" else "none")
        unknown = sum(node not in tree.nodes for node in samples.nodes)
        self._note(file, "sample is of a function that is missing from the call tree", unknown, incomplete=False)
        rows = _sample_rows(samples, tree, file, self._line)
        count = len(samples.times)
        place = Checkpoint(file, 0, 0, 1, 0, 1, 0, None, 0, self._line, count, packed=False)
        self._line += count
        return DecodedChunk(place, [("sample", rows)] if count else [], [("nodes", _node_rows(tree, file))])

    def _note(self, file: int, reason: str, count: int, *, incomplete: bool) -> None:
        if count:
            self._notes.append((file, reason, count, "", incomplete))

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata."""
        first, last = self._range or (0, 0)
        return {
            "start_ns": first,
            "last_ts": last - first,
            "tables": [
                {"name": f"{RAW}sample", "columns": _SAMPLE, "event": _EVENT},
                {"name": "nodes", "columns": _NODES, "event": None},
            ],
            "diagnostics": self._notes,
            "properties": {"clock": self._clock or "none"},
        }


def _read(path: Path) -> bytes:
    """Return the decompressed contents of a file.

    Raises:
        ValueError: it is too large or damaged.
    """
    with path.open("rb") as raw:
        packed = raw.read(2) == b"\x1f\x8b"
    with gzip.open(path) if packed else path.open("rb") as file:
        try:
            text = file.read(_MOST + 1)
        except (EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise ValueError(f"cannot read `{path}`: {str(error).lower()}") from None
    if len(text) > _MOST:
        raise ValueError(f"cannot read `{path}`: it has more than {_MOST >> 20} MiB")
    return text.removeprefix(b"\xef\xbb\xbf")


def _of_cpu(profile: Mapping[str, Any]) -> _Samples:
    """Return CPU samples: times are in microseconds, except the start of old profiles, in seconds."""
    nodes = _list(profile, "samples")
    begin = profile.get("startTime", 0)
    stamps, deltas = _list(profile, "timestamps"), _list(profile, "timeDeltas")
    if stamps:
        start, times = None, [_ns(stamp) for stamp in stamps]
    else:
        lengths = [_ns(delta) for delta in deltas]
        start = _ns(begin)
        timed = start is not None and None not in lengths
        sums = accumulate(length or 0 for length in lengths)
        times = [(start or 0) + since for since in sums] if timed else [None] * len(lengths)
    samples = list(zip(times, nodes, strict=False))
    valid = [(t, int64_or_none(node)) for t, node in samples if t is not None and abs(t) < _LATEST]
    valid_times = [time for time, _ in valid]
    return _Samples(
        "cpu",
        valid_times,
        [node for _, node in valid],
        _periods(valid_times, start),
        len(samples) - len(valid),
        cut=len(times) != len(nodes),
    )


def _periods(times: Sequence[int], start: int | None) -> list[int | None]:
    """Return how long each sample is after the one before it in time: V8 does not always write them in order."""
    periods: list[int | None] = [None] * len(times)
    previous = start
    for place in sorted(range(len(times)), key=times.__getitem__):
        if previous is not None and previous <= times[place]:
            periods[place] = times[place] - previous
        previous = times[place]
    return periods


def _of_heap(profile: Mapping[str, Any], tree: ProfileTree) -> _Samples:
    """Return heap samples; if a profile has none, the self sizes of its functions."""
    listed = _list(profile, "samples")
    if "samples" in profile:
        allocations = [
            (int64_or_none(one.get("nodeId")), int64_or_none(one.get("size")))
            for one in listed
            if isinstance(one, dict)
        ]
    else:
        allocations = [(node.number, node.own) for node in tree.nodes.values() if node.own]
    valid = [(node, size) for node, size in allocations if size is not None]
    lost = max(len(listed), len(allocations)) - len(valid)
    return _Samples("heap", [0] * len(valid), [node for node, _ in valid], [size for _, size in valid], lost)


def _list(profile: Mapping[str, Any], name: str) -> list[Any]:
    found = profile.get(name)
    return found if isinstance(found, list) else []


def _ns(value: object) -> int | None:
    """Convert microseconds to ns."""
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not isinstance(value, int | float) or not abs(value) < _LATEST // _US:
        return None
    return value * _US if isinstance(value, int) else round(value * _US)


def _sample_rows(samples: _Samples, tree: ProfileTree, file: int, line: int) -> Any:
    import pyarrow as pa

    count = len(samples.times)
    numbers = {number: place for place, number in enumerate(tree.nodes)}
    stacks = pa.array([node.stack for node in tree.nodes.values()], pa.string())
    places = pa.array([numbers.get(node) if node is not None else None for node in samples.nodes], pa.int32())
    columns = [
        pa.array(samples.times, pa.int64()),
        pa.array(range(line, line + count), pa.int64()),
        pa.repeat(pa.scalar(samples.event, pa.string()), count),
        pa.array(samples.nodes, pa.int64()),
        pa.array(samples.periods, pa.int64()),
        stacks.take(places),
        pa.repeat(pa.scalar(file, pa.int64()), count),
        pa.array(range(count), pa.uint32()),
    ]
    return pa.record_batch(columns, names=[*(name for name, _, _ in _SAMPLE), LINE])


def _node_rows(tree: ProfileTree, file: int) -> Any:
    import pyarrow as pa

    nodes = tree.nodes.values()
    values: list[list[Any]] = [
        [one.number for one in nodes],
        [one.parent for one in nodes],
        [one.name for one in nodes],
        [one.url for one in nodes],
        [one.line for one in nodes],
        [one.column for one in nodes],
        [one.own for one in nodes],
        [one.stack for one in nodes],
        [file] * len(nodes),
    ]
    kinds = {"int": pa.int64(), "text": pa.string()}
    columns = [pa.array(given, kinds[kind]) for given, (_, kind, _) in zip(values, _NODES, strict=True)]
    return pa.record_batch(columns, names=[name for name, _, _ in _NODES])
