"""Turns a trace into its index and column store: one pass, then everything is published at once or not at all."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from secrets import token_hex
from typing import Any, Protocol

from dctv.contracts.chunks import CHUNK_BYTES, DecodedChunk, Known
from dctv.contracts.reader import Chunks, LoadContext, Reader
from dctv.errors import IndexFailed, UsageError, nearest
from dctv.index.database import ALWAYS, stamp
from dctv.index.identity import Identity, identities
from dctv.index.location import INDEX, Subject, subject
from dctv.index.records import Layout
from dctv.index.seal import checksum
from dctv.index.writing import IndexWriter

WORKSPACE = "building-"
"""How folders of builders begin; nothing in them counts."""

STORE = "store-"
"""How folders of column stores begin; the generation follows."""


@dataclass(frozen=True, slots=True)
class Settings:
    """What a person can choose of an index."""

    dimensions: tuple[str, ...] = ()
    """Besides those of the format: `args.size`."""
    expected_entries: int = 1024
    false_positive_rate: float = 0.01
    store: bool = True
    chunk_bytes: int = CHUNK_BYTES


@dataclass(frozen=True, slots=True)
class Trace:
    """A trace that is to be indexed; the context's `progress` is called during passes."""

    paths: tuple[Path, ...]
    reader: Reader
    context: LoadContext
    counted: Callable[[int], None] = lambda _: None
    """Called with how many events there were so far."""

    @property
    def about(self) -> Subject:
        """What its index is of."""
        return subject(self.paths, self.reader.name, self.context.options)

    @property
    def chunks(self) -> Chunks:
        """How it is read in chunks.

        Raises:
            IndexFailed: its format has no chunks.
        """
        if self.reader.chunks is None:
            raise IndexFailed(f"traces of format `{self.reader.name}` cannot be indexed")
        return self.reader.chunks


@dataclass(frozen=True, slots=True)
class Stored:
    """A table that was written to a file of the column store."""

    name: str
    file: str
    """Name in the store's folder."""
    rows: int
    columns: str
    """Whatever is to be known of its columns, as JSON."""


class Spool(Protocol):
    """Collects the rows of all chunks, and writes them to the column store in order."""

    def add(self, chunk: DecodedChunk) -> None:
        """Take a chunk, in the order of the trace."""
        ...

    def write(self, chunks: Chunks, known: Known, folder: Path) -> Sequence[Stored]:
        """Write all tables to a folder that is there; after the last chunk."""
        ...

    def close(self) -> None:
        """Free everything."""
        ...


MakeSpool = Callable[[Path], Spool]
"""Begin to collect; the folder, which is there, is for what does not fit into memory."""


@dataclass(slots=True)
class Tally:
    """What a pass has come to."""

    chunks: int = 0
    events: int = 0
    hashes: dict[tuple[int, str, str, str], None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Built:
    """What was built."""

    chunks: int
    events: int
    index_bytes: int
    store_bytes: int
    seconds: float


def layout(trace: Trace, settings: Settings) -> Layout:
    """Return how an index of a trace is to be built.

    Raises:
        UsageError: there is no such dimension.
    """
    dimensions = dict(trace.chunks.dimensions)
    for name in settings.dimensions:
        if name.startswith("args.") and len(name) > len("args."):
            dimensions[name] = name.removeprefix("args.")
        elif name not in dimensions and name not in ALWAYS:
            close = nearest(name, [*ALWAYS, *dimensions])
            hint = f"try `{close}`" if close else f"write `args.{name}` for an argument of events"
            raise UsageError(f"found no dimension `{name}` in traces of format `{trace.reader.name}`", hint=hint)
    rest = (settings.expected_entries, settings.false_positive_rate, settings.chunk_bytes, settings.store)
    return Layout(dimensions, *rest)


def build(trace: Trace, wanted: Layout, folder: Path, make_spool: MakeSpool | None) -> Built:
    """Build the index of a trace in a folder that the caller has locked.

    Raises:
        IndexFailed: it cannot be written, or the trace changed meanwhile.
        TraceError: the trace cannot be read.
    """
    began = time.monotonic()
    with failures(folder), workspace(folder) as work:
        before = looked_at(trace)
        tally, rows = _fill(trace, wanted, work, before, make_spool)
        unchanged(trace, before)
        index_bytes = (work / INDEX).stat().st_size
        publish(work, folder)
    return Built(tally.chunks, tally.events, index_bytes, sum(row[4] for row in rows), time.monotonic() - began)


def _fill(
    trace: Trace, wanted: Layout, work: Path, files: Sequence[Identity], make_spool: MakeSpool | None
) -> tuple[Tally, Sequence[tuple[Any, ...]]]:
    """Write index and store to the workspace, in two passes if the first one learnt something too late."""
    hints: Mapping[str, Any] | None = None
    while True:
        attempt = Attempt(trace, wanted, work, files, make_spool)
        facts, again = attempt.read(hints)
        if again and hints is None:
            attempt.abandon()
            hints = facts
            continue
        return attempt.tally, attempt.finish(facts)


class Attempt:
    """One pass over a trace, into the workspace."""

    def __init__(
        self, trace: Trace, wanted: Layout, work: Path, files: Sequence[Identity], make_spool: MakeSpool | None
    ) -> None:
        self.tally = Tally()
        self._trace = trace
        self._layout = wanted
        self._work = work
        self._writer = IndexWriter(work / INDEX)
        self._writer.create(trace.about, files)
        self._spool: Spool | None = None
        if wanted.store and make_spool is not None:
            (work / "runs").mkdir()
            self._spool = make_spool(work / "runs")

    def read(self, hints: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], bool]:
        """Read all chunks; return the facts, and whether they must be read again with these as hints."""
        from dctv._kernels import FileBlooms, chunk_statistics

        wanted, tally = self._layout, self.tally
        dimensions = list(wanted.dimensions.items())
        sizes: dict[str, Any] = {
            "expected_entries": wanted.expected_entries,
            "false_positive_rate": wanted.false_positive_rate,
        }
        blooms: dict[int, Any] = {}
        run = self._trace.chunks.start(self._trace.paths, self._trace.context, hints)
        try:
            for chunk in run:
                statistics = chunk_statistics(list(chunk.events), dimensions, **sizes)
                self._writer.chunk(chunk, statistics)
                at = chunk.checkpoint
                if at.file not in blooms:
                    self._file_blooms(blooms)
                    blooms[at.file] = FileBlooms(**sizes)
                for row in statistics["dimensions"]:
                    blooms[at.file].add(row["dimension"], row["value_hashes"])
                if self._spool is not None:
                    self._spool.add(chunk)
                tally.chunks += 1
                tally.events += statistics["statistics"]["total_events"]
                self._trace.counted(tally.events)
                tally.hashes.update(dict.fromkeys((at.file, *row) for row in chunk.hashes))
            self._file_blooms(blooms)
            return run.facts(), run.again()
        except BaseException:
            self.abandon()
            raise

    def _file_blooms(self, blooms: dict[int, Any]) -> None:
        """Write the filters of the file that came to its end."""
        while blooms:
            file, collected = blooms.popitem()
            self._writer.file_blooms(file, collected.finish())

    def finish(self, facts: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Write the column store, and complete the index; return the rows of `store_tables`."""
        import json

        try:
            rows: Sequence[tuple[Any, ...]] = ()
            if self._spool is not None:
                (self._work / "store").mkdir()
                known = Known(facts, tuple(self.tally.hashes))
                stored = self._spool.write(self._trace.chunks, known, self._work / "store")
                rows = store_rows(self._work / "store", stored)
                self._spool.close()
            self._writer.stored(rows)
            self._writer.indexed([*ALWAYS, *(name for name in self._layout.dimensions if name not in ALWAYS)])
            self._writer.totals(self._layout.chunk_bytes)
            self._writer.layout(self._layout if self._spool is not None else replace(self._layout, store=False))
            self._writer.tell(
                {"facts": json.dumps(facts), "generation": generation(self._work), "built": str(int(time.time()))}
            )
            self._writer.finish()
        except BaseException:
            self.abandon()
            raise
        return rows

    def abandon(self) -> None:
        """Remove what was written."""
        self._writer.abandon()
        (self._work / INDEX).unlink(missing_ok=True)
        if self._spool is not None:
            self._spool.close()
        shutil.rmtree(self._work / "runs", ignore_errors=True)
        shutil.rmtree(self._work / "store", ignore_errors=True)


def looked_at(trace: Trace) -> list[Identity]:
    """Return what the files are now.

    Raises:
        IndexFailed: one of them cannot be read.
    """
    try:
        return identities(trace.paths)
    except OSError as error:
        raise IndexFailed(f"cannot read `{error.filename}`: {(error.strerror or str(error)).lower()}") from None


def unchanged(trace: Trace, before: Sequence[Identity]) -> None:
    """Make sure that a trace is as it was.

    Raises:
        IndexFailed: it is not.
    """
    for path, was, now in zip(trace.paths, before, looked_at(trace), strict=True):
        if was != now:
            raise IndexFailed(f"`{path}` changed while it was indexed", hint="index it when nobody writes it any more")


def store_rows(folder: Path, stored: Sequence[Stored]) -> list[tuple[Any, ...]]:
    """Bring the files of a store to the disk; return their rows of `store_tables`."""
    rows = []
    for position, table in enumerate(stored):
        file = os.open(folder / table.file, os.O_RDONLY | os.O_CLOEXEC)
        try:
            os.fsync(file)
            found = os.fstat(file)
            size = found.st_size
            told = (checksum(file, size), stamp(found), table.columns)
        finally:
            os.close(file)
        rows.append((table.name, position, table.file, table.rows, size, *told))
    return rows


@contextmanager
def workspace(folder: Path) -> Iterator[Path]:
    """Make a folder to build in, and remove it with all that was not published."""
    work = folder / f"{WORKSPACE}{os.getpid()}-{token_hex(8)}"
    work.mkdir()
    try:
        yield work
    finally:
        shutil.rmtree(work, ignore_errors=True)


def generation(work: Path) -> str:
    """Return how the store that is made in a workspace is called apart from others."""
    return work.name.rpartition("-")[2]


def publish(work: Path, folder: Path) -> None:
    """Put a finished workspace in place; the index's own name comes last, and with it everything counts."""
    store = work / "store"
    if store.is_dir():
        _sync(store)
        store.rename(folder / f"{STORE}{generation(work)}")
        _sync(folder)
    (work / INDEX).replace(folder / INDEX)
    _sync(folder)


def _sync(folder: Path) -> None:
    file = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(file)
    finally:
        os.close(file)


@contextmanager
def failures(folder: Path) -> Iterator[None]:
    """Turn what a disk can do to a builder into an error in words."""
    try:
        yield
    except OSError as error:
        what = (error.strerror or str(error)).lower()
        raise IndexFailed(f"cannot write the index in `{folder}`: {what}") from None
    except sqlite3.Error as error:
        raise IndexFailed(f"cannot write the index in `{folder}`: {error}") from None
