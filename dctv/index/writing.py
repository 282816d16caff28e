"""Write an index file from rows about a trace; it is valid only once it is finished."""

from __future__ import annotations

import json
import os
import sqlite3
import zlib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import Checkpoint, DecodedChunk
from dctv.index.identity import Identity
from dctv.index.location import Subject
from dctv.index.records import IndexLayout
from dctv.index.schema import HEADER, TABLES
from dctv.index.seal import seal
from dctv.record import fields

_STATISTICS = """
    INSERT INTO chunk_statistics VALUES (
        :file, :number, :total_events, :min_timestamp_ns, :max_timestamp_ns, :max_end_ns, :duration_sum_ns,
        :duration_min_ns, :duration_max_ns, :duration_count, :duration_mean, :duration_m2, :duration_sketch,
        :duration_histogram, :name_duration_sketches, :name_duration_histograms, :name_duration_sums,
        :name_duration_sum_sqs, :name_duration_counts, :name_duration_ranges, :name_category)"""

_DIMENSION = """
    INSERT INTO chunk_dimension_stats VALUES (
        :file, :number, :dimension, :distinct_count, :null_count, :min_value, :max_value, :value_type, :value_counts)"""

_BLOOM = """
    INSERT INTO chunk_bloom_filters
    SELECT :file, :number, :dimension, :bloom_data, :num_entries WHERE :bloom_data IS NOT NULL"""

Rows = Mapping[str, Any]


class IndexWriter:
    """A database that is being written and not yet published."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        # The file is not trusted before it is sealed, so it needs neither a journal nor ordered writes.
        self._connection.executescript(
            "PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA foreign_keys = OFF;"
        )

    def create(self, about: Subject, files: Sequence[Identity]) -> None:
        """Create the tables and record the files."""
        self._connection.executescript(HEADER + TABLES)
        self._connection.execute("BEGIN")
        self._connection.executemany(
            "INSERT INTO files VALUES (?, ?, ?, ?, ?, ?)",
            (
                (number, _name(path), found.size, found.mtime_ns // 10**9, found.mtime_ns, found.hash)
                for number, (path, found) in enumerate(zip(about.paths, files, strict=True))
            ),
        )
        self.record_properties({"reader": about.reader, "options": about.options})

    def extend(self) -> None:
        """Start to change an existing file."""
        self._connection.execute("BEGIN")

    def record_properties(self, values: Mapping[str, str]) -> None:
        """Record properties of the whole index."""
        self._connection.executemany("INSERT OR REPLACE INTO about VALUES (?, ?)", values.items())

    def layout(self, layout: IndexLayout) -> None:
        """Record the layout of the index, and that all files have its dimensions."""
        self.record_properties({"layout": json.dumps({one.name: getattr(layout, one.name) for one in fields(layout)})})

    def chunk(self, chunk: DecodedChunk, statistics: Rows) -> None:
        """Write all statistics of a chunk."""
        from dctv._kernels import pack_lines

        at = chunk.checkpoint
        place = {"file": at.file, "number": at.number}
        run, many = self._connection.execute, self._connection.executemany
        run("INSERT INTO checkpoints VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", _checkpoint(at))
        run(_STATISTICS, {**place, **statistics["statistics"]})
        self.dimensions(at, statistics["dimensions"])
        many(
            "INSERT INTO checkpoint_event_ranges VALUES (?, ?, ?, ?, ?, ?)",
            ((at.number, at.file, *row) for row in statistics["event_ranges"]),
        )
        many(
            "INSERT INTO checkpoint_metadata_lines VALUES (?, ?, ?, ?)",
            ((at.number, at.file, kind, pack_lines(_numbers(lines))) for kind, lines in chunk.other_lines.items()),
        )
        many(
            "INSERT OR IGNORE INTO hash_resolutions VALUES (?, ?, ?, ?)",
            ((at.file, *row) for row in chunk.hashes),
        )

    def dimensions(self, at: Checkpoint, rows: Iterable[Rows]) -> None:
        """Write statistics of dimensions in a chunk."""
        placed = [{"file": at.file, "number": at.number, **row} for row in rows]
        self._connection.executemany(_DIMENSION, placed)
        self._connection.executemany(_BLOOM, placed)

    def forget_dimensions(self, names: Iterable[str]) -> None:
        """Delete the statistics of some dimensions."""
        for table in ("chunk_dimension_stats", "chunk_bloom_filters", "file_bloom_filters", "index_dimensions"):
            self._connection.executemany(_FORGET[table], ((name,) for name in names))

    def file_blooms(self, file: int, rows: Iterable[tuple[str, bytes, int]]) -> None:
        """Write the Bloom filters of a whole file."""
        self._connection.executemany(
            "INSERT INTO file_bloom_filters VALUES (?, ?, ?, ?)", ((file, *row) for row in rows)
        )

    def indexed(self, dimensions: Iterable[str]) -> None:
        """Record that all files have these dimensions."""
        self._connection.executemany(
            "INSERT INTO index_dimensions SELECT id, ? FROM files", ((name,) for name in dimensions)
        )

    def totals(self, chunk_bytes: int) -> None:
        """Write statistics of whole files; after the last chunk."""
        self._connection.execute(
            """
            INSERT INTO metadata
            SELECT f.id, ?, coalesce(sum(num_lines), 0), coalesce(sum(uc_size), 0)
            FROM files AS f LEFT JOIN checkpoints AS c ON c.file_id = f.id GROUP BY f.id""",
            (chunk_bytes,),
        )

    def stored(self, rows: Iterable[tuple[Any, ...]]) -> None:
        """Write the tables of the column store: columns as in `store_tables`."""
        self._connection.executemany("INSERT INTO store_tables VALUES (?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def finish(self) -> None:
        """Complete the file and sync it to disk."""
        self.record_properties({"complete": "1"})
        self._connection.execute("COMMIT")
        self._connection.close()
        seal(self._path)

    def abandon(self) -> None:
        """Close the file without completing it."""
        self._connection.close()


_FORGET = {
    "chunk_dimension_stats": "DELETE FROM chunk_dimension_stats WHERE dimension = ?",
    "chunk_bloom_filters": "DELETE FROM chunk_bloom_filters WHERE dimension = ?",
    "file_bloom_filters": "DELETE FROM file_bloom_filters WHERE dimension = ?",
    "index_dimensions": "DELETE FROM index_dimensions WHERE dimension = ?",
}


def _name(path: Path) -> str | bytes:
    """Return a path for the database: as bytes if it is not valid UTF-8."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        return os.fsencode(path)
    return str(path)


def _checkpoint(at: Checkpoint) -> tuple[Any, ...]:
    window = None if at.window is None else zlib.compress(at.window, 6)
    before = (at.file, at.number, at.uc_offset, at.uc_size, at.c_offset, at.c_size, at.bits, window, at.skip)
    return (*before, at.packed, at.lines, at.first_line, at.first_line + max(at.lines, 1) - 1)


def _numbers(lines: bytes) -> list[int]:
    """Decode little-endian u32 numbers."""
    import array
    import sys

    numbers = array.array("I", lines)
    if sys.byteorder == "big":
        numbers.byteswap()
    return numbers.tolist()
