"""Parts of an index build: settings, the trace, a sorter, a workspace, and publishing."""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Protocol

from dctv.contracts.chunks import CHUNK_BYTES, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader
from dctv.errors import IndexFailed, UsageError, nearest
from dctv.index.database import ALWAYS
from dctv.index.identity import Identity, identities
from dctv.index.location import INDEX
from dctv.index.records import IndexLayout
from dctv.index.trace import Trace
from dctv.record import record

WORKSPACE = "building-"
"""Prefix of builders' folders; readers ignore these."""

STORE = "store-"
"""Prefix of column store folders; the generation follows."""


@record
class IndexSettings:
    """Choices of the user about an index."""

    dimensions: tuple[str, ...] = ()
    """In addition to those of the format: `args.size`."""
    expected_entries: int = 1024
    false_positive_rate: float = 0.01
    store: bool = True
    chunk_bytes: int = CHUNK_BYTES


@record
class WrittenTable:
    """A table that has been written to a file of the column store."""

    name: str
    file: str
    """Name in the store's folder."""
    rows: int
    bytes: int
    """The size of the file."""
    checksum: int
    """CRC-32 of the file."""
    columns: str
    """Metadata of its columns, as JSON."""


class ChunkSorter(Protocol):
    """A sorter that collects the rows of all chunks, and writes them to the column store."""

    def add(self, chunk: DecodedChunk) -> None:
        """Add a chunk, in trace order."""

    def write(self, chunks: ChunkReader, metadata: TraceMetadata, folder: Path) -> Sequence[WrittenTable]:
        """Write all tables to an existing folder; after the last chunk."""

    def close(self) -> None:
        """Release all resources."""


MakeSorter = Callable[[Path], ChunkSorter]
"""Create a sorter; the folder, which exists, is for rows that do not fit into memory."""


@record
class Built:
    """Counts of a finished build."""

    chunks: int
    events: int
    index_bytes: int
    store_bytes: int
    seconds: float


def layout(trace: Trace, settings: IndexSettings) -> IndexLayout:
    """Return how to build the index of a trace.

    Raises:
        UsageError: there is no such dimension, or the format requires a store.
    """
    if not settings.store and trace.chunks.decode is None:
        raise UsageError(
            f"traces of format `{trace.reader.name}` are only read as a whole, so their index needs a store"
        )
    dimensions = dict(trace.chunks.dimensions)
    for name in settings.dimensions:
        if name.startswith("args.") and len(name) > len("args."):
            dimensions[name] = name.removeprefix("args.")
        elif name not in dimensions and name not in ALWAYS:
            close = nearest(name, [*ALWAYS, *dimensions])
            hint = f"try `{close}`" if close else f"write `args.{name}` for an argument of events"
            raise UsageError(f"found no dimension `{name}` in traces of format `{trace.reader.name}`", hint=hint)
    rest = (settings.expected_entries, settings.false_positive_rate, settings.chunk_bytes, settings.store)
    return IndexLayout(dimensions, *rest)


def looked_at(trace: Trace) -> list[Identity]:
    """Return the current identities of the files.

    Raises:
        IndexFailed: one of them cannot be read.
    """
    try:
        return identities(trace.paths)
    except OSError as error:
        raise IndexFailed(f"cannot read `{error.filename}`: {reason(error)}") from None


def unchanged(trace: Trace, before: Sequence[Identity]) -> None:
    """Check that a trace has not changed.

    Raises:
        IndexFailed: it has.
    """
    for path, was, now in zip(trace.paths, before, looked_at(trace), strict=True):
        if was != now:
            raise IndexFailed(f"`{path}` changed while it was indexed", hint="index it once it is complete")


@contextmanager
def workspace(folder: Path) -> Iterator[Path]:
    """Create a folder to build in; on exit remove it with everything that was not published."""
    work = folder / f"{WORKSPACE}{os.getpid()}-{os.urandom(8).hex()}"
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def generation(work: Path) -> str:
    """Return the generation of the store that is built in a workspace, which names its folder."""
    return work.name.rpartition("-")[2]


def publish(work: Path, folder: Path) -> None:
    """Publish a finished workspace; the index file is renamed last, and makes everything valid."""
    store = work / "store"
    if store.is_dir():
        sync(store)
        store.rename(folder / f"{STORE}{generation(work)}")
        sync(folder)
    (work / INDEX).replace(folder / INDEX)
    sync(folder)


def sync(folder: Path) -> None:
    """Sync the entries of a folder to disk."""
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def reason(error: OSError) -> str:
    """Return the system's error message, without what libraries wrap around it."""
    return (os.strerror(error.errno) if error.errno else str(error)).lower()


@contextmanager
def failures(folder: Path) -> Iterator[None]:
    """Convert disk errors of a builder to errors for users."""
    try:
        yield
    except OSError as error:
        raise IndexFailed(f"cannot write the index in `{folder}`: {reason(error)}") from None
    except sqlite3.Error as error:
        raise IndexFailed(f"cannot write the index in `{folder}`: {error}") from None
