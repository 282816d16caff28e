"""A small trace format for tests of indexes: lines `name,cat,ts,dur,size`, hashes as `#hash,text`, chunks of lines.

`python -m tests.index.notes FOLDER FILE...` builds the index of such files, slowly if `NOTES_PAUSE` says so.
"""

from __future__ import annotations

import json
import os
import struct
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from dctv.contracts.chunks import LINE, Checkpoint, ColumnLineage, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, LoadContext, LoadedTrace, Reader, TraceTable
from dctv.index.build import IndexSettings, WrittenTable, layout
from dctv.index.keeper import IndexPlan, ensure
from dctv.index.trace import Trace
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT

PAUSE = float(os.environ.get("NOTES_PAUSE") or 0)
LINES = 100
"""Lines of a chunk."""


def write_notes(path: Path, lines: int, *, seed: int = 0) -> Path:
    rows = []
    for i in range(lines):
        n = i + seed
        if n % 50 == 0:
            rows.append(f"#h{n % 7},file number {n % 7}")
        rows.append(f"{'read' if n % 3 else 'write'},{'POSIX' if n % 5 else 'STDIO'},{1000 + i * 10},{n % 17},{n % 29}")
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


@dataclass
class NotesPass:
    """Reads the files chunk by chunk."""

    paths: Sequence[Path]
    context: LoadContext
    hints: Mapping[str, Any] | None
    twice: bool = False
    found: dict[str, Any] = field(default_factory=lambda: {"start_ns": 1000, "lines": 0})

    def __iter__(self) -> Iterator[DecodedChunk]:
        total = sum(p.stat().st_size for p in self.paths)
        done = 0
        for file, path in enumerate(self.paths):
            lines = path.read_bytes().splitlines(keepends=True)
            offset = 0
            for number, first in enumerate(range(0, len(lines), LINES)):
                part = lines[first : first + LINES]
                size = sum(map(len, part))
                at = Checkpoint(file, number, offset, size, offset, size, 0, None, 0, first, len(part), packed=False)
                yield chunk_of(at, part)
                offset += size
                done += size
                self.found["lines"] += len(part)
                time.sleep(PAUSE)
                self.context.progress(done, total)

    def metadata(self) -> Mapping[str, Any]:
        return self.found

    def again(self) -> bool:
        return self.twice and self.hints is None


def chunk_of(at: Checkpoint, lines: Sequence[bytes]) -> DecodedChunk:
    rows: dict[str, list[tuple[int, int, str, int, int]]] = {}
    hashes, others = [], []
    for i, line in enumerate(lines):
        if line.startswith(b"#"):
            found, text = line.decode().strip()[1:].split(",")
            hashes.append(("fhash", found, text))
            others.append(i)
            continue
        name, cat, ts, dur, size = line.decode().strip().split(",")
        rows.setdefault(name, []).append((int(ts), int(dur), cat, int(size), i))
    schema = pa.schema(
        [(TS, pa.int64()), ("dur", pa.int64()), ("cat", pa.string()), ("size", pa.int64()), (LINE, pa.uint32())]
    )
    events = [
        (name, pa.record_batch([list(column) for column in zip(*found, strict=True)], schema=schema))
        for name, found in sorted(rows.items())
    ]
    return DecodedChunk(at, events, (), hashes, {"HASH": struct.pack(f"<{len(others)}I", *others)} if others else {})


def _tables(_: TraceMetadata) -> Mapping[str, TraceTable]:
    columns = (ColumnType(TS, "BIGINT", NO_UNIT), ColumnType("dur", "BIGINT", NO_UNIT))
    return {f"raw_events.{n}": TraceTable(Schema(Kind.EVENT, columns), None) for n in ("read", "write")}


def _lineage(_known: TraceMetadata, _name: str) -> Mapping[str, ColumnLineage]:
    return {"cat": ColumnLineage("cat")}


def _rest(metadata: TraceMetadata) -> LoadedTrace:
    return LoadedTrace({}, [], int(metadata.entries["lines"]))


def _load(_paths: Sequence[Path], _context: LoadContext) -> LoadedTrace:
    raise AssertionError("notes are only ever indexed")


def notes(*, twice: bool = False) -> Reader:
    chunks = ChunkReader(
        dimensions={"cat": "cat"},
        start=lambda paths, context, hints, _: NotesPass(paths, context, hints, twice),
        tables=_tables,
        finished=lambda _known, _name, batch: batch,
        lineage=_lineage,
        rest=_rest,
        decode=lambda _paths, _at, metadata, _context: _tables(metadata),
    )
    return Reader("notes", "notes", (".notes",), lambda _: False, _load, chunks=chunks)


@dataclass
class NotesSorter:
    """Keeps everything and writes one file per event."""

    folder: Path
    rows: dict[str, list[pa.RecordBatch]] = field(default_factory=dict)

    def add(self, chunk: DecodedChunk) -> None:
        for name, batch in chunk.events:
            self.rows.setdefault(name, []).append(batch)

    def write(self, _chunks: ChunkReader, _known: TraceMetadata, folder: Path) -> Sequence[WrittenTable]:
        stored = []
        for name, batches in sorted(self.rows.items()):
            table = pa.Table.from_batches(batches)
            path = folder / f"{name}.parquet"
            pq.write_table(table, path)
            time.sleep(PAUSE)
            data = path.read_bytes()
            summary = (len(table), len(data), zlib.crc32(data), json.dumps(table.column_names))
            stored.append(WrittenTable(f"raw_events.{name}", path.name, *summary))
        return stored

    def close(self) -> None:
        self.rows.clear()


def trace_of(*paths: Path, twice: bool = False, **options: object) -> Trace:
    return Trace(paths, notes(twice=twice), LoadContext(options, 1, lambda _done, _total: None))


def plan_of(trace: Trace, index_dir: Path, **settings: Any) -> IndexPlan:
    return IndexPlan(layout(trace, IndexSettings(**settings)), NotesSorter, index_dir)


def main() -> None:
    folder, *paths = map(Path, sys.argv[1:])
    trace = trace_of(*paths)
    index, built = ensure(trace, IndexPlan(layout(trace, IndexSettings()), NotesSorter, folder, waiting=lambda: None))
    sys.stdout.write(f"{'built' if built else 'found'} {sum(index.events)}\n")


if __name__ == "__main__":
    main()
