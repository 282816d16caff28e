"""Read an open index lazily."""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import zlib
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

from dctv.contracts.chunks import Checkpoint, TraceMetadata
from dctv.errors import IndexUnusable, reason_of
from dctv.index.identity import Identity
from dctv.index.location import INDEX
from dctv.index.records import (
    Bloom,
    Chunk,
    ChunkSummary,
    DimensionStatistics,
    IndexedFile,
    IndexLayout,
    StoredFile,
)
from dctv.index.seal import checksum
from dctv.record import replace

ALWAYS = ("name", "ts", "dur")
"""Dimensions that every index has."""

_SUMMARIES = """
    SELECT total_events, min_timestamp_ns, max_timestamp_ns, max_end_ns, duration_sum_ns, duration_min_ns,
        duration_max_ns, duration_count, duration_mean, duration_m2, duration_sketch, duration_histogram,
        name_duration_sketches, name_duration_histograms, name_duration_sums, name_duration_sum_sqs,
        name_duration_counts, name_duration_ranges, name_category
    FROM chunk_statistics ORDER BY file_info_id, checkpoint_idx"""

_CHECKPOINTS = """
    SELECT file_id, checkpoint_idx, uc_offset, uc_size, c_offset, c_size, bits, dict_compressed, skip,
        first_line_num, num_lines, packed
    FROM checkpoints ORDER BY file_id, checkpoint_idx"""

_ONE_CHECKPOINT = """
    SELECT file_id, checkpoint_idx, uc_offset, uc_size, c_offset, c_size, bits, dict_compressed, skip,
        first_line_num, num_lines, packed
    FROM checkpoints WHERE file_id = ? AND checkpoint_idx = ?"""


_ANEW = "index the trace again"


class Closing(Protocol):
    """A resource that must be closed."""

    def close(self) -> None:
        """Release it."""


class Index:
    """An open index; thread-safe. Lists are by the position of the chunk.

    Methods raise `IndexUnusable` if the file turns out to be damaged.
    """

    def __init__(self, folder: Path, connection: sqlite3.Connection) -> None:
        self.folder = folder
        self.path: Path = folder / INDEX
        self._connection = connection
        self._lock = threading.RLock()
        self._held: Closing | None = None
        self._verified: dict[str, str] = {}
        self._texts: dict[str, Mapping[str, frozenset[str]]] = {}
        self._dimensions: dict[str, Sequence[DimensionStatistics] | None] = {}
        self.about: Mapping[str, str] = dict(self._rows("SELECT key, value FROM about"))

    def keep_lock(self, lock: Closing | None) -> None:
        """Hold a lock until the index is closed."""
        self._held = lock

    def close(self) -> None:
        """Close the file and release the lock; the index must not be used after that."""
        with self._lock:
            self._connection.close()
            if self._held is not None:
                self._held.close()
                self._held = None

    def _rows(self, query: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            with self._lock:
                return self._connection.execute(query, values).fetchall()
        except UnicodeEncodeError:
            # No trace contains a text with an unpaired surrogate.
            return []
        except sqlite3.Error as error:
            raise IndexUnusable(f"the index `{self.path}` is damaged: {error}") from None

    @property
    def generation(self) -> str:
        """Changes whenever the column store is rewritten."""
        return self.about["generation"]

    @cached_property
    def layout(self) -> IndexLayout:
        """How it was built."""
        return IndexLayout(**json.loads(self.about["layout"]))

    @cached_property
    def files(self) -> Sequence[IndexedFile]:
        """The files of the trace, by number."""
        query = """
            SELECT f.id, logical_name, byte_size, mtime_ns, hash, total_lines, total_uc_size,
                (SELECT count(*) FROM checkpoints AS c WHERE c.file_id = f.id)
            FROM files AS f JOIN metadata AS m ON m.file_id = f.id ORDER BY f.id"""
        files, first = [], 0
        for number, name, size, mtime, found, lines, text_bytes, chunks in self._rows(query):
            path = Path(os.fsdecode(name) if isinstance(name, bytes) else name)
            identity = Identity(size, mtime, found)
            files.append(IndexedFile(number, path, identity, lines, text_bytes, range(first, first + chunks)))
            first += chunks
        return tuple(files)

    @cached_property
    def chunks(self) -> Sequence[Chunk]:
        """All chunks, in the order of files and positions."""
        query = """
            SELECT file_id, checkpoint_idx, uc_offset, uc_size, c_offset, c_size, first_line_num, num_lines
            FROM checkpoints ORDER BY file_id, checkpoint_idx"""
        return tuple(Chunk(*row) for row in self._rows(query))

    @cached_property
    def _positions(self) -> Mapping[tuple[int, int], int]:
        return {(chunk.file, chunk.number): i for i, chunk in enumerate(self.chunks)}

    def checkpoints(self, positions: Iterable[int] | None = None) -> list[Checkpoint]:
        """Return the decoder checkpoints of some chunks, or all of them, ascending."""
        wanted = None if positions is None else set(positions)
        some = wanted is not None and len(wanted) <= len(self.chunks) // 4
        if some and wanted is not None:
            keys = [(self.chunks[i].file, self.chunks[i].number) for i in sorted(wanted)]
            rows = [row for key in keys for row in self._rows(_ONE_CHECKPOINT, key)]
        else:
            rows = self._rows(_CHECKPOINTS)
        return [self._checkpoint(row) for i, row in enumerate(rows) if wanted is None or some or i in wanted]

    def _checkpoint(self, row: tuple[Any, ...]) -> Checkpoint:
        try:
            window = None if row[7] is None else zlib.decompress(row[7])
        except zlib.error as error:
            raise IndexUnusable(f"the index `{self.path}` is damaged: {error}") from None
        return replace(Checkpoint(*row), window=window, packed=bool(row[11]))

    @cached_property
    def metadata(self) -> TraceMetadata:
        """The format's metadata of the whole trace."""
        query = "SELECT file_info_id, dimension, hash_value, resolved_value FROM hash_resolutions ORDER BY file_info_id"
        return TraceMetadata(self.entries, self._rows(query))

    @cached_property
    def entries(self) -> Mapping[str, Any]:
        """The entries of the metadata, without hashes."""
        entries: Mapping[str, Any] = json.loads(self.about["facts"])
        return entries

    @cached_property
    def summaries(self) -> Sequence[ChunkSummary]:
        """Summary statistics of each chunk's events."""
        rows = self._rows(_SUMMARIES)
        self._complete("chunk_statistics", rows)
        return tuple(ChunkSummary(*row) for row in rows)

    @cached_property
    def events(self) -> Sequence[int]:
        """The number of events of each chunk."""
        query = "SELECT total_events FROM chunk_statistics ORDER BY file_info_id, checkpoint_idx"
        return tuple(count for (count,) in self._rows(query))

    @cached_property
    def ends(self) -> Sequence[int | None]:
        """The end of the last event of each chunk, in absolute ns."""
        query = "SELECT max_end_ns FROM chunk_statistics ORDER BY file_info_id, checkpoint_idx"
        return tuple(end for (end,) in self._rows(query))

    def _complete(self, what: str, rows: Sequence[Any]) -> None:
        if len(rows) != len(self.chunks):
            found = f"{len(rows)} rows of {what} for {len(self.chunks)} chunks"
            raise IndexUnusable(f"the index `{self.path}` is damaged: {found}")

    @cached_property
    def dimensions(self) -> frozenset[str]:
        """The dimensions that are indexed in all files."""
        query = "SELECT dimension FROM index_dimensions GROUP BY dimension HAVING count(*) = ?"
        return frozenset(name for (name,) in self._rows(query, (len(self.files),)))

    def dimension(self, name: str) -> Sequence[DimensionStatistics] | None:
        """Return the statistics of a dimension in each chunk, None if it is not indexed."""
        if name not in self.dimensions:
            return None
        with self._lock:
            if name not in self._dimensions:
                query = """
                    SELECT distinct_count, null_count, min_value, max_value, value_type, value_counts
                    FROM chunk_dimension_stats WHERE dimension = ? ORDER BY file_info_id, checkpoint_idx"""
                rows = self._rows(query, (name,))
                self._complete(f"`{name}`", rows)
                self._dimensions[name] = tuple(DimensionStatistics(*row) for row in rows)
            return self._dimensions[name]

    def bloom(self, dimension: str, position: int) -> Bloom | None:
        """Return the Bloom filter of a dimension in a chunk; not cached."""
        chunk = self.chunks[position]
        query = """
            SELECT bloom_data, num_entries FROM chunk_bloom_filters
            WHERE dimension = ? AND file_info_id = ? AND checkpoint_idx = ?"""
        rows = self._rows(query, (dimension, chunk.file, chunk.number))
        return Bloom(*rows[0]) if rows else None

    def blooms(self, dimension: str) -> Mapping[int, Bloom]:
        """Return all Bloom filters of a dimension by the chunk's position; not cached."""
        query = (
            "SELECT file_info_id, checkpoint_idx, bloom_data, num_entries FROM chunk_bloom_filters WHERE dimension = ?"
        )
        positions = self._positions
        return {positions[file, number]: Bloom(*rest) for file, number, *rest in self._rows(query, (dimension,))}

    def file_bloom(self, dimension: str, file: int) -> Bloom | None:
        """Return the Bloom filter of a dimension in a whole file, if it has one; not cached."""
        query = "SELECT bloom_data, num_entries FROM file_bloom_filters WHERE dimension = ? AND file_info_id = ?"
        rows = self._rows(query, (dimension, file))
        return Bloom(*rows[0]) if rows else None

    def hashes_of(self, dimension: str, text: str) -> frozenset[str]:
        """Return the hashes that stand for a text in some file."""
        query = "SELECT DISTINCT hash_value FROM hash_resolutions WHERE dimension = ? AND resolved_value = ?"
        return frozenset(found for (found,) in self._rows(query, (dimension, text)))

    def hashes_with_prefix(self, dimension: str, prefix: str) -> frozenset[str]:
        """Return the hashes that stand for texts with this prefix."""
        query = "SELECT DISTINCT hash_value FROM hash_resolutions WHERE dimension = ? AND resolved_value >= ?"
        after = _successor(prefix)
        if after is None:
            return frozenset(found for (found,) in self._rows(query, (dimension, prefix)))
        return frozenset(
            found for (found,) in self._rows(f"{query} AND resolved_value < ?", (dimension, prefix, after))
        )

    def texts_of(self, dimension: str, found: str) -> frozenset[str]:
        """Return the texts that a hash stands for in some file; the texts of all hashes are read once."""
        with self._lock:
            if dimension not in self._texts:
                query = "SELECT DISTINCT hash_value, resolved_value FROM hash_resolutions WHERE dimension = ?"
                texts: dict[str, frozenset[str]] = {}
                for hashed, text in self._rows(query, (dimension,)):
                    texts[hashed] = texts.get(hashed, frozenset()) | {text}
                self._texts[dimension] = texts
            return self._texts[dimension].get(found, frozenset())

    def event_counts(self) -> Mapping[tuple[str, str], int]:
        """Count events by category and name, without chunks of too many names; a missing category is empty."""
        query = "SELECT cat, name, sum(event_count) FROM checkpoint_event_ranges GROUP BY cat, name"
        return {(category, name): count for category, name, count in self._rows(query)}

    @cached_property
    def store(self) -> Mapping[str, StoredFile] | None:
        """The tables of the column store by name, in their order; None if there is no store."""
        if not self.layout.store:
            return None
        query = "SELECT name, file, rows, bytes, checksum, stamp, columns FROM store_tables ORDER BY position"
        folder = self.folder / f"store-{self.generation}"
        return {name: StoredFile(name, folder / file, *rest) for name, file, *rest in self._rows(query)}

    def verify(self, table: StoredFile, *, read: bool = False) -> None:
        """Check that a file of the store is as it was written.

        If the file system shows that a file was not modified since, it is not read unless `read` is set; a modified one
        is read once.

        Raises:
            IndexUnusable: it is missing or damaged.
        """
        try:
            if not read and self._verified.get(table.name) == stamp(table.path.stat()):
                return
            file = os.open(table.path, os.O_RDONLY | os.O_CLOEXEC)
            try:
                found = os.fstat(file)
                same = found.st_size == table.bytes
                if same and (read or stamp(found) != table.stamp):
                    same = checksum(file, table.bytes) == table.checksum
            finally:
                os.close(file)
        except OSError as error:
            what = reason_of(error)
            raise IndexUnusable(f"the stored table `{table.path}` cannot be read: {what}", hint=_ANEW) from None
        if not same:
            raise IndexUnusable(f"the stored table `{table.path}` is damaged", hint=_ANEW)
        self._verified[table.name] = stamp(found)


def stamp(found: os.stat_result) -> str:
    """Return a stamp that changes with every write to a file: its change time cannot be set."""
    return f"{found.st_dev} {found.st_ino} {found.st_size} {found.st_mtime_ns} {found.st_ctime_ns}"


def _successor(prefix: str) -> str | None:
    """Return the first text that sorts after all texts with the prefix, None if there is none."""
    for i in range(len(prefix) - 1, -1, -1):
        point = ord(prefix[i])
        if point < 0x10FFFF:
            # UTF-8 cannot encode surrogates.
            return prefix[:i] + chr(0xE000 if point == 0xD7FF else point + 1)
    return None
