"""Convert text to Arrow arrays of its lines and back, to count, select and interleave lines without a loop."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa


def lines_of(text: bytes) -> pa.LargeBinaryArray:
    """Return the lines of a text with their newlines; the last one may have none."""
    import numpy as np
    import pyarrow as pa

    ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n")) + 1
    if text and (not len(ends) or ends[-1] != len(text)):
        ends = np.append(ends, len(text))
    offsets = np.concatenate([np.zeros(1, np.int64), ends.astype(np.int64)])
    buffers = [None, pa.py_buffer(offsets), pa.py_buffer(text)]
    return pa.LargeBinaryArray.from_buffers(pa.large_binary(), len(ends), buffers)


def text_of(lines: pa.LargeBinaryArray) -> bytes:
    """Concatenate lines."""
    import numpy as np

    _, offsets, data = lines.buffers()
    if data is None or not len(lines):
        return b""
    ends = np.frombuffer(offsets, np.int64)[lines.offset : lines.offset + len(lines) + 1]
    return bytes(memoryview(data)[ends[0] : ends[-1]])


def chosen(lines: pa.LargeBinaryArray, places: np.ndarray[Any, Any]) -> pa.LargeBinaryArray:
    """Return the lines at some indexes."""
    import pyarrow as pa

    return lines.take(pa.array(places))


def interleaved(parts: dict[int, pa.LargeBinaryArray], homes: np.ndarray[Any, Any]) -> pa.LargeBinaryArray:
    """Interleave the lines of parts; `homes` names the part of each line in order.

    Raises:
        ValueError: a part has more or fewer lines than `homes` names.
    """
    import numpy as np
    import pyarrow as pa

    places = np.empty(len(homes), np.int64)
    before = 0
    for home, lines in parts.items():
        own = np.flatnonzero(homes == home)
        if len(own) != len(lines):
            raise ValueError(f"{len(lines)} lines where {len(own)} are expected")
        places[own] = np.arange(before, before + len(own))
        before += len(own)
    if before != len(homes):
        raise ValueError(f"{before} lines where {len(homes)} are expected")
    return pa.concat_arrays(parts.values()).take(pa.array(places)) if parts else lines_of(b"")
