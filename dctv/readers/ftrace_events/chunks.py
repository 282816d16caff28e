"""Read ftrace text in chunks: one pass over all of them in bounded memory, and single chunks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dctv.contracts.chunks import CHUNK_BYTES, RAW, Checkpoint, ColumnLineage, DecodedChunk, TraceMetadata
from dctv.contracts.reader import (
    ARROW_TYPES,
    ChunkReader,
    Diagnostic,
    LoadContext,
    LoadedTrace,
    StoredColumn,
    TraceTable,
)
from dctv.contracts.whole import finished_by
from dctv.contracts.whole import tables as whole_tables
from dctv.errors import TraceError
from dctv.readers.ftrace_events.fields import FIXED, TEXT, column_names, counts_table, shown_columns, shown_event
from dctv.readers.ftrace_events.metadata import GatheredMetadata, lacking, texts_of
from dctv.readers.ftrace_events.report import check, check_statistics, diagnostics, properties
from dctv.types.schema import TS, ColumnType, Kind, Schema

DIMENSIONS = {name: name for name in ("cpu", "common_comm", "common_pid", "common_tgid")}
"""The default dimensions of an index, and their decoded columns."""
PREFIX = "dctv:key:"
"""Prefix of decoded columns whose field name clashes with another column, or is not valid UTF-8."""


class FtracePass:
    """One pass over the chunks of a trace."""

    def __init__(
        self,
        paths: Sequence[Path],
        context: LoadContext,
        hints: Mapping[str, Any] | None,
        chunk_bytes: int,
        places: Sequence[Checkpoint] | None = None,
    ) -> None:
        """Start to read ahead, all chunks or only these; `hints` is the metadata of an earlier pass."""
        from dctv._kernels import FtracePass as Decoder

        if places is None:
            for path in paths:
                check(path)
        self._paths = paths
        self._hinted = hints is not None
        self._whole = places is None
        hints = hints or {}
        self._gathered = GatheredMetadata([str(path) for path in paths], hints)
        self._entries: dict[str, Any] | None = None
        self._decoder = Decoder(
            [str(path) for path in paths],
            max(1, context.threads),
            context.progress,
            chunk_bytes,
            texts=texts_of(hints),
            timeless=hints.get("start_ns", 0),
            places=None if places is None else _in_order(places, hints),
        )

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield each chunk once."""
        try:
            for chunk in self._decoder:
                events = self._gathered.add(chunk)
                yield DecodedChunk(chunk.checkpoint, events, other_lines={"": chunk.other_lines})
        except OSError as error:
            raise TraceError(f"cannot read `{error.args[0]}`: {error.args[1]}") from None
        except ValueError as error:
            raise TraceError(f"cannot hold the tables of `{self._paths[0]}`: {error}") from None
        if self._whole:
            self._entries = self._gathered.finished(self._decoder.ends)
            for path, statistics in zip(self._paths, self._entries["files"], strict=True):
                check_statistics(path, statistics)

    def metadata(self) -> dict[str, Any]:
        """Return the metadata; only after the last chunk."""
        if self._entries is None:
            raise RuntimeError("the pass has not come to its end")
        return self._entries

    def again(self) -> bool:
        """Whether a second pass with the metadata as hints is needed."""
        entries = self.metadata()
        if self._hinted:
            return False
        timeless = any(skip[0] == "timeless" for file in entries["files"] for skip in file["skips"])
        return bool(texts_of(entries)) or (timeless and entries["start_ns"] != 0)


def _in_order(places: Sequence[Checkpoint], entries: Mapping[str, Any]) -> list[tuple[Checkpoint, bool]]:
    """Return chunks in order, each with whether its file ends early."""
    ordered = sorted(places, key=lambda place: (place.file, place.uc_offset))
    return [(place, entries["files"][place.file]["broken"] is not None) for place in ordered]


def start(
    paths: Sequence[Path],
    context: LoadContext,
    hints: Mapping[str, Any] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> FtracePass:
    """Start a pass; chunks have at least `chunk_bytes` of text."""
    return FtracePass(paths, context, hints, chunk_bytes)


def tables(metadata: TraceMetadata) -> dict[str, TraceTable]:
    """Return the schemas of the events."""
    lacks = metadata.once(lacking)
    found = {}
    for event in metadata.entries["events"]:
        schema = Schema(Kind.EVENT, tuple(column for column, _ in _shown(event, lacks)))
        shown = shown_event(event["name"], schema.names, lacks)
        found[f"{RAW}{event['name']}"] = TraceTable(schema, None, shown)
    return found


def stored(metadata: TraceMetadata, table: str) -> list[StoredColumn]:
    """Return how to compute the columns of a stored table from decoded ones."""
    event = _event(metadata, table)
    decoded = [name for name, *_ in event["columns"]]
    added = {TS: (-metadata.entries["start_ns"],), "line": tuple(file["before"] for file in metadata.entries["files"])}
    return [
        StoredColumn(
            column.name,
            ARROW_TYPES.get(column.type, "string"),
            "" if place is None else decoded[place],
            added.get("" if place is None else decoded[place], ()),
        )
        for column, place in _shown(event, metadata.once(lacking))
    ]


def _shown(event: Mapping[str, Any], lacks: Sequence[str]) -> list[tuple[ColumnType, int | None]]:
    kinds = {"int": "BIGINT", "uint": "UBIGINT", "float": "DOUBLE", "bool": "BOOLEAN"}
    decoded = [(_field(name), kinds.get(kind, "VARCHAR")) for name, kind, *_ in event["columns"]]
    tgid = FIXED.index("common_tgid")
    if event["columns"][tgid][1] == "empty":
        decoded[tgid] = ("common_tgid", "BIGINT")
    numbered = event["columns"][FIXED.index("line")][1] != "empty"
    return shown_columns(event["name"], decoded, lacks=lacks, numbered=numbered)


def _event(metadata: TraceMetadata, table: str) -> Mapping[str, Any]:
    return metadata.once(_by_name)[table.removeprefix(RAW)]


def _by_name(entries: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    return {event["name"]: event for event in entries["events"]}


def _field(column: str) -> str:
    """Return the field name of a decoded column."""
    if not column.startswith(PREFIX):
        return column
    name = column.removeprefix(PREFIX)
    try:
        raw = bytes.fromhex(name.removeprefix("0x")) if name.startswith("0x") else b""
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode(errors="replace")
    except ValueError:
        pass
    return name


def lineage(metadata: TraceMetadata, table: str) -> dict[str, ColumnLineage]:
    """The dimensions of an event table's columns."""
    decoded = [name for name, *_ in _event(metadata, table)["columns"]]
    found = {TS: ColumnLineage("ts")}
    for name, column in zip(decoded, column_names([_field(name) for name in decoded]), strict=True):
        if name in DIMENSIONS and name not in metadata.once(lacking):
            found[column] = ColumnLineage(name)
        elif name not in FIXED:
            found[TEXT if name == f" {TEXT}" else column] = ColumnLineage(f"args.{name}")
    return found


def trailing_facts(metadata: TraceMetadata) -> LoadedTrace:
    """Return the counts of events, diagnostics and properties."""
    entries = metadata.entries
    counts = [
        (printed, f"{RAW}{event['name']}", count) for event in entries["events"] for printed, count in event["printed"]
    ]
    return LoadedTrace(
        {"event_counts": counts_table(counts)}, gathered_diagnostics(metadata), entries["last_ts"], properties(entries)
    )


def gathered_diagnostics(metadata: TraceMetadata) -> list[Diagnostic]:
    """Return the diagnostics."""
    entries = metadata.entries
    return diagnostics([Path(file["path"]) for file in entries["files"]], entries)


def decode(
    paths: Sequence[Path], checkpoints: Sequence[Checkpoint], metadata: TraceMetadata, context: LoadContext
) -> dict[str, TraceTable]:
    """Read some chunks of a trace; return its tables with only their rows."""
    return whole_tables(CHUNKS, metadata, FtracePass(paths, context, metadata.entries, CHUNK_BYTES, checkpoints))


CHUNKS = ChunkReader(
    dimensions=DIMENSIONS,
    start=start,
    tables=tables,
    finished=partial(finished_by, stored),
    lineage=lineage,
    rest=trailing_facts,
    decode=decode,
    stored=stored,
    diagnostics=gathered_diagnostics,
)
