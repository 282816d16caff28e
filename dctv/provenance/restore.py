"""Restore the source files of a reorganized folder, byte for byte."""

from __future__ import annotations

import hashlib
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from dctv.errors import TraceError, UsageError, reason_of
from dctv.provenance.container import pack
from dctv.provenance.database import Provenance, ReorganizedFile
from dctv.provenance.lines import interleaved, text_of
from dctv.provenance.outputs import Lines, digest_of
from dctv.provenance.writing import folders_of, writing
from dctv.record import field, record

if TYPE_CHECKING:
    import pyarrow as pa

Progress = Callable[[int, int], None]


class Rebuilt:
    """Rebuilds the sources' texts one after another, in one pass over the outputs."""

    def __init__(self, provenance: Provenance) -> None:
        self._provenance = provenance
        self._outputs = {one.number: _Walk(Lines(provenance.folder / one.path)) for one in provenance.outputs()}
        for number, walk in self._outputs.items():
            walk.copies = provenance.copies(number)

    def text(self, source: ReorganizedFile) -> Iterator[bytes]:
        """Yield the text of the next source, chunk by chunk.

        Raises:
            TraceError: lines are missing, duplicate or in another order than recorded.
        """
        pending = b""
        for chunk, homes, segments in self._provenance.chunks(source.number):
            try:
                parts = {one.output: self._outputs[one.output].segment(one.start, one.end) for one in segments}
                text = text_of(interleaved(parts, homes))
            except (KeyError, ValueError) as error:
                raise TraceError(f"chunk {chunk} of `{source.name}` cannot be rebuilt: {error}") from None
            yield pending
            pending = text
        yield pending if source.ends_line else pending.removesuffix(b"\n")

    def left(self) -> dict[int, int]:
        """Return how many lines of each output belong to no source."""
        return {number: walk.left() for number, walk in self._outputs.items()}


@record(frozen=False)
class _Walk:
    """A sequential pass over an output."""

    lines: Lines
    at: int = 0
    copies: list[tuple[int, int]] = field(default_factory=list)

    def segment(self, start: int, end: int) -> pa.LargeBinaryArray:
        """Return a range of lines; skipped lines before it must be copies."""
        self._skip()
        if start != self.at or end < start:
            raise ValueError(f"line {self.at} of an output is not in the provenance index")
        self.at = end
        return self.lines.take(end - start)

    def _skip(self) -> None:
        while self.copies and self.copies[0][0] == self.at:
            start, end = self.copies.pop(0)
            self.lines.take(end - start)
            self.at = end

    def left(self) -> int:
        """Return the number of lines after the last segment, without copies."""
        self._skip()
        return self.lines.rest()


def restore(folder: Path, target: Path, progress: Progress) -> list[Path]:
    """Restore all sources below a folder; each is verified by its content hash before it gets its name.

    Raises:
        TraceError: a part is missing or damaged.
        UsageError: a file of the same name exists.
    """
    provenance = Provenance(folder)
    try:
        sources = provenance.sources()
        paths = [target / source.name for source in sources]
        for path in paths:
            if path.exists():
                raise UsageError(f"`{path}` exists already", hint="restore into an empty folder")
        rebuilt = Rebuilt(provenance)
        with writing(target), folders_of(paths), _removed_if_full() as restored:
            for number, (source, path) in enumerate(zip(sources, paths, strict=True)):
                progress(number, len(sources))
                _restore_one(rebuilt, source, path, folder)
                restored.append(path)
        progress(len(sources), len(sources))
        return paths
    finally:
        provenance.close()


@contextmanager
def _removed_if_full() -> Iterator[list[Path]]:
    """Remove these files if the disk fails; they stay if others are damaged, since they may be all that can be had."""
    restored: list[Path] = []
    try:
        yield restored
    except OSError:
        for path in restored:
            path.unlink(missing_ok=True)
        raise


def _restore_one(rebuilt: Rebuilt, source: ReorganizedFile, path: Path, folder: Path) -> None:
    unproven = path.with_name(path.name + ".restoring")
    hashed = _Hashed(rebuilt.text(source))
    try:
        with unproven.open("wb") as file:
            _write(source, hashed, file, folder)
        if hashed.digest() != source.text_digest:
            raise TraceError(f"`{source.name}` cannot be rebuilt: its text has another content hash")
        if digest_of(unproven) != source.digest:
            raise TraceError(
                f"`{source.name}` cannot be compressed as it was, but its text is intact",
                hint="it needs another zlib; restore it on the machine that reorganized it",
            )
        unproven.rename(path)
    finally:
        unproven.unlink(missing_ok=True)


def _write(source: ReorganizedFile, text: _Hashed, file: BinaryIO, folder: Path) -> None:
    if source.kept is None:
        try:
            pack(source.container, iter(text), file)
        except ValueError as error:
            raise TraceError(f"`{source.name}` cannot be rebuilt: {error}") from None
        return
    for _ in text:
        pass
    try:
        kept = (folder / source.kept).open("rb")
    except OSError as error:
        raise TraceError(f"cannot read `{folder / source.kept}`: {reason_of(error)}") from None
    with kept:
        shutil.copyfileobj(kept, file)


class _Hashed:
    """Pieces of text that are hashed as they pass."""

    def __init__(self, pieces: Iterator[bytes]) -> None:
        self._pieces = pieces
        self._hash = hashlib.sha256()

    def __iter__(self) -> Iterator[bytes]:
        for piece in self._pieces:
            if piece:
                self._hash.update(piece)
                yield piece

    def digest(self) -> str:
        return self._hash.hexdigest()


@record
class RestoreVerdict:
    """The result of a verification."""

    sources: int
    lines: int
    events: int
    problems: Sequence[str]


def verify(folder: Path, progress: Progress) -> RestoreVerdict:
    """Verify that the outputs hold every source line exactly once, in order, and nothing else except marked copies.

    Raises:
        TraceError: there is no provenance index, or it is damaged.
    """
    provenance = Provenance(folder)
    try:
        sources = provenance.sources()
        problems = [
            f"`{one.path}` is not the file that was written"
            for one in provenance.outputs()
            if not (folder / one.path).is_file() or digest_of(folder / one.path) != one.digest
        ]
        if not problems:
            problems = _rebuilt_problems(provenance, sources, progress)
        return RestoreVerdict(len(sources), sum(s.lines for s in sources), sum(s.events for s in sources), problems)
    finally:
        provenance.close()


def _rebuilt_problems(provenance: Provenance, sources: list[ReorganizedFile], progress: Progress) -> list[str]:
    problems: list[str] = []
    rebuilt = Rebuilt(provenance)
    for number, source in enumerate(sources):
        progress(number, len(sources))
        hashed = _Hashed(rebuilt.text(source))
        try:
            for _ in hashed:
                pass
        except TraceError as error:
            return [*problems, error.message]
        if hashed.digest() != source.text_digest:
            problems.append(f"the text of `{source.name}` has another content hash")
        kept = source.kept
        if kept is not None and digest_of(provenance.folder / kept) != source.digest:
            problems.append(f"`{kept}` is not the file that was kept")
    names = {one.number: one.path for one in provenance.outputs()}
    problems += [f"{left} lines of `{names[n]}` belong to no source" for n, left in rebuilt.left().items() if left]
    progress(len(sources), len(sources))
    return problems
