"""Add dimensions or other Bloom filters to an index, with a pass that computes only what is missing."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from dctv.contracts.chunks import Checkpoint
from dctv.errors import IndexUnusable
from dctv.index.build import Built, failures, looked_at, publish, unchanged, workspace
from dctv.index.database import ALWAYS, Index
from dctv.index.full_build import FileFilters, statistics_of
from dctv.index.location import INDEX
from dctv.index.records import IndexLayout
from dctv.index.seal import unsealed_copy
from dctv.index.trace import Trace
from dctv.index.writing import IndexWriter
from dctv.record import record, replace


@record
class MissingParts:
    """The parts of a wanted index that an index lacks."""

    anew: bool
    """Whether it must be rebuilt."""
    dimensions: Mapping[str, str]
    """Dimensions to compute, and their columns."""
    built_in: bool = False
    """Whether the dimensions of every index are among them."""

    def __bool__(self) -> bool:
        return self.anew or bool(self.dimensions)


def missing_parts(index: Index, wanted: IndexLayout) -> MissingParts:
    """Compare an index with a wanted layout; additional parts do not matter."""
    has = index.layout
    if has.chunk_bytes != wanted.chunk_bytes or (wanted.store and not has.store) or not _store_is_complete(index):
        return MissingParts(anew=True, dimensions={})
    if (has.expected_entries, has.false_positive_rate) != (wanted.expected_entries, wanted.false_positive_rate):
        return MissingParts(anew=False, dimensions={**has.dimensions, **wanted.dimensions}, built_in=True)
    missing = {
        name: column
        for name, column in wanted.dimensions.items()
        if name not in index.dimensions or (name not in ALWAYS and has.dimensions.get(name) != column)
    }
    return MissingParts(anew=False, dimensions=missing)


def extend(trace: Trace, index: Index, wanted: IndexLayout, missing: MissingParts) -> Built | None:
    """Add dimensions to an index whose folder the caller has locked; None if it must be rebuilt.

    Raises:
        IndexFailed: it cannot be written, or the trace changed during the build.
        TraceError: the trace cannot be read.
    """
    began = time.monotonic()
    with failures(index.folder), workspace(index.folder) as work:
        before = looked_at(trace)
        unsealed_copy(index.path, work / INDEX)
        writer = IndexWriter(work / INDEX)
        try:
            writer.extend()
            events = _compute(trace, index, wanted, missing, writer)
            if events is None:
                return None
            added = [name for name in missing.dimensions if name not in ALWAYS]
            writer.indexed([*ALWAYS, *added] if missing.built_in else added)
            every = {**index.layout.dimensions, **wanted.dimensions}
            writer.layout(replace(wanted, dimensions=every, store=index.layout.store))
            writer.finish()
        finally:
            writer.abandon()
        unchanged(trace, before)
        size = (work / INDEX).stat().st_size
        publish(work, index.folder)
    return Built(len(index.chunks), events, size, _store_bytes(index), time.monotonic() - began)


def _compute(trace: Trace, index: Index, wanted: IndexLayout, missing: MissingParts, writer: IndexWriter) -> int | None:
    """Write the missing parts; return how many events were read, or None if the chunks are not those of the index."""
    writer.forget_dimensions([*missing.dimensions, *(ALWAYS if missing.built_in else ())])
    sizes: dict[str, Any] = {
        "expected_entries": wanted.expected_entries,
        "false_positive_rate": wanted.false_positive_rate,
    }
    dimensions = list(missing.dimensions.items())
    filters = FileFilters(writer, sizes)
    places = iter(index.checkpoints())
    events = 0
    run = trace.chunks.start(trace.paths, trace.context, index.entries, index.layout.chunk_bytes)
    for chunk in run:
        if not _same(chunk.checkpoint, next(places, None)):
            return None
        statistics = statistics_of(chunk, dimensions, sizes, summary=missing.built_in)
        writer.dimensions(chunk.checkpoint, statistics["dimensions"])
        filters.add(chunk.checkpoint.file, statistics["dimensions"])
        events += sum(batch.num_rows for _, batch in chunk.events)
    if next(places, None) is not None or run.again():
        return None
    filters.finish()
    return events


def _same(found: Checkpoint, expected: Checkpoint | None) -> bool:
    """Whether chunks have the same text; they may be compressed differently."""
    return expected is not None and replace(found, window=None) == replace(expected, window=None)


def _store_is_complete(index: Index) -> bool:
    try:
        for table in (index.store or {}).values():
            index.verify(table)
    except IndexUnusable:
        return False
    return True


def _store_bytes(index: Index) -> int:
    return sum(table.bytes for table in (index.store or {}).values())
