"""Send results of the prompt to files instead of the terminal: `.output FILE` and `.once FILE`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import dctv.writers
from dctv.contracts.registry import scan
from dctv.contracts.writer import Writer
from dctv.errors import UsageError
from dctv.record import record
from dctv.whole_file import Sink, cannot_write, file_sink


@record(frozen=False)
class Destination:
    """The file of the next result, and that of all later ones."""

    once: Path | None = None
    path: Path | None = None
    _stream: BinaryIO | None = None
    _results: int = 0
    _full: str = ""
    """The format of the file's only result, if it cannot hold more."""

    @property
    def is_file(self) -> bool:
        """Whether the next result goes to a file."""
        return self.once is not None or self.path is not None

    def open(self, path: Path) -> None:
        """Send all further results to a file, one after another.

        Raises:
            UsageError: it cannot be written.
        """
        self.close()
        writer = _by_suffix(path)
        if writer is None or writer.many:
            try:
                self._stream = path.open("wb")
            except OSError as error:
                raise cannot_write(f"`{path}`", error) from error
        self.path, self._results, self._full = path, 0, ""

    def close(self) -> None:
        """Send results to the terminal again."""
        if self._stream is not None:
            self._stream.close()
        self._stream = self.path = self.once = None

    def writer(self, default: Writer) -> Writer:
        """Return the format of the next result: that of the file's suffix, or the default."""
        path = self.once or self.path
        return default if path is None else _by_suffix(path) or default

    @contextmanager
    def sink(self, writer: Writer) -> Iterator[Sink]:
        """Write the next result; the file of `.once` appears only when it is complete.

        Raises:
            UsageError: it cannot be written, or the file cannot hold another result.
        """
        once, self.once = self.once, None
        if once is not None:
            with file_sink(once) as sink:
                yield sink
            return
        self._check_room(writer)
        if self._stream is None:
            assert self.path is not None
            with file_sink(self.path) as sink:
                yield sink
        else:
            try:
                if self._results:
                    self._stream.write(writer.between)
                yield Sink(self._stream, lambda: None, lambda _: None)
                self._stream.flush()
            except OSError as error:
                raise cannot_write(f"`{self.path}`", error) from error
        self._results += 1
        self._full = "" if writer.many else writer.name

    def _check_room(self, writer: Writer) -> None:
        single = self._full or ("" if writer.many or not self._results else writer.name)
        if single:
            raise UsageError(
                f"`{self.path}` has a result already, and a file of format `{single}` holds one",
                hint="`.output FILE` names another file, `.output` shows results here",
            )


def _by_suffix(path: Path) -> Writer | None:
    formats = scan(dctv.writers, Writer).values()
    return next((writer for writer in formats if path.suffix.lower() in writer.suffixes), None)
