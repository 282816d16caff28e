"""A trace to be indexed: the subject of its index, and how it is read in chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dctv.contracts.reader import ChunkReader, LoadContext, Reader
from dctv.errors import IndexFailed
from dctv.index.location import Subject, subject
from dctv.record import record


@record
class Trace:
    """A trace to be indexed; passes call the context's `progress`."""

    paths: tuple[Path, ...]
    reader: Reader
    context: LoadContext
    counted: Callable[[int], None] = lambda _: None
    """Called with the number of events so far."""

    @property
    def subject(self) -> Subject:
        """The subject of its index."""
        return subject(self.paths, self.reader.name, self.context.options)

    @property
    def chunks(self) -> ChunkReader:
        """How it is read in chunks.

        Raises:
            IndexFailed: its format has no chunks.
        """
        if self.reader.chunks is None:
            raise IndexFailed(f"traces of format `{self.reader.name}` cannot be indexed")
        return self.reader.chunks
