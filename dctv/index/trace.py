"""Files of one trace and their format -> what its index is of, and how it is read in chunks."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dctv.contracts.reader import ChunkReader, LoadContext, Reader
from dctv.errors import IndexFailed
from dctv.index.location import Subject, subject
from dctv.record import record


@record
class Trace:
    """A trace that is to be indexed; the context's `progress` is called during passes."""

    paths: tuple[Path, ...]
    reader: Reader
    context: LoadContext
    counted: Callable[[int], None] = lambda _: None
    """Called with how many events there were so far."""

    @property
    def about(self) -> Subject:
        """What its index is of."""
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
