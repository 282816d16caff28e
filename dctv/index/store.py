"""Collect the rows of decoded chunks, and write them to a column store: one Parquet file per table, sorted by time.

In addition, `events.parquet` has times, names, categories, processes and threads of all events, in the order of the
view `events`. Files are numbered, since names of events may contain any character.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, EventColumns, TraceTable
from dctv.contracts.sorted_rows import SortedRows
from dctv.index.build import WrittenTable
from dctv.index.stored import EVENTS, EVENTS_FILE
from dctv.types.schema import DURATION, TS

if TYPE_CHECKING:
    from dctv._kernels import EventMerger

MEMORY = 48 << 20
"""The default size of the buffer for rows, in bytes."""

GROUP_ROWS = 122_880
"""Rows of a row group: the engine's unit of parallel work."""

Progress = Callable[[int, int], None]
"""Called with rows done and rows in total; raises Interrupted."""


class StoreSorter:
    """A sorter of the rows of all chunks of a trace, for its column store."""

    def __init__(self, folder: Path, progress: Progress | None = None, *, memory: int = MEMORY) -> None:
        """Create a sorter; rows that do not fit into `memory` go to a file in the folder."""
        self._folder = folder
        self._memory = memory
        self._progress = progress or (lambda _done, _all: None)
        self._rows = SortedRows(folder, memory)

    def add(self, chunk: DecodedChunk) -> None:
        """Add a chunk, in trace order.

        Raises:
            OSError: the folder cannot be written to.
        """
        self._rows.add(chunk)

    def write(self, chunks: ChunkReader, metadata: TraceMetadata, folder: Path) -> Sequence[WrittenTable]:
        """Write all tables to an existing folder; after the last chunk.

        Raises:
            OSError: a folder cannot be written to.
        """
        from dctv._kernels import EventMerger

        self._rows.finish()
        tables = chunks.tables(metadata)
        total = sum(self._rows.counts.get(name, 0) for name in tables)
        writing = _Writing(folder, self._progress, 2 * total)
        every = EventMerger(str(self._folder), self._memory // 2) if _pays(tables) else None
        stored = []
        for number, (name, table) in enumerate(tables.items(), 1):
            with self._rows.taken(chunks, metadata, name, table.schema) as rows:
                stream = rows if every is None or table.event is None else _recorded(every, table.event, rows)
                stored.append(writing.table(name, f"{number:04}.parquet", stream, is_sorted=TS in table.schema.names))
        if every is not None:
            stored.append(writing.table(EVENTS, EVENTS_FILE, every.merged(), is_sorted=True))
        return stored

    def close(self) -> None:
        """Release all resources."""
        self._rows.close()


def _recorded(every: EventMerger, event: EventColumns, rows: Any) -> Any:
    """Pass the rows of a table of events on, and record them for the file of all events."""
    sources = {TS: TS, DURATION: event.duration, "name": event.named_by, "category": event.category}
    sources |= {"pid": event.pid, "tid": event.tid}
    kept = [(target, source) for target, source in sources.items() if source is not None]
    return every.through(rows, event.name, kept)


def _pays(tables: Mapping[str, TraceTable]) -> bool:
    """Whether a file of all events is worthwhile: unless they are in one file already, and if their columns fit."""
    return sum(table.event is not None for table in tables.values()) != 1 and _is_flat(tables)


def _is_flat(tables: Mapping[str, TraceTable]) -> bool:
    """Whether the columns of all events have the types that they have in `events`, so that no cast can fail."""
    for table in tables.values():
        event = table.event
        if event is None:
            continue
        types = {column.name: column.type for column in table.schema.columns}
        numbers = (event.pid, event.tid, event.duration)
        if any(name is not None and types[name] != "BIGINT" for name in numbers):
            return False
        if event.category is not None and types[event.category] != "VARCHAR":
            return False
    return True


class _Writing:
    """A writer of tables, one after another."""

    def __init__(self, folder: Path, progress: Progress, rows: int) -> None:
        self._folder = folder
        self._progress = progress
        self._rows = rows
        self._done = 0

    def table(self, name: str, file: str, stream: Any, *, is_sorted: bool) -> WrittenTable:
        """Write a table; return its metadata."""
        from dctv._kernels import write_table

        path = str(self._folder / file)
        made = write_table(path, stream, ascending=is_sorted, progress=self._advance, group_rows=GROUP_ROWS)
        flat = [number for part in made.parts for number in part]
        described = json.dumps({"columns": made.columns, "parts": flat}, separators=(",", ":"))
        return WrittenTable(name, file, made.rows, sum(size for _, size, _ in made.parts), made.checksum, described)

    def _advance(self, rows: int) -> None:
        self._done += rows
        self._progress(min(self._done, self._rows), self._rows)
