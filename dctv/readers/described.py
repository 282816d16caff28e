"""Build readers from passes that describe their own tables, such as those for packet trees and binary rings.

A pass of such a format (a `RowPass` of the kernels, or an object like it) yields chunks with columns named as in the
tables, and ends with `metadata`: `start_ns`, the absolute time of the first event; `last_ts`, the length of the trace;
`tables`, for each table its name, its columns (name, type, unit), its columns in `events` and, if it has any, its
`partitions`, which follow `_ts`; `diagnostics` (number of the file, reason, count, example, whether the trace was not
read completely), `properties`, and for text `lines` (number of the file, number of lines that should hold data, and how
many of them were discarded).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dctv.contracts.chunks import RAW, ColumnLineage, DecodedChunk, TraceMetadata
from dctv.contracts.reader import (
    ARROW_TYPES,
    ChunkReader,
    Diagnostic,
    EventColumns,
    Head,
    LoadContext,
    LoadedTrace,
    Reader,
    StoredColumn,
    TraceTable,
    declared_unit,
)
from dctv.contracts.reader_errors import ReaderErrors
from dctv.contracts.unread import mostly_unread
from dctv.contracts.whole import finished_by, load
from dctv.record import field, record
from dctv.types.schema import TS, ColumnType, Kind, Schema

TYPES = {"int": "BIGINT", "uint": "UBIGINT", "float": "DOUBLE", "bool": "BOOLEAN", "text": "VARCHAR", "json": "JSON"}
"""The engine's types of described columns."""


class RowPass(Protocol):
    """One pass over a trace, in order: the kernels' class, and Python passes of formats where speed does not matter."""

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield each chunk once."""

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata; only after the last chunk."""


Start = Callable[[Sequence[Path], LoadContext, int], RowPass]
"""Start a pass over the files of a trace; the third argument is the desired size of chunks in bytes.

Raises TraceError, OSError, ValueError."""


@record
class Described:
    """A format with passes that describe their tables."""

    name: str
    title: str
    suffixes: tuple[str, ...]
    sniff: Callable[[Head], bool]
    start: Start
    options: Mapping[str, str] = field(default_factory=dict)
    dimensions: Mapping[str, str] = field(default_factory=dict)
    """The default dimensions of an index, and their columns."""
    folder: Callable[[Path], Sequence[Path] | None] | None = None
    """See `Reader.folder`."""
    entry: str | None = None
    """See `Reader.entry`."""
    byte_names: bool = False
    """See `Reader.byte_names`."""
    general: bool = False
    """See `Reader.general`."""

    def reader(self) -> Reader:
        """Return the registry entry."""
        chunks = ChunkReader(
            dimensions=self.dimensions,
            start=partial(_Pass, self.start),
            tables=lambda metadata: tables_of(metadata.entries),
            finished=partial(finished_by, stored),
            lineage=partial(_lineage, self.dimensions),
            rest=_diagnostics_and_properties,
            decode=None,
            stored=stored,
        )
        return Reader(
            name=self.name,
            title=self.title,
            suffixes=self.suffixes,
            sniff=self.sniff,
            load=partial(load, chunks),
            options=self.options,
            chunks=chunks,
            folder=self.folder,
            entry=self.entry,
            byte_names=self.byte_names,
            general=self.general,
        )


class _Pass:
    """A pass with errors for users, and with file names in its metadata."""

    def __init__(
        self,
        start: Start,
        paths: Sequence[Path],
        context: LoadContext,
        _: Mapping[str, Any] | None,
        chunk_bytes: int,
    ) -> None:
        self._paths = paths
        with ReaderErrors(paths):
            self._pass = start(paths, context, chunk_bytes)

    def __iter__(self) -> Iterator[DecodedChunk]:
        with ReaderErrors(self._paths):
            yield from self._pass

    def metadata(self) -> dict[str, Any]:
        """Return the metadata."""
        return {**self._pass.metadata(), "paths": [str(path) for path in self._paths]}

    def again(self) -> bool:
        """Whether a second pass is needed: never."""
        return False


def tables_of(entries: Mapping[str, Any]) -> dict[str, TraceTable]:
    """Return the schemas of all tables."""
    return {one["name"]: _table(one) for one in entries["tables"]}


def _table(description: Mapping[str, Any]) -> TraceTable:
    columns = tuple(ColumnType(name, TYPES[kind], declared_unit(unit)) for name, kind, unit in description["columns"])
    kind = Kind.EVENT if columns and columns[0].name == TS else Kind.REGULAR
    event = description["event"]
    if event is None and description["name"].startswith(RAW):
        event = {"name": description["name"].removeprefix(RAW), "args": [column.name for column in columns[1:]]}
    shown = None if event is None else EventColumns(**{**event, "args": tuple(event["args"])})
    return TraceTable(
        Schema(kind, columns, tuple(description.get("partitions", ()))), None, shown, casts=description.get("casts", {})
    )


def _by_name(entries: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {one["name"]: one for one in entries["tables"]}


def stored(metadata: TraceMetadata, table: str) -> list[StoredColumn]:
    """Return how to compute the columns of a stored table from decoded ones."""
    description = metadata.once(_by_name)[table]
    start = (-metadata.entries["start_ns"],)
    return [
        StoredColumn(name, ARROW_TYPES.get(TYPES[kind], "string"), name, start if name == TS else ())
        for name, kind, _ in description["columns"]
    ]


def _lineage(dimensions: Mapping[str, str], metadata: TraceMetadata, table: str) -> dict[str, ColumnLineage]:
    """The dimensions of an event table's columns."""
    description = metadata.once(_by_name)[table]
    shown = {column: dimension for dimension, column in dimensions.items()}
    found = {name: ColumnLineage(shown.get(name, f"args.{name}")) for name, _, _ in description["columns"]}
    found.pop("name", None)
    if "name" in shown:
        found["name"] = ColumnLineage(shown["name"])
    if "dur" in found:
        found["dur"] = ColumnLineage("dur")
    return {**found, TS: ColumnLineage("ts")}


def _diagnostics_and_properties(metadata: TraceMetadata) -> LoadedTrace:
    """Return the diagnostics and properties."""
    entries = metadata.entries
    paths: Sequence[str] = entries["paths"]
    diagnostics = [
        Diagnostic(paths[file] if 0 <= file < len(paths) else "", reason, count, example, incomplete)
        for file, reason, count, example, incomplete in entries["diagnostics"]
    ]
    for file, description, unread in entries.get("lines", ()):
        diagnostics += mostly_unread(paths[file], description, unread)
    properties = {"start_ns": str(entries["start_ns"]), **entries["properties"]}
    return LoadedTrace({}, diagnostics, entries["last_ts"], properties)
