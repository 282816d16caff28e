"""Store timelines in memory-mapped files: columns and indexes in their in-memory form.

Arrays follow each other, little-endian, aligned to 64 bytes; indexes larger than a page are aligned to 4,096 bytes, so
that their pages match those of the file. After them come a directory in JSON, which describes them, and 32 bytes:
offset, length and CRC-32 of the directory, four zeros, the magic.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Iterator, Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any, BinaryIO

from dctv.errors import FileDamaged, FileOfAnother
from dctv.timeline.gathering import FoundTrack, GatheredRows
from dctv.timeline.indexed import Indexed, IndexedLanes, part_of
from dctv.timeline.track import TrackKind

_MAGIC = b"dctvzoom"
_END = struct.Struct("<QQI4x8s")
_VERSION = 2
_ALIGNED = 64
_PAGE = 4096


def write(path: Path, identity: bytes, sources: Sequence[Indexed]) -> None:
    """Write a new file.

    Raises:
        OSError: it cannot be written, or already exists.
    """
    from dctv import _kernels  # compiled; only needed when a timeline is built

    with path.open("xb") as file:
        written = [_written(file, source) for source in sources]
        directory = json.dumps({"version": _VERSION, "identity": identity.hex(), "sources": written}).encode()
        begin = file.tell()
        file.write(directory)
        file.write(_END.pack(begin, len(directory), _kernels.crc32(directory), _MAGIC))


def _written(file: BinaryIO, source: Indexed) -> dict[str, object]:
    import numpy as np
    import pyarrow as pa

    rows = source.rows
    sink = pa.BufferOutputStream()
    names = pa.record_batch({"name": rows.names})
    with pa.ipc.new_stream(sink, names.schema) as writer:
        writer.write_batch(names)
    return {
        "source": rows.source,
        "tracks": [[one.path, one.ranks, one.kind.value, one.unit, one.first, one.lanes] for one in rows.tracks],
        "begin": _write(file, rows.begin, "<i8"),
        "duration": _write(file, rows.duration, "<i8"),
        "counts": _write(file, np.diff(rows.offsets), "<i8"),
        "codes": _write(file, rows.codes, "<i4"),
        "names": _write(file, sink.getvalue(), "<u1"),
        "values": None if rows.values is None else _write(file, rows.values, "<f8"),
        "parts": [_described(file, part) for part in source.parts],
    }


def _described(file: BinaryIO, part: IndexedLanes) -> dict[str, object]:
    import pyarrow as pa

    return {
        "lanes": [part.first, part.end],
        "index": _write(file, pa.array(part.lanes.index).to_numpy(), "<u8"),
        "numbers": None if part.numbers is None else _write(file, part.numbers, "<i4"),
        "states": None if part.states is None else part.states.tolist(),
    }


def _write(file: BinaryIO, values: Any, form: str) -> list[int]:
    """Write an array; return its offset and length."""
    import numpy as np

    found = np.frombuffer(values, form) if form == "<u1" else np.ascontiguousarray(values, form)
    paged = form == "<u8" and found.nbytes > _PAGE
    file.write(bytes(-file.tell() % (_PAGE if paged else _ALIGNED)))
    begin = file.tell()
    file.write(found.data if len(found) else b"")
    return [begin, len(found)]


def read(path: Path, identity: bytes) -> list[Indexed]:
    """Map a file.

    Raises:
        OSError: it cannot be read.
        FileOfAnother: it is intact, but of another version or trace.
        FileDamaged: it is damaged.
    """
    with path.open("rb") as file:
        try:
            mapped = mmap(file.fileno(), 0, access=ACCESS_READ)
        except ValueError:
            raise _damaged(path) from None
    directory = _directory(path, mapped)
    if directory.get("version") != _VERSION or directory.get("identity") != identity.hex():
        raise FileOfAnother(f"the timeline `{path}` is of another trace")
    try:
        return [_opened(mapped, source) for source in directory["sources"]]
    except (KeyError, TypeError, ValueError, IndexError, OSError):
        raise _damaged(path) from None


def _directory(path: Path, mapped: mmap) -> dict[str, Any]:
    from dctv import _kernels

    if len(mapped) < _END.size:
        raise _damaged(path)
    begin, length, checksum, magic = _END.unpack(mapped[-_END.size :])
    directory = mapped[begin : begin + length]
    if magic != _MAGIC or begin + length + _END.size != len(mapped) or _kernels.crc32(directory) != checksum:
        raise _damaged(path)
    found: dict[str, Any] = json.loads(directory)
    return found


def _damaged(path: Path) -> FileDamaged:
    return FileDamaged(f"the timeline `{path}` is damaged")


def _opened(mapped: mmap, directory: dict[str, Any]) -> Indexed:
    import numpy as np
    import pyarrow as pa

    def array(place: list[int], form: str) -> Any:
        return np.frombuffer(mapped, form, place[1], place[0])

    with pa.ipc.open_stream(pa.py_buffer(array(directory["names"], "<u1"))) as reader:
        names = reader.read_all()["name"].combine_chunks()
    rows = GatheredRows(
        directory["source"],
        tuple(
            FoundTrack(tuple(path), tuple(ranks), TrackKind(kind), unit, first, lanes)
            for path, ranks, kind, unit, first, lanes in directory["tracks"]
        ),
        array(directory["begin"], "<i8"),
        array(directory["duration"], "<i8"),
        np.concatenate([[0], np.cumsum(array(directory["counts"], "<i8"))]),
        array(directory["codes"], "<i4"),
        names,
        None if directory["values"] is None else array(directory["values"], "<f8"),
    )
    return Indexed(rows, list(_parts(rows, directory["parts"], array)))


def _parts(rows: GatheredRows, directory: list[dict[str, Any]], array: Any) -> Iterator[IndexedLanes]:
    import numpy as np

    counters = {track.first for track in rows.tracks if track.kind is TrackKind.COUNTER}
    for part in directory:
        states = None
        if part["numbers"] is not None:
            states = array(part["numbers"], "<i4"), np.array(part["states"], np.int32)
        first, end = part["lanes"]
        words = array(part["index"], "<u8")
        yield part_of(rows, (first, end), values=first in counters, states=states, words=words)
