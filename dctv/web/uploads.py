"""Keep files that were dropped on the page in a private folder while the server runs."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import AsyncIterator
from pathlib import Path
from threading import Lock

from dctv.errors import UsageError, reason_of
from dctv.patterns import pattern
from dctv.web.request_errors import TooLarge

MOST = 8 << 30
"""The maximum size of a file in bytes."""
_KEPT_FREE = 512 << 20
"""Bytes of the disk that must stay free."""
_CHECKED = 64 << 20
_LONGEST = 100
_ELSEWHERE = "name another folder: --temp-directory, or Session(temp_directory=...)"
_STRANGE = pattern(r"[^A-Za-z0-9._-]+")


class Uploads:
    """A folder that only this user can read, created for the first file."""

    def __init__(self, home: Path, most: int = MOST) -> None:
        """Keep files of at most `most` bytes in a new folder below `home`."""
        self._home = home
        self._most = most
        self._folder: Path | None = None
        self._number = 0
        self._lock = Lock()

    async def store(self, name: str, pieces: AsyncIterator[bytes], announced: int | None) -> Path:
        """Write the bytes of a file.

        Raises:
            TooLarge: it exceeds the limit, or the free space.
            UsageError: it cannot be written.
        """
        if announced is not None:
            self._check(announced)
        path = self._place(name)
        stored = 0
        try:
            with path.open("xb") as file:
                async for piece in pieces:
                    if stored // _CHECKED != (stored + len(piece)) // _CHECKED or not stored:
                        self._check(0)
                    stored += len(piece)
                    if stored > self._most:
                        self._check(stored)
                    file.write(piece)
        except OSError as error:
            path.unlink(missing_ok=True)
            raise UsageError(f"cannot keep `{path.name}`: {reason_of(error)}") from None
        except BaseException:
            path.unlink(missing_ok=True)
            raise
        return path

    def _check(self, size: int) -> None:
        if size > self._most:
            raise TooLarge(
                f"the file is larger than {self._most >> 20:,} MiB, which is all that a page may send",
                hint="start `dctv ui NAME=PATH` with it instead, which makes no copy",
            )
        free = shutil.disk_usage(self._made()).free
        if size > free - _KEPT_FREE:
            raise TooLarge(
                f"there is no room for the file in `{self._made().parent}`",
                hint="start `dctv ui NAME=PATH` with it instead, which makes no copy",
            )

    def _place(self, name: str) -> Path:
        """Return a new path for a file; of the browser's name only the suffix is used."""
        plain = _STRANGE.sub("_", re.split(r"[\\/]", name)[-1])[-_LONGEST:].lstrip(".-") or "trace"
        with self._lock:
            self._number += 1
            folder = self._made() / str(self._number)
        folder.mkdir(mode=0o700)
        return folder / plain

    def _made(self) -> Path:
        if self._folder is None:
            try:
                self._folder = Path(tempfile.mkdtemp(prefix="page-", dir=self._home))
            except OSError as error:
                reason = reason_of(error)
                raise UsageError(f"cannot keep files in `{self._home}`: {reason}", hint=_ELSEWHERE) from None
        return self._folder

    def close(self) -> None:
        """Remove all files."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
