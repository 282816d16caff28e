"""Damaged traces: whatever the bytes are, a reader returns a trace with diagnostics of its losses, or an error."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa

from dctv.contracts.reader import Head, LoadContext, LoadedTrace, Reader
from dctv.errors import TraceError

_PEAK = """
import re, sys
from pathlib import Path
from dctv.errors import DctvError
from dctv.session import Session
try:
    with Session(index=False) as session:
        session.mount(sys.argv[1], "t")
        print("mounted")
except DctvError as error:
    print(error.message)
print(int(re.search(r"VmHWM:\\s+(\\d+)", Path("/proc/self/status").read_text())[1]) // 1024)
"""


def read(reader: Reader, path: Path) -> LoadedTrace | str:
    """Read one file, or the files of a folder, as a format; return the trace, or the error's words.

    Anything raised but a TraceError, a panic of the kernels too, fails the test. With one thread and with two the same
    must come out: what is damaged, and what is left, does not depend on where the work was divided.
    """
    paths = list(reader.folder(path) or []) if path.is_dir() and reader.folder is not None else [path]
    found, alone = (_loaded(reader, paths, threads) for threads in (2, 1))
    assert told(alone) == told(found)
    if isinstance(found, str):
        assert found, path
        assert "panick" not in found, found
    else:
        assert unsound(found) == []
    return found


def _loaded(reader: Reader, paths: list[Path], threads: int) -> LoadedTrace | str:
    try:
        return reader.load(paths, LoadContext({}, threads, lambda _done, _total: None))
    except TraceError as error:
        return error.message


def told(found: LoadedTrace | str) -> object:
    """Return all data of a trace, for comparison with another one."""
    if isinstance(found, str):
        return found
    tables = {name: (table.schema, Rows(table.data)) for name, table in found.tables.items()}
    return tables, found.diagnostics, found.last_ts, found.properties


class Rows:
    """Rows that are equal if their values are, including NaN; the memory behind a NULL does not matter."""

    def __init__(self, table: pa.Table | None) -> None:
        self.table = table

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Rows) or self.table is None or other.table is None:
            return isinstance(other, Rows) and self.table is other.table
        if self.table.schema != other.table.schema:
            return False
        return bool(self.table.equals(other.table)) or repr(self.table.to_pydict()) == repr(other.table.to_pydict())

    def __hash__(self) -> int:
        return 0 if self.table is None else self.table.num_rows


def unsound(trace: LoadedTrace) -> list[str]:
    """Return violations of a trace's contract: times that ascend from 0 to the last one, and columns as declared."""
    wrong = []
    for name, table in trace.tables.items():
        if table.data is None:
            continue
        table.data.validate(full=True)
        if [c.name for c in table.schema.columns] != table.data.column_names:
            wrong.append(f"{name}: columns {table.data.column_names}, told {table.schema.names}")
        if table.event is None or not len(table.data):
            continue
        times = table.data["_ts"].to_pylist()
        if None in times or sorted(times) != times or times[0] < 0 or times[-1] > trace.last_ts:
            wrong.append(f"{name}: times from {times[0]} to {times[-1]}, of a trace that ends at {trace.last_ts}")
    wrong += [f"{one.reason}: {one.count} times" for one in trace.diagnostics if one.count < 1 or not one.reason]
    return wrong


def survives(reader: Reader, path: Path, data: bytes) -> LoadedTrace | str:
    """Write bytes to a file and read it as a format, sniffing it too."""
    path.write_bytes(data)
    reader.sniff(Head(path, data[: 1 << 16], data[: 1 << 16]))
    return read(reader, path)


def truncated(data: bytes, step: int = 1) -> Iterator[bytes]:
    """Yield the beginnings of some bytes, from none to all but one."""
    for size in range(0, len(data), step):
        yield data[:size]


def flipped(data: bytes, *places: tuple[int, int]) -> bytes:
    """Return the bytes with some replaced: (place, value), places counted round and round."""
    found = bytearray(data)
    for place, value in places:
        if found:
            found[place % len(found)] = value & 255
    return bytes(found)


def peak_of(path: Path) -> tuple[str, int]:
    """Mount a trace in a separate process; return `mounted` or the error message, and its peak memory in MiB."""
    done = subprocess.run(
        [sys.executable, "-c", _PEAK, str(path)], capture_output=True, text=True, check=False, timeout=120
    )
    assert done.returncode == 0, done.stderr[-2000:]
    *words, peak = done.stdout.strip().splitlines()
    return "\n".join(words), int(peak)
