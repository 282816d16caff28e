"""The contents of an index as values: files, chunks, statistics, dimensions, stored tables."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from dctv.index.identity import Identity
from dctv.record import record


@record
class IndexedFile:
    """A file of the trace."""

    number: int
    path: Path
    identity: Identity
    lines: int
    text_bytes: int
    """Bytes after decompression."""
    chunks: range
    """Positions of its chunks."""


@record
class Chunk:
    """A chunk, without its checkpoint; its position is its place in `Index.chunks`."""

    file: int
    number: int
    """In the file."""
    uc_offset: int
    uc_size: int
    c_offset: int
    c_size: int
    first_line: int
    lines: int


@record
class ChunkSummary:
    """Statistics of all events of a chunk: a row of `chunk_statistics`, with its columns."""

    total_events: int
    min_timestamp_ns: int | None
    max_timestamp_ns: int | None
    max_end_ns: int | None
    duration_sum_ns: int
    duration_min_ns: int | None
    duration_max_ns: int | None
    duration_count: int
    duration_mean: float
    duration_m2: float
    duration_sketch: bytes | None
    duration_histogram: str
    name_duration_sketches: bytes | None
    name_duration_histograms: str
    name_duration_sums: str
    name_duration_sum_sqs: str
    name_duration_counts: str
    name_duration_ranges: str
    name_category: str


@record
class DimensionStatistics:
    """Statistics of a dimension in a chunk: a row of `chunk_dimension_stats`."""

    distinct: int
    nulls: int
    minimum: str | None
    maximum: str | None
    value_type: str
    counts: bytes | None
    """The dictionary with a count for each value, compressed; None if it would be too large."""


@record
class Bloom:
    """A Bloom filter, serialized."""

    data: bytes
    entries: int


@record
class StoredFile:
    """A table of the column store."""

    name: str
    """`raw_events.read`, `metadata`; `events` for the flat file of all events."""
    path: Path
    rows: int
    bytes: int
    checksum: int
    """CRC-32 of the file."""
    stamp: str
    """The file system's stamp of it at publication."""
    columns: str
    """The writer's metadata of its columns, as JSON."""


@record
class IndexLayout:
    """How an index was built; an index with another layout is extended or rebuilt."""

    dimensions: Mapping[str, str]
    """Dimension and column, without `name`, `ts` and `dur`, which always exist."""
    expected_entries: int
    false_positive_rate: float
    chunk_bytes: int
    store: bool
