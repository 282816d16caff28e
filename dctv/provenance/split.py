"""Write the lines of traces to one file per group of events, chunk by chunk, and record where each line went."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.chunks import CHUNK_BYTES, FILE, LINE, Checkpoint, DecodedChunk, TraceMetadata
from dctv.contracts.reader import ChunkReader, LoadContext, Reader
from dctv.errors import TraceError, UsageError
from dctv.provenance.container import container_of
from dctv.provenance.database import NAME, EventGroup, Recorder, ReorganizedFile, Segment, WrittenFile
from dctv.provenance.lines import chosen, lines_of
from dctv.provenance.outputs import GzipOutput, Output, ParquetOutput, digest_of
from dctv.provenance.writing import folders_of, writing, writing_database
from dctv.record import field, record

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa

REST = "rest"
"""The group of all that no other group matches: other events, metadata, brackets, lines that are not events."""
KEPT = "containers"
"""The folder of compressed files that no compression reproduces."""

MOST_FILES = 1 << 16
"""The maximum number of files: each line's file is recorded in 16 bits."""

Homes = Callable[[str, Any], "np.ndarray[Any, Any]"]
"""Maps a table's name and its finished rows to the group number of each row, uint16."""


@record
class SplitJob:
    """The sources, groups and target of a reorganization."""

    paths: Sequence[Path]
    reader: Reader
    groups: Sequence[EventGroup]
    """With the rest last."""
    target: Path
    parquet: bool
    context: LoadContext


@record(frozen=False)
class _Place:
    """A file being written."""

    number: int
    group: EventGroup
    family: str
    name: str
    output: Output
    events: int = 0


def metadata_of(paths: Sequence[Path], chunks: ChunkReader, context: LoadContext) -> TraceMetadata:
    """Read a trace once for its metadata."""
    hints = None
    while True:
        run = chunks.start(paths, context, hints, CHUNK_BYTES)
        hashes = [(c.checkpoint.file, *one) for c in run for one in c.hashes]
        if not run.again():
            return TraceMetadata(run.metadata(), hashes)
        hints = run.metadata()


def reorganize(job: SplitJob, metadata: TraceMetadata, homes: Homes) -> list[WrittenFile]:
    """Write the files of all groups, then the provenance index.

    Files get their final names only after everything has been written.

    Raises:
        UsageError: the target already contains files.
        TraceError: a source cannot be read, or changed in the meantime.
    """
    with writing(job.target):
        occupied = job.target.exists() and any(job.target.iterdir())
    if occupied:
        raise UsageError(f"the folder `{job.target}` is not empty", hint="name a new one with -o")
    assert job.reader.chunks is not None
    families = job.reader.chunks.families(metadata)
    files = len(job.groups) * len(set(families))
    if files > MOST_FILES:
        raise UsageError(f"the groups would take {files} files, at most {MOST_FILES} can be told apart")
    with _workspace(job.target) as work:
        written = _Splitting(job, metadata, homes, work, families).run()
        _publish(work, job.target, [one.path for one in written])
        return written


@contextmanager
def _workspace(target: Path) -> Iterator[Path]:
    """Create a folder to write in; on exit remove it, and after a failure the target too if it is new."""
    work = target / f".reorganizing-{os.getpid()}"
    with ExitStack() as stack:
        with writing(target):
            stack.enter_context(folders_of([work]))
            work.mkdir()
        try:
            yield work
        finally:
            shutil.rmtree(work, ignore_errors=True)


def _publish(work: Path, target: Path, names: Sequence[str]) -> None:
    """Give all files their final names, or none; the provenance index, which makes them valid, comes last."""
    kept = [KEPT] if (work / KEPT).is_dir() else []
    with writing(target), ExitStack() as undo:
        for name in (*kept, *names, NAME):
            (work / name).rename(target / name)
            undo.callback((target / name).rename, work / name)
        undo.pop_all()


@record(frozen=False)
class _Splitting:
    """One pass over the chunks of all sources."""

    job: SplitJob
    metadata: TraceMetadata
    homes: Homes
    work: Path
    families: Sequence[str]
    places: dict[tuple[int, str], _Place] = field(default_factory=dict)

    @property
    def chunks(self) -> ChunkReader:
        assert self.job.reader.chunks is not None
        return self.job.reader.chunks

    def run(self) -> list[WrittenFile]:
        job = self.job
        by_file = _by_file(
            self.chunks.start(job.paths, job.context, self.metadata.entries, CHUNK_BYTES), len(job.paths)
        )
        names = _names_below(job.paths)
        with (
            writing_database(job.target),
            closing(Recorder(self.work / NAME, job.reader.name, list(job.groups))) as recorder,
            ExitStack() as unfinished,
        ):
            unfinished.callback(self._discard)
            for number, (path, chunks) in enumerate(zip(job.paths, by_file, strict=True)):
                recorder.source(self._source(recorder, number, path, names[number], chunks))
            with writing(job.target):
                written = [one for place in self.places.values() if (one := self._written(place)) is not None]
            unfinished.pop_all()
            recorder.finish(written)
        return written

    def _discard(self) -> None:
        for place in self.places.values():
            place.output.discard()

    def _source(
        self, recorder: Recorder, number: int, path: Path, name: str, chunks: Iterator[DecodedChunk]
    ) -> ReorganizedFile:
        before = path.stat()
        container = container_of(path, lambda _: None)
        text_hash, size, count, lines, events, ends_line = hashlib.sha256(), 0, 0, 0, 0, True
        for chunk in chunks:
            text = _text(path, chunk.checkpoint)
            text_hash.update(text)
            size += len(text)
            ends_line = text.endswith(b"\n") if text else ends_line
            # Every line of an output has a newline; whether the source's last one did is recorded separately.
            rows = lines_of(text if ends_line else text + b"\n")
            with writing(self.job.target):
                events += self._chunk(recorder, number, chunk, rows)
            count, lines = count + 1, lines + len(rows)
        after = path.stat()
        if (before.st_size, before.st_mtime_ns) != (after.st_size, after.st_mtime_ns):
            raise TraceError(f"`{path}` changed while it was read")
        # Text outside of chunks could not be reproduced, whatever the compression.
        whole = sum(member.text for member in container.members) if container.packed else after.st_size
        kept = None if container.repeatable and whole == size else self._store(number, path)
        return ReorganizedFile(
            number,
            str(path.resolve()),
            name,
            digest_of(path),
            text_hash.hexdigest(),
            count,
            lines,
            events,
            ends_line,
            container,
            kept,
        )

    def _store(self, number: int, path: Path) -> str:
        name = f"{KEPT}/{number:06}"
        with writing(self.job.target):
            (self.work / KEPT).mkdir(exist_ok=True)
            shutil.copyfile(path, self.work / name)
        return name

    def _chunk(self, recorder: Recorder, source: int, chunk: DecodedChunk, lines: pa.LargeBinaryArray) -> int:
        """Write the lines of a chunk to the files of their groups; return how many are events."""
        import numpy as np

        places = self._places(source)
        homes = np.full(len(lines), places[-1].number, np.uint16)
        is_event = np.zeros(len(lines), bool)
        for name, batch in chunk.events:
            rows = batch.column(batch.schema.get_field_index(LINE)).to_numpy()
            groups = self.homes(f"raw_events.{name}", self._finished(name, batch, source))
            homes[rows] = np.array([one.number for one in places], np.uint16)[groups]
            is_event[rows] = True
        columns = self._columns(chunk, len(lines)) if self.job.parquet else {}
        self._copy(recorder, chunk, lines, columns, places)
        segments = []
        for place in places:
            own = np.flatnonzero(homes == place.number)
            if not len(own):
                continue
            start, events = place.output.lines, int(is_event[own].sum())
            place.output.add(chosen(lines, own), {n: c.take(own) for n, c in columns.items()})
            place.events += events
            segments.append(Segment(source, chunk.checkpoint.number, place.number, start, place.output.lines, events))
        recorder.chunk(source, chunk.checkpoint.number, homes, segments)
        return int(is_event.sum())

    def _copy(
        self,
        recorder: Recorder,
        chunk: DecodedChunk,
        lines: pa.LargeBinaryArray,
        columns: Mapping[str, Any],
        places: Sequence[_Place],
    ) -> None:
        """Copy the metadata of the chunk, which belongs to the rest, to every group, before its events."""
        import numpy as np

        numbers = [np.frombuffer(blob, "<u4") for kind, blob in chunk.other_lines.items() if kind]
        if not numbers:
            return
        rows = np.sort(np.concatenate(numbers))
        copied, line_numbers = chosen(lines, rows), {n: c.take(rows) for n, c in columns.items()}
        for place in places[:-1]:
            start = place.output.lines
            place.output.add(copied, line_numbers)
            recorder.copy(place.number, start, place.output.lines)

    def _finished(self, name: str, batch: Any, source: int) -> Any:
        import pyarrow as pa

        plain = batch.drop_columns([LINE])
        file = pa.repeat(pa.scalar(source, pa.uint32()), batch.num_rows)
        return self.chunks.finished(self.metadata, f"raw_events.{name}", plain.append_column(FILE, file))

    def _columns(self, chunk: DecodedChunk, lines: int) -> dict[str, Any]:
        """Return the columns of a Parquet file besides the text; NULL for lines that are not events."""
        import numpy as np
        import pyarrow as pa

        tables = self.chunks.tables(self.metadata)
        parts: list[Any] = []
        for name, batch in chunk.events:
            event = tables[f"raw_events.{name}"].event
            assert event is not None
            named = {"_ts": "_ts", "_duration": event.duration, "category": event.category}
            named |= {"pid": event.pid, "tid": event.tid}
            columns = {"name": pa.repeat(pa.scalar(name), batch.num_rows)}
            for column, own in named.items():
                place = -1 if own is None else batch.schema.get_field_index(own)
                kind = pa.string() if column == "category" else pa.int64()
                columns[column] = pa.nulls(batch.num_rows, kind) if place < 0 else batch.column(place).cast(kind)
            parts.append(pa.table({**columns, LINE: batch.column(LINE)}))
        if not parts:
            texts = ("name", "category")
            names = ("name", "_ts", "_duration", "category", "pid", "tid")
            return {n: pa.nulls(lines, pa.string() if n in texts else pa.int64()) for n in names}
        table = pa.concat_tables(parts).combine_chunks()
        places = np.full(lines, -1, np.int64)
        places[table.column(LINE).to_numpy()] = np.arange(len(table))
        rows = pa.array(places, mask=places < 0)
        return {n: table.column(n).combine_chunks().take(rows) for n in table.column_names if n != LINE}

    def _places(self, source: int) -> list[_Place]:
        """Return the files of a source's family, one for each group."""
        family = self.families[source]
        families = list(dict.fromkeys(one.family for one in self.places.values()))
        rank = families.index(family) if family in families else len(families)
        places = []
        for group in self.job.groups:
            key = (group.number, family)
            if key not in self.places:
                suffix = ".parquet" if self.job.parquet else self.job.reader.suffixes[-1]
                name = f"{group.name}{f'-{rank + 1}' if rank else ''}{suffix}"
                output = self._output(self.work / name)
                self.places[key] = _Place(len(self.places), group, family, name, output)
            places.append(self.places[key])
        return places

    def _output(self, path: Path) -> Output:
        return ParquetOutput(path, self.job.reader.name, self.job.target) if self.job.parquet else GzipOutput(path)

    def _written(self, place: _Place) -> WrittenFile | None:
        is_rest = place.group is self.job.groups[-1]
        if not place.output.lines or not (place.events or is_rest):
            place.output.discard()
            (self.work / place.name).unlink(missing_ok=True)
            return None
        digest = place.output.close()
        return WrittenFile(place.number, place.group.number, place.name, digest, place.output.lines, place.events)


def _by_file(chunks: Iterable[DecodedChunk], files: int) -> Iterator[Iterator[DecodedChunk]]:
    """Yield the chunks of each file in turn."""
    source = iter(chunks)
    ahead = next(source, None)

    def of(file: int) -> Iterator[DecodedChunk]:
        nonlocal ahead
        while ahead is not None and ahead.checkpoint.file == file:
            chunk, ahead = ahead, next(source, None)
            yield chunk

    for file in range(files):
        yield of(file)


def _text(path: Path, at: Checkpoint) -> bytes:
    from dctv import _kernels

    no_lines = TraceError(
        f"`{path}` cannot be read line by line: it is compressed in an unsupported way, or has changed",
        hint="viewer pages and files compressed by adb cannot be reorganized",
    )
    try:
        text: bytes = _kernels.read_chunk(str(path), at)
    except OSError:
        raise no_lines from None
    if text.count(b"\n") + (not text.endswith(b"\n") and bool(text)) != at.lines:
        raise no_lines
    return text


def _names_below(paths: Sequence[Path]) -> list[str]:
    """Return the paths relative to their common folder."""
    whole = [path.resolve() for path in paths]
    common = Path(os.path.commonpath([path.parent for path in whole]))
    return [path.relative_to(common).as_posix() for path in whole]
