"""Write files atomically: a file appears, or replaces an older one, only when it is complete."""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from dctv.errors import UsageError, reason_of
from dctv.record import record


@record(frozen=False)
class Sink:
    """The destination of results."""

    stream: BinaryIO
    discard: Callable[[], None]
    """Remove the partial file; later writes are discarded."""
    separate: Callable[[bytes], None]
    """Write these bytes when the next ones come, and not if none do."""


class Descriptor(io.RawIOBase):
    """A file descriptor that raises user errors, and can discard its data."""

    def __init__(self, descriptor: int, name: str, before: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._name = name
        self._before = before
        self._before_next = b""
        self.forget: bool = False

    def separate(self, separator: bytes) -> None:
        """Write these bytes before the next ones."""
        self._before_next = separator

    def writable(self) -> bool:
        """Return True: bytes can be written."""
        return True

    def write(self, data: object, /) -> int:
        """Write some bytes and return how many."""
        assert isinstance(data, bytes | bytearray | memoryview)
        if self.forget:
            return len(data)
        self._before()
        try:
            while self._before_next:
                self._before_next = self._before_next[os.write(self._descriptor, self._before_next) :]
            return os.write(self._descriptor, data)
        except BrokenPipeError:
            self.forget = True
            raise
        except OSError as error:
            self.forget = True
            raise cannot_write(self._name, error) from error


def cannot_write(name: str, error: OSError) -> UsageError:
    """Return the error of a file that cannot be written."""
    return UsageError(f"cannot write {name}: {reason_of(error)}")


@contextmanager
def file_sink(path: Path) -> Iterator[Sink]:
    """Write a file that appears, or replaces an older one, only on success without a call of `discard`."""
    name = f"`{path}`"
    target = Path(os.path.realpath(path))
    try:
        mode = target.stat().st_mode
    except OSError:
        mode = stat.S_IFREG
    whole = stat.S_ISREG(mode) and Path("/dev") not in path.absolute().parents
    if stat.S_ISDIR(mode):
        raise UsageError(f"cannot write {name}: it is a folder")
    part = target.with_name(f".{target.name}.{os.getpid()}.part") if whole else target
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | (os.O_EXCL if whole else 0), 0o666)
    except OSError as error:
        raise cannot_write(name, error) from error
    raw = Descriptor(descriptor, name, lambda: None)

    def discard() -> None:
        raw.forget = True
        if whole:
            part.unlink(missing_ok=True)

    stream = io.BufferedWriter(raw, 1 << 16)
    try:
        yield Sink(stream, discard, raw.separate)
        stream.flush()
        if whole and not raw.forget:
            if stat.S_IMODE(mode):
                part.chmod(stat.S_IMODE(mode))
            part.replace(target)
    except OSError as error:
        raise cannot_write(name, error) from error
    finally:
        discard()
        stream.close()
        os.close(descriptor)
