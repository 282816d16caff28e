"""Turn exceptions from reading damaged files into errors for users, in one place for all formats.

A reader reports the damage that it expects. Damage that it does not expect, such as an impossible length or an offset
behind the end, becomes an error that names the file, never a traceback.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

from dctv.contracts.chunks import Checkpoint, DecodedChunk, Pass, TraceMetadata
from dctv.contracts.reader import ChunkReader, Head, LoadContext, LoadedTrace, Reader, TraceTable
from dctv.contracts.registry import Registry
from dctv.errors import TraceError
from dctv.record import replace, unread

FAULTS = (
    OSError,
    ValueError,
    struct.error,
    zlib.error,
    EOFError,
    ArithmeticError,
    MemoryError,
    NotImplementedError,  # archives by a method that zipfile lacks, types that Arrow cannot read
    RecursionError,
)
"""Exceptions of libraries on damaged files; these include the errors of Arrow."""


class ReaderErrors:
    """Turn exceptions of readers into errors that name the file and the damage."""

    def __init__(self, paths: Sequence[Path]) -> None:
        self._paths = paths

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> None:
        if not isinstance(error, FAULTS):
            return
        path = self._paths[0] if self._paths else ""
        if isinstance(error, OSError):
            what = error.strerror.lower() if error.strerror else _text(error)
            raise TraceError(f"cannot read `{error.filename or path}`: {what}") from None
        if isinstance(error, ValueError) and str(error).startswith("cannot"):
            raise TraceError(str(error)) from None
        raise TraceError(f"cannot read `{path}`: {_text(error)}") from None


def _text(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "it takes more memory than there is"
    if isinstance(error, RecursionError):
        return "it is nested too deep"
    text = str(error).partition("\n")[0].partition(". Detail")[0].rstrip(".")
    return text or f"it is damaged ({type(error).__name__})"


class _Guarded:
    """A pass that raises errors meant for users."""

    def __init__(self, found: Pass, paths: Sequence[Path]) -> None:
        self._found = found
        self._paths = paths

    def __iter__(self) -> Iterator[DecodedChunk]:
        with ReaderErrors(self._paths):
            yield from self._found

    def metadata(self) -> Mapping[str, Any]:
        """Return the metadata of the trace."""
        with ReaderErrors(self._paths):
            return self._found.metadata()

    def again(self) -> bool:
        """Whether the pass must be done again."""
        return self._found.again()


def guarded(reader: Reader) -> Reader:
    """Return a reader that raises TraceError for any fault of a file, and never claims a file because of one."""
    chunks = reader.chunks
    return replace(
        reader,
        sniff=partial(_sniff, reader.sniff),
        load=partial(_load, reader.load),
        chunks=None if chunks is None else unread(ChunkReader, partial(_chunks, chunks)),
        folder=None if reader.folder is None else partial(_folder, reader.folder),
    )


def readers_in(package: ModuleType) -> Registry[Reader]:
    """Return the registry of the readers of a package, each guarded."""
    return Registry(package, record=Reader, taken=guarded)


def _chunks(chunks: ChunkReader) -> ChunkReader:
    decode = chunks.decode
    return replace(
        chunks,
        start=partial(_start, chunks.start),
        decode=None if decode is None else partial(_decode, decode),
    )


def _sniff(sniff: Callable[[Head], bool], head: Head) -> bool:
    try:
        return sniff(head)
    except FAULTS:
        return False


def _folder(folder: Callable[[Path], Sequence[Path] | None], path: Path) -> Sequence[Path] | None:
    with ReaderErrors([path]):
        return folder(path)


def _load(
    load: Callable[[Sequence[Path], LoadContext], LoadedTrace], paths: Sequence[Path], context: LoadContext
) -> LoadedTrace:
    with ReaderErrors(paths):
        return load(paths, context)


def _start(
    start: Callable[..., Pass], paths: Sequence[Path], context: LoadContext, hints: Any, chunk_bytes: int
) -> Pass:
    with ReaderErrors(paths):
        return _Guarded(start(paths, context, hints, chunk_bytes), paths)


def _decode(
    decode: Callable[..., Mapping[str, TraceTable]],
    paths: Sequence[Path],
    places: Sequence[Checkpoint],
    metadata: TraceMetadata,
    context: LoadContext,
) -> Mapping[str, TraceTable]:
    with ReaderErrors(paths):
        return decode(paths, places, metadata, context)
