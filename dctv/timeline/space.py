"""Allocate arrays of rows: in memory if they are small, otherwise in unnamed files; count tracks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import IO, Any

from dctv.errors import UsageError
from dctv.temporary import MORE_ROOM

_MOST = 48 << 20
_BLOCK = 1 << 20


class Space:
    """A budget for timelines: bytes of memory that all arrays share, a folder for the rest, and a number of tracks."""

    def __init__(self, folder: Path, most: int = _MOST, most_tracks: int | None = None) -> None:
        self.folder = folder
        """Created on first use."""
        self.most = most
        self._left = most
        self._most_tracks = most_tracks

    @classmethod
    def in_memory(cls) -> Space:
        """Return unlimited space, for rows that are in memory already."""
        return cls(Path(), sys.maxsize)

    def array(self, length: int, form: str) -> Any:
        """Return a writable numpy array.

        Raises:
            UsageError: the disk is full.
        """
        import numpy as np

        if self._reserve(length * np.dtype(form).itemsize):
            return np.zeros(length, form)
        with self.explained_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryFile(dir=self.folder) as file:
                _fill(file, length * np.dtype(form).itemsize)
                return np.memmap(file, form, "r+", shape=(length,))

    def check_tracks(self, count: int) -> None:
        """Raise UsageError if there are more tracks than allowed."""
        if self._most_tracks is not None and count > self._most_tracks:
            raise UsageError(
                f"the rows have more than {self._most_tracks:,} tracks, one for each partition",
                hint="select fewer partitions, or aggregate over them with GROUP USING PARTITION",
            )

    def words(self, length: int, write: Callable[[str], None]) -> Any:
        """Return uint64 words, about this many, that `write` writes to a path; None if they fit into memory.

        Raises:
            UsageError: they cannot be written.
        """
        import numpy as np

        if self._reserve(length):
            return None
        with self.explained_errors():
            self.folder.mkdir(parents=True, exist_ok=True)
            with TemporaryDirectory(dir=self.folder) as folder:
                path = str(Path(folder) / "words")
                write(path)
                return np.memmap(path, "<u8", "r")

    @contextmanager
    def explained_errors(self) -> Iterator[None]:
        """Convert errors of writing to the folder to errors with a hint."""
        try:
            yield
        except OSError as error:
            what = f"cannot write to `{self.folder}` what does not fit into memory: {error.strerror or error}"
            raise UsageError(what, hint=MORE_ROOM) from None

    def _reserve(self, size: int) -> bool:
        """Reserve bytes in memory; return whether they fit."""
        fits = size <= self._left
        self._left -= size if fits else 0
        return fits


def _fill(file: IO[bytes], size: int) -> None:
    """Allocate disk space, so that a full disk shows here: later, writing to the mapping would kill the process."""
    allocate = getattr(os, "posix_fallocate", None)
    if allocate is not None:
        allocate(file.fileno(), 0, size)
        return
    zeros = bytes(min(size, _BLOCK))
    for done in range(0, size, _BLOCK):
        file.write(zeros[: size - done])
    file.flush()
