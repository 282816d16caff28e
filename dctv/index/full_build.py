"""Build the index and column store of a trace: one pass, then everything is published at once or not at all."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import DecodedChunk, TraceMetadata
from dctv.errors import IndexFailed
from dctv.index.build import (
    Built,
    ChunkSorter,
    MakeSorter,
    WrittenTable,
    failures,
    generation,
    looked_at,
    publish,
    unchanged,
    workspace,
)
from dctv.index.database import ALWAYS, stamp
from dctv.index.identity import Identity
from dctv.index.location import INDEX
from dctv.index.records import IndexLayout
from dctv.index.trace import Trace
from dctv.index.writing import IndexWriter
from dctv.record import field, record, replace


@record(frozen=False)
class PassTally:
    """Counts of a pass."""

    chunks: int = 0
    events: int = 0
    hashes: dict[tuple[int, str, str, str], None] = field(default_factory=dict)


def build(trace: Trace, wanted: IndexLayout, folder: Path, make_sorter: MakeSorter | None) -> Built:
    """Build the index of a trace in a folder that the caller has locked.

    Raises:
        IndexFailed: it cannot be written, or the trace changed during the build.
        TraceError: the trace cannot be read.
    """
    began = time.monotonic()
    with failures(folder), workspace(folder) as work:
        before = looked_at(trace)
        tally, rows = _fill(trace, wanted, work, before, make_sorter)
        unchanged(trace, before)
        index_bytes = (work / INDEX).stat().st_size
        publish(work, folder)
    return Built(tally.chunks, tally.events, index_bytes, sum(row[4] for row in rows), time.monotonic() - began)


def _fill(
    trace: Trace, wanted: IndexLayout, work: Path, files: Sequence[Identity], make_sorter: MakeSorter | None
) -> tuple[PassTally, Sequence[tuple[Any, ...]]]:
    """Write index and store to the workspace, in two passes if the first one learned something too late."""
    hints: Mapping[str, Any] | None = None
    while True:
        attempt = Attempt(trace, wanted, work, files, make_sorter)
        entries, again = attempt.read(hints)
        if again and hints is None:
            attempt.abandon()
            hints = entries
            continue
        return attempt.tally, attempt.finish(entries)


class FileFilters:
    """Build the Bloom filters of whole files, from chunks in trace order.

    A file of one chunk gets none: the chunk's filters are the same.
    """

    def __init__(self, writer: IndexWriter, sizes: Mapping[str, Any]) -> None:
        self._writer = writer
        self._sizes = sizes
        self._file = -1
        self._chunks = 0
        self._collected: Any = None

    def add(self, file: int, rows: Sequence[Mapping[str, Any]]) -> None:
        """Add the dimensions of a chunk."""
        from dctv._kernels import FileBlooms

        if file != self._file:
            self.finish()
            self._file, self._chunks, self._collected = file, 0, FileBlooms(**self._sizes)
        self._chunks += 1
        for row in rows:
            self._collected.add(row["dimension"], row["value_hashes"])

    def finish(self) -> None:
        """Write the filters of the last file."""
        if self._chunks > 1:
            self._writer.file_blooms(self._file, self._collected.finish())


class Attempt:
    """One pass over a trace that writes into the workspace."""

    def __init__(
        self, trace: Trace, wanted: IndexLayout, work: Path, files: Sequence[Identity], make_sorter: MakeSorter | None
    ) -> None:
        self.tally: PassTally = PassTally()
        self._trace = trace
        self._layout = wanted
        self._work = work
        self._writer = IndexWriter(work / INDEX)
        self._writer.create(trace.subject, files)
        self._sorter: ChunkSorter | None = None
        if wanted.store and make_sorter is not None:
            (work / "runs").mkdir()
            self._sorter = make_sorter(work / "runs")

    def read(self, hints: Mapping[str, Any] | None) -> tuple[Mapping[str, Any], bool]:
        """Read all chunks; return the metadata, and whether a second pass with it as hints is needed."""
        wanted, tally = self._layout, self.tally
        dimensions = list(wanted.dimensions.items())
        sizes: dict[str, Any] = {
            "expected_entries": wanted.expected_entries,
            "false_positive_rate": wanted.false_positive_rate,
        }
        filters = FileFilters(self._writer, sizes)
        run = self._trace.chunks.start(self._trace.paths, self._trace.context, hints, self._layout.chunk_bytes)
        try:
            for chunk in run:
                statistics = statistics_of(chunk, dimensions, sizes)
                self._writer.chunk(chunk, statistics)
                file = chunk.checkpoint.file
                filters.add(file, statistics["dimensions"])
                if self._sorter is not None:
                    self._sorter.add(chunk)
                tally.chunks += 1
                tally.events += statistics["statistics"]["total_events"]
                self._trace.counted(tally.events)
                tally.hashes.update(dict.fromkeys((file, *row) for row in chunk.hashes))
                del chunk  # The next one reuses its memory.
            filters.finish()
            return run.metadata(), run.again()
        except BaseException:
            self.abandon()
            raise

    def finish(self, entries: Mapping[str, Any]) -> Sequence[tuple[Any, ...]]:
        """Write the column store, and complete the index; return the rows of `store_tables`."""
        try:
            rows: Sequence[tuple[Any, ...]] = ()
            if self._sorter is not None:
                (self._work / "store").mkdir()
                metadata = TraceMetadata(entries, tuple(self.tally.hashes))
                stored = self._sorter.write(self._trace.chunks, metadata, self._work / "store")
                rows = store_rows(self._work / "store", stored)
                self._sorter.close()
                shutil.rmtree(self._work / "runs", ignore_errors=True)
            self._writer.stored(rows)
            self._writer.indexed([*ALWAYS, *(name for name in self._layout.dimensions if name not in ALWAYS)])
            self._writer.totals(self._layout.chunk_bytes)
            self._writer.layout(self._layout if self._sorter is not None else replace(self._layout, store=False))
            self._writer.record_properties(
                {"facts": json.dumps(entries), "generation": generation(self._work), "built": str(int(time.time()))}
            )
            self._writer.finish()
        except BaseException:
            self.abandon()
            raise
        return rows

    def abandon(self) -> None:
        """Remove the files written so far."""
        self._writer.abandon()
        (self._work / INDEX).unlink(missing_ok=True)
        if self._sorter is not None:
            self._sorter.close()
        shutil.rmtree(self._work / "runs", ignore_errors=True)
        shutil.rmtree(self._work / "store", ignore_errors=True)


def statistics_of(
    chunk: DecodedChunk, dimensions: list[tuple[str, str]], sizes: Mapping[str, Any], *, summary: bool = True
) -> dict[str, Any]:
    """Return the index rows of a chunk.

    Raises:
        IndexFailed: a column cannot be a dimension.
    """
    from dctv._kernels import chunk_statistics

    try:
        return chunk_statistics(list(chunk.events), dimensions, **sizes, summary=summary)
    except ValueError as error:
        raise IndexFailed(f"cannot index the trace: {error}") from None


def store_rows(folder: Path, stored: Sequence[WrittenTable]) -> list[tuple[Any, ...]]:
    """Sync the files of a store to disk; return their rows of `store_tables`."""
    from dctv._kernels import settle_files

    settle_files([str(folder / table.file) for table in stored])
    rows: list[tuple[Any, ...]] = []
    for position, table in enumerate(stored):
        status = (folder / table.file).stat()
        if status.st_size != table.bytes:
            raise IndexFailed(f"`{table.file}` of the store has {status.st_size} bytes instead of {table.bytes}")
        metadata = (table.rows, table.bytes, table.checksum, stamp(status), table.columns)
        rows.append((table.name, position, table.file, *metadata))
    return rows
