"""Reads DFTracer traces in chunks: one pass over all of them in bounded memory, and single chunks again."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import CHUNK_BYTES, Checkpoint, ColumnLineage, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, Diagnostic, LoadContext, LoadedTrace, TraceTable
from dctv.contracts.whole import RAW
from dctv.contracts.whole import tables as whole_tables
from dctv.errors import TraceError
from dctv.readers.dftracer_rows.tables import (
    check_found,
    check_options,
    check_readable,
    described_events,
    described_regular,
    diagnostics_of,
    properties_of,
    told_files,
)
from dctv.types.schema import TS

if TYPE_CHECKING:
    from dctv._kernels import PfwFinisher

METADATA = "metadata"

DIMENSIONS = {"cat": "cat", "pid": "pid", "tid": "tid", "hhash": "hhash", "fhash": "fhash", "shash": "shash"}
"""What is indexed by default, and the decoded column that holds it."""

RESOLVED = {"fhash": "fhash", "hhash": "hhash", "shash": "shash"}
"""Columns whose hashes have their texts in the metadata records of one kind."""

Row = tuple[Any, ...]


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
        """Begin to read ahead, all or only these chunks; `hints` are the facts of an earlier pass."""
        from dctv._kernels import PfwPass

        check_options(context.options)
        self._paths = paths
        self._whole = places is None
        if places is not None:
            places = sorted(places, key=lambda place: (place.file, place.uc_offset))
        names = [str(path) for path in paths]
        self._pass = PfwPass(names, context.threads, context.progress, chunk_bytes, hints, places=places)

    def __iter__(self) -> Iterator[DecodedChunk]:
        """Yield every chunk once."""
        try:
            for chunk in self._pass:
                others = [(METADATA, chunk.metadata)] if chunk.metadata is not None else []
                yield DecodedChunk(chunk.checkpoint, chunk.events, others, chunk.hashes, chunk.other_lines)
        except ValueError as error:
            raise TraceError(f"cannot read `{self._paths[0]}`: {error}") from None
        facts = self.facts()
        check_readable(facts)
        if self._whole:
            check_found(facts)

    def facts(self) -> dict[str, Any]:
        """Return what was learnt; only after the last chunk."""
        facts: dict[str, Any] = self._pass.facts()
        return facts

    def again(self) -> bool:
        """Whether the pass must be done again with its facts as hints."""
        return bool(self._pass.again())


def start(
    paths: Sequence[Path],
    context: LoadContext,
    hints: Mapping[str, Any] | None = None,
    chunk_bytes: int = CHUNK_BYTES,
) -> DftracerPass:
    """Begin a pass; chunks have `chunk_bytes` of text at least."""
    return DftracerPass(paths, context, hints, chunk_bytes)


def tables(known: TraceMetadata) -> dict[str, TraceTable]:
    """Return the schemas of the events and of `metadata`."""
    finisher = _described(known)
    found = {
        f"{RAW}{event['name']}": described_events(event["name"], _columns(finisher, event["name"]), event["categories"])
        for event in known.facts["events"]
        if event["rows"]
    }
    found[METADATA] = described_regular(_columns(finisher, METADATA))
    return found


def _columns(finisher: PfwFinisher, name: str) -> list[tuple[str, str]]:
    return [(column, arrow_type) for column, arrow_type, *_ in finisher.columns(name)]


def finished(known: TraceMetadata, table: str, batch: Any) -> Any:
    """Decoded rows of a table, `FILE` last -> the columns and values of the whole load."""
    return _finisher(known).finish(table.removeprefix(RAW), batch)


def origins(known: TraceMetadata, table: str) -> dict[str, ColumnLineage]:
    """Of what dimensions the columns of an event table are."""
    found = {}
    plain = {column: dimension for dimension, column in DIMENSIONS.items()} | {TS: "ts", "dur": "dur"}
    for column, _, decoded, how in _described(known).columns(table.removeprefix(RAW)):
        if how == "column":
            found[column] = ColumnLineage(plain.get(decoded, f"args.{decoded}"))
        elif how == "texts" and decoded in {"fhash", "hhash"}:
            found[column] = ColumnLineage(decoded, resolves=RESOLVED[decoded])
    return found


def rest(known: TraceMetadata) -> LoadedTrace:
    """Return the table of files, diagnostics and properties."""
    facts = known.facts
    properties = properties_of(facts, facts["versions"] if _tells_version(known) else ())
    return LoadedTrace({"files": told_files(facts)}, troubles(known), facts["last_ts"], properties)


def troubles(known: TraceMetadata) -> list[Diagnostic]:
    """Return the diagnostics."""
    return diagnostics_of(known.facts)


def _tells_version(known: TraceMetadata) -> bool:
    names = {event["name"] for event in known.facts["events"] if event["rows"]}
    return "start" in names and any(
        column == "version" and decoded == "version" for column, _, decoded, _ in _start_columns(known)
    )


def _start_columns(known: TraceMetadata) -> list[Row]:
    return list(_described(known).columns("start"))


def decode(
    paths: Sequence[Path], checkpoints: Sequence[Checkpoint], known: TraceMetadata, context: LoadContext
) -> dict[str, TraceTable]:
    """Read some chunks of a trace -> its tables with their rows only."""
    return whole_tables(CHUNKS, known, DftracerPass(paths, context, known.facts, CHUNK_BYTES, checkpoints))


def families(known: TraceMetadata) -> list[str]:
    """Return a name for each file: its time unit, and what it says of hashes that files give different texts."""
    texts: dict[tuple[str, str], set[str]] = {}
    own: dict[int, dict[tuple[str, str], set[str]]] = {}
    for file, dimension, digest, text in known.hashes:
        texts.setdefault((dimension, digest), set()).add(text)
        own.setdefault(file, {}).setdefault((dimension, digest), set()).add(text)
    unclear = sorted(key for key, found in texts.items() if len(found) > 1)
    names = []
    for number, row in enumerate(known.facts["files"]):
        told = [sorted(own.get(number, {}).get(key, ())) for key in unclear]
        names.append(f"{row['factor']} {told}")
    return names


_LAST: list[tuple[TraceMetadata, PfwFinisher]] = []
"""The finisher made last: what files say of hashes may be much, and many batches are finished with the same."""


_DESCRIBED: list[tuple[TraceMetadata, PfwFinisher]] = []
"""The same for schemas, which do not depend on texts."""


def _described(known: TraceMetadata) -> PfwFinisher:
    """Return what tells the columns of tables."""
    from dctv._kernels import PfwFinisher

    for last, finisher in _DESCRIBED:
        if last is known:
            return finisher
    finisher = PfwFinisher(known.facts, [])
    _DESCRIBED[:] = [(known, finisher)]
    return finisher


def _finisher(known: TraceMetadata) -> PfwFinisher:
    from dctv._kernels import PfwFinisher

    for last, finisher in _LAST:
        if last is known:
            return finisher
    finisher = PfwFinisher(known.facts, known.hashes)
    _LAST[:] = [(known, finisher)]
    return finisher


CHUNKS = ChunkReader(
    dimensions=DIMENSIONS,
    start=start,
    tables=tables,
    finished=finished,
    origins=origins,
    rest=rest,
    decode=decode,
    families=families,
    diagnostics=troubles,
)
