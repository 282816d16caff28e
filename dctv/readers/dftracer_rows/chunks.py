"""Read DFTracer traces in chunks: one pass over all of them in bounded memory, and single chunks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import CHUNK_BYTES, RAW, Checkpoint, ColumnLineage, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, Diagnostic, LoadContext, LoadedTrace, TraceTable
from dctv.contracts.whole import tables as whole_tables
from dctv.errors import TraceError
from dctv.readers.dftracer_rows.tables import (
    check_found,
    check_readable,
    described_events,
    described_regular,
    diagnostics_of,
    files_table,
    properties_of,
)
from dctv.types.schema import TS

if TYPE_CHECKING:
    from dctv._kernels import PfwFinisher

METADATA = "metadata"

DIMENSIONS = {"cat": "cat", "pid": "pid", "tid": "tid", "hhash": "hhash", "fhash": "fhash", "shash": "shash"}
"""The default dimensions of an index, and their decoded columns."""

RESOLVED = {"fhash": "fhash", "hhash": "hhash", "shash": "shash"}
"""Columns of hashes with texts in metadata records of one kind."""


class DftracerPass:
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
        from dctv._kernels import PfwPass

        self._paths = paths
        self._whole = places is None
        if places is not None:
            places = sorted(places, key=lambda place: (place.file, place.uc_offset))
        names = [str(path) for path in paths]
        self._pass = PfwPass(names, context.threads, context.progress, chunk_bytes, hints, places=places)

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield each chunk once."""
        try:
            for chunk in self._pass:
                others = [(METADATA, chunk.metadata)] if chunk.metadata is not None else []
                yield DecodedChunk(chunk.checkpoint, chunk.events, others, chunk.hashes, chunk.other_lines)
        except ValueError as error:
            raise TraceError(f"cannot read `{self._paths[0]}`: {error}") from None
        entries = self.metadata()
        check_readable(entries)
        if self._whole:
            check_found(entries)

    def metadata(self) -> dict[str, Any]:
        """Return the metadata; only after the last chunk."""
        entries: dict[str, Any] = self._pass.metadata()
        return entries

    def again(self) -> bool:
        """Whether a second pass with the metadata as hints is needed."""
        return bool(self._pass.again())


def start(
    paths: Sequence[Path],
    context: LoadContext,
    hints: Mapping[str, Any] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> DftracerPass:
    """Start a pass; chunks have at least `chunk_bytes` of text."""
    return DftracerPass(paths, context, hints, chunk_bytes)


def tables(metadata: TraceMetadata) -> dict[str, TraceTable]:
    """Return the schemas of the events and of `metadata`."""
    finisher = _described(metadata)
    found = {
        f"{RAW}{event['name']}": described_events(event["name"], _columns(finisher, event["name"]), event["categories"])
        for event in metadata.entries["events"]
        if event["rows"]
    }
    found[METADATA] = described_regular(_columns(finisher, METADATA))
    return found


def _columns(finisher: PfwFinisher, name: str) -> list[tuple[str, str]]:
    return [(column.name, column.kind) for column in finisher.columns(name)]


def finished(metadata: TraceMetadata, table: str, batch: Any) -> Any:
    """Convert decoded rows of a table, with `FILE` last, to its final columns and values."""
    return _finisher(metadata).finish(table.removeprefix(RAW), batch)


def lineage(metadata: TraceMetadata, table: str) -> dict[str, ColumnLineage]:
    """The dimensions of an event table's columns."""
    found = {}
    plain = {column: dimension for dimension, column in DIMENSIONS.items()} | {TS: "ts", "dur": "dur"}
    for column in _described(metadata).columns(table.removeprefix(RAW)):
        decoded = column.decoded
        if column.how == "column":
            found[column.name] = ColumnLineage(plain.get(decoded, f"args.{decoded}"))
        elif column.how == "texts" and decoded in {"fhash", "hhash"}:
            found[column.name] = ColumnLineage(decoded, resolves=RESOLVED[decoded])
    return found


def trailing_facts(metadata: TraceMetadata) -> LoadedTrace:
    """Return the table of files, diagnostics and properties."""
    entries = metadata.entries
    properties = properties_of(entries, entries["versions"] if _has_version(metadata) else ())
    return LoadedTrace({"files": files_table(entries)}, gathered_diagnostics(metadata), entries["last_ts"], properties)


def gathered_diagnostics(metadata: TraceMetadata) -> list[Diagnostic]:
    """Return the diagnostics."""
    return diagnostics_of(metadata.entries)


def _has_version(metadata: TraceMetadata) -> bool:
    names = {event["name"] for event in metadata.entries["events"] if event["rows"]}
    return "start" in names and any(
        column.name == "version" and column.decoded == "version" for column in _described(metadata).columns("start")
    )


def decode(
    paths: Sequence[Path], checkpoints: Sequence[Checkpoint], metadata: TraceMetadata, context: LoadContext
) -> dict[str, TraceTable]:
    """Read some chunks of a trace; return its tables with only their rows."""
    return whole_tables(CHUNKS, metadata, DftracerPass(paths, context, metadata.entries, CHUNK_BYTES, checkpoints))


def families(metadata: TraceMetadata) -> list[str]:
    """Return a key for each file: its time unit, and its texts of hashes on which files disagree."""
    texts: dict[tuple[str, str], set[str]] = {}
    own: dict[int, dict[tuple[str, str], set[str]]] = {}
    for file, dimension, digest, text in metadata.hashes:
        texts.setdefault((dimension, digest), set()).add(text)
        own.setdefault(file, {}).setdefault((dimension, digest), set()).add(text)
    unclear = sorted(key for key, found in texts.items() if len(found) > 1)
    names = []
    for number, row in enumerate(metadata.entries["files"]):
        own_texts = [sorted(own.get(number, {}).get(key, ())) for key in unclear]
        names.append(f"{row['factor']} {own_texts}")
    return names


_LAST: list[tuple[TraceMetadata, PfwFinisher]] = []
"""The latest finisher: texts of hashes may be large, and consecutive batches use the same finisher."""


_DESCRIBED: list[tuple[TraceMetadata, PfwFinisher]] = []
"""Likewise for schemas, which do not depend on texts."""


def _described(metadata: TraceMetadata) -> PfwFinisher:
    """Return a finisher that knows the tables' columns."""
    from dctv._kernels import PfwFinisher

    for last, finisher in _DESCRIBED:
        if last is metadata:
            return finisher
    finisher = PfwFinisher(metadata.entries, [])
    _DESCRIBED[:] = [(metadata, finisher)]
    return finisher


def _finisher(metadata: TraceMetadata) -> PfwFinisher:
    from dctv._kernels import PfwFinisher

    for last, finisher in _LAST:
        if last is metadata:
            return finisher
    finisher = PfwFinisher(metadata.entries, metadata.hashes)
    _LAST[:] = [(metadata, finisher)]
    return finisher


CHUNKS = ChunkReader(
    dimensions=DIMENSIONS,
    start=start,
    tables=tables,
    finished=finished,
    lineage=lineage,
    rest=trailing_facts,
    decode=decode,
    families=families,
    diagnostics=gathered_diagnostics,
)
