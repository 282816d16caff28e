"""Compare an index with its trace: recompute everything from the trace, and list the differences."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote

from dctv.contracts.chunks import DecodedChunk, Pass
from dctv.contracts.reader import LoadContext
from dctv.errors import IndexUnusable
from dctv.index.build import MakeSorter
from dctv.index.database import ALWAYS, Index
from dctv.index.full_build import build
from dctv.index.opening import open_verified
from dctv.index.trace import Trace
from dctv.record import record, replace

_TABLES = (
    "files",
    "checkpoints",
    "metadata",
    "chunk_statistics",
    "chunk_dimension_stats",
    "chunk_bloom_filters",
    "file_bloom_filters",
    "index_dimensions",
    "hash_resolutions",
    "checkpoint_event_ranges",
    "checkpoint_metadata_lines",
)

_MORE = 'SELECT * FROM {0}."{2}" EXCEPT SELECT * FROM {1}."{2}"'

_ABOUT = ("reader", "options", "facts")

_MOST = 20
"""How many differences are listed one by one."""


def check(trace: Trace, index: Index, make_sorter: MakeSorter | None, scratch: Path) -> list[str]:
    """Recompute an index in a scratch folder, and return descriptions of all differences; none if it is correct.

    Raises:
        IndexFailed: there is no room for it, or the trace changes during the check.
        TraceError: the trace cannot be read.
    """
    found = IndexDifferences([])
    watched = _watched(trace, index, found)
    build(watched, index.layout, scratch, make_sorter)
    fresh = open_verified(scratch)
    assert fresh is not None
    try:
        _compare_about(index, fresh, found)
        _compare_rows(index, fresh, found)
        _compare_stores(index, fresh, found)
    finally:
        fresh.close()
    return found.lines()


@record(frozen=False)
class IndexDifferences:
    """The differences found."""

    found: list[str]
    more: int = 0

    def add(self, line: str) -> None:
        """Add a difference."""
        if len(self.found) < _MOST:
            self.found.append(line)
        else:
            self.more += 1

    def lines(self) -> list[str]:
        """Return the lines to print."""
        return [*self.found, f"and {self.more} more"] if self.more else self.found


@record
class _Watched:
    """A pass that compares each chunk with the index's filters."""

    inner: Pass
    index: Index
    found: IndexDifferences

    def __iter__(self) -> Iterator[DecodedChunk]:
        for position, chunk in enumerate(self.inner):
            if position < len(self.index.chunks):
                _probe(self.index, position, chunk, self.found)
            yield chunk

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the pass."""
        return self.inner.metadata()

    def again(self) -> bool:
        """Whether a second pass is needed."""
        return self.inner.again()


def _watched(trace: Trace, index: Index, found: IndexDifferences) -> Trace:
    chunks = trace.chunks

    def start(paths: Sequence[Path], context: LoadContext, hints: Mapping[str, Any] | None, chunk_bytes: int) -> Pass:
        return _Watched(chunks.start(paths, context, hints, chunk_bytes), index, found)

    return replace(trace, reader=replace(trace.reader, chunks=replace(chunks, start=start)))


def _probe(index: Index, position: int, chunk: DecodedChunk, found: IndexDifferences) -> None:
    """Check that filters deny no value of a chunk; the values do not come from the code that built the filters."""
    from dctv._kernels import Bloom

    columns = {"name": None, **{n: c for n, c in index.layout.dimensions.items() if n not in ALWAYS}}
    for dimension, column in columns.items():
        stored = index.bloom(dimension, position)
        if stored is None:
            continue
        try:
            bloom = Bloom.from_bytes(stored.data)
        except ValueError as error:
            found.add(f"chunk {position}: the filter of `{dimension}` is damaged: {error}")
            continue
        for value in _values(chunk, column):
            if not bloom.may_contain(value):
                found.add(f"chunk {position}: the filter of `{dimension}` denies `{value[:80]}`, which is there")


def _values(chunk: DecodedChunk, column: str | None) -> set[str]:
    """Return the canonical texts of all values of a column, or the names of events."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if column is None:
        return {name for name, batch in chunk.events if batch.num_rows}
    found: set[str] = set()
    for _, rows in chunk.events:
        batch = pa.record_batch(rows)
        if column in batch.schema.names:
            found.update(_canonical(v) for v in pc.unique(batch.column(column)).to_pylist() if v is not None)
    return found


def _canonical(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value)


def _compare_about(index: Index, fresh: Index, found: IndexDifferences) -> None:
    for key in _ABOUT:
        if _moved(index.about.get(key)) != _moved(fresh.about.get(key)):
            found.add(f"`{key}` differs")


def _moved(text: str | None) -> Any:
    """Return what an index says of its trace, with only the names of its files, which may be named from elsewhere."""

    def only_name(found: dict[str, Any]) -> dict[str, Any]:
        path = found.get("path")
        return {**found, "path": Path(path).name} if isinstance(path, str) else found

    try:
        return json.loads(text or "null", object_hook=only_name)
    except ValueError:
        return text


def _compare_rows(index: Index, fresh: Index, found: IndexDifferences) -> None:
    connection = sqlite3.connect(":memory:", uri=True, isolation_level=None)
    try:
        for attach, path in (("ATTACH ? AS old", index.path), ("ATTACH ? AS new", fresh.path)):
            connection.execute(attach, (f"file:{quote(str(path))}?mode=ro&immutable=1",))
        for table in _TABLES:
            for more, less, what in (("old", "new", "is not in the trace"), ("new", "old", "is missing")):
                for row in connection.execute(_MORE.format(more, less, table)):
                    shown = ", ".join(_shown(value) for value in row)
                    found.add(f"a row of {table} {what}: {shown[:200]}")
    except sqlite3.Error as error:
        raise IndexUnusable(f"the index `{index.path}` is damaged: {error}") from None
    finally:
        connection.close()


def _shown(value: object) -> str:
    return f"{len(value)} bytes" if isinstance(value, bytes) else str(value)


def _compare_stores(index: Index, fresh: Index, found: IndexDifferences) -> None:
    old, new = index.store or {}, fresh.store or {}
    for name in old.keys() ^ new.keys():
        found.add(f"the stored table `{name}` {'is not in the trace' if name in old else 'is missing'}")
    for name in old.keys() & new.keys():
        try:
            index.verify(old[name], read=True)
        except IndexUnusable as error:
            found.add(error.message)
            continue
        if old[name].checksum != new[name].checksum and not _same_rows(old[name].path, new[name].path):
            found.add(f"the rows of the stored table `{name}` differ")


def _same_rows(old: Path, new: Path) -> bool:
    """Compare two Parquet files batch by batch."""
    import pyarrow.parquet as pq

    with pq.ParquetFile(old) as one, pq.ParquetFile(new) as other:
        if one.schema_arrow != other.schema_arrow or one.metadata.num_rows != other.metadata.num_rows:
            return False
        pairs = zip(one.iter_batches(65536), other.iter_batches(65536), strict=True)
        return all(a.equals(b) for a, b in pairs)
