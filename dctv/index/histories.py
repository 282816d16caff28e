"""Keep histories of states beside a trace's index, built from the trace's files on demand.

The timeline of a trace and the rows of views are kept likewise. A file is written in a workspace and renamed when it
is complete; a note beside it records its file system stamp and a checksum. A file without a note, or that differs from
its note, is ignored and rebuilt.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
import weakref
from hashlib import blake2b
from pathlib import Path
from typing import Any

from dctv import __version__
from dctv.contracts.histories import Work
from dctv.errors import FileDamaged, FileOfAnother, UsageError, WarningLog
from dctv.index import locks
from dctv.index.build import reason, sync
from dctv.index.cache import keep_small
from dctv.index.database import stamp
from dctv.index.history_notes import Note, note_path, noted
from dctv.index.identity import identities
from dctv.index.location import cache_folder, index_folder
from dctv.index.trace import Trace

_WORKSPACE = "building-{}-"
"""Prefix of the folders of some builders; readers ignore these."""
_BUILDING = "{}.lock"
_FORMAT = 1
"""Version of what is kept besides the history itself, which has a format of its own."""


class TraceHistoryStore:
    """The histories of one mounted trace."""

    def __init__(self, trace: Trace, index_dir: Path | None) -> None:
        """Record the identities of the files before they are read, so that no history of older contents is kept."""
        self._trace = trace
        self._index_dir = index_dir
        self._stamps = _stamps(trace.paths)

    def load_or_build(self, work: Work) -> Any:
        """Return a history, built if it is missing or damaged; None if it cannot be kept."""
        try:
            wanted = self._identity(work.version)
            if wanted is None:
                work.log.add_once(
                    f"the {work.holds} of `{work.name}` are not kept, since files of the trace have changed"
                )
                return None
            folder = index_folder(self._trace.subject, self._index_dir)
            found = _found(folder, work, wanted, work.log)
            if found is not None:
                return found
            made = self._build(folder, work, wanted)
        except (OSError, UsageError, _Unwritten) as error:
            what = reason(error) if isinstance(error, OSError) else error.args[0]
            work.log.add_once(
                f"cannot keep the {work.holds} of `{work.name}`: {what}; they are made again the next time"
            )
            return None
        if self._index_dir is None:
            keep_small(cache_folder())
        return made

    def _identity(self, version: bytes) -> bytes | None:
        """Return the identity of a history; None if files of the trace have changed."""
        before = self._stamps
        if before is None or _stamps(self._trace.paths) != before:
            return None
        digest = blake2b(digest_size=32)
        files = [(one.size, one.mtime_ns, one.hash) for one in identities(self._trace.paths)]
        about = self._trace.subject
        parts = (_FORMAT, __version__, about.reader, about.options, [str(path) for path in about.paths], files)
        digest.update(json.dumps(parts).encode("utf-8", "surrogateescape"))
        digest.update(version)
        return digest.digest() if _stamps(self._trace.paths) == before else None

    def _build(self, folder: Path, work: Work, wanted: bytes) -> Any:
        folder.mkdir(parents=True, exist_ok=True)
        hold = locks.use(folder)
        if hold is None:
            raise _Unwritten(f"the lock of `{folder}` cannot be opened")
        with hold:
            alone = locks.build(folder, work.waiting, _BUILDING.format(work.builders))
            assert alone is not None
            with alone:
                # Another process may have built it in between.
                found = _found(folder, work, wanted, WarningLog())
                if found is not None:
                    return found
                if alone.sure:
                    _sweep(folder, work.builders)
                self._write(folder, work, wanted)
                found = _found(folder, work, wanted, work.log)
        if found is None:
            raise _Unwritten("it vanished after it was written")
        return found

    def _write(self, folder: Path, work: Work, wanted: bytes) -> None:
        prefix = _WORKSPACE.format(work.builders)
        work_folder = folder / f"{prefix}{os.getpid()}-{os.urandom(8).hex()}"
        work_folder.mkdir()
        try:
            path = work_folder / "history"
            with work.log.recording() as warnings:
                work.write(path, wanted)
            if _stamps(self._trace.paths) != self._stamps:
                raise _Unwritten("files of the trace have changed")
            found = _size_and_checksum(path)
            final = folder / _file_name(work)
            # Remove the note of the previous file, which does not describe the next one.
            note_path(final).unlink(missing_ok=True)
            path.replace(final)
            # Renaming changes the status time, so take the stamp afterwards.
            note = Note(work.name, tuple(str(one) for one in self._trace.paths), stamp(final.stat()), *found, warnings)
            draft = work_folder / "note"
            with draft.open("w", encoding="utf-8") as file:
                json.dump(note.to_json(), file)
                file.flush()
                os.fsync(file.fileno())
            draft.replace(note_path(final))
            sync(folder)
        finally:
            shutil.rmtree(work_folder, ignore_errors=True)


class _Unwritten(Exception):
    """Why a history cannot be kept, as text."""


def _found(folder: Path, work: Work, wanted: bytes, log: WarningLog) -> Any:
    """Open a history if it exists and is good; while it is open it is not removed."""
    path = folder / _file_name(work)
    if not path.exists():
        return None
    hold = locks.use(folder)
    try:
        system = _opened(path, work, wanted)
    except FileDamaged as error:
        log.add_once(f"{error.message}; it is rebuilt")
        system = None
    except OSError as error:
        log.add_once(f"cannot read the {work.kind} `{path}`: {reason(error)}; it is rebuilt")
        system = None
    except BaseException:
        if hold is not None:
            hold.close()
        raise
    if hold is not None:
        if system is None:
            hold.close()
        else:
            weakref.finalize(system, hold.close)
    return system


def _opened(path: Path, work: Work, wanted: bytes) -> Any:
    note = noted(note_path(path))
    if note is None:
        return None
    found = path.stat()
    same = stamp(found) == note.stamp
    if found.st_size != note.size or not (same or _checksum(path, note.size) == note.checksum):
        raise FileDamaged(f"the {work.kind} `{path}` is damaged")
    try:
        opened = work.open(path, wanted)
    except FileOfAnother:
        # This is neither damage nor worth a warning.
        return None
    work.log.repeat(note.warnings)
    return opened


def _size_and_checksum(path: Path) -> tuple[int, int]:
    """Sync a file to disk; return its size and checksum."""
    file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(file)
        size = os.fstat(file).st_size
    finally:
        os.close(file)
    return size, _checksum(path, size)


def _checksum(path: Path, size: int) -> int:
    from dctv._kernels import file_checksums

    return int(file_checksums(str(path), [(0, size)])[0])


def _file_name(work: Work) -> str:
    readable = re.sub(r"[^A-Za-z0-9_-]+", "_", work.name)[:40]
    digest = blake2b(work.name.encode("utf-8", "surrogatepass"), digest_size=6).hexdigest()
    return f"{work.holds}-{readable}-{digest}"


def _stamps(paths: tuple[Path, ...]) -> list[str] | None:
    """Return stamps that change with every write to some files; None if one of them is not a file."""
    found = []
    for path in paths:
        try:
            status = path.stat()
        except OSError:
            return None
        if not stat.S_ISREG(status.st_mode):
            return None
        found.append(stamp(status))
    return found


def _sweep(folder: Path, builders: str) -> None:
    """Remove leftovers of builders that died; only the process that holds their lock calls this."""
    for path in folder.glob(f"{_WORKSPACE.format(builders)}*"):
        shutil.rmtree(path, ignore_errors=True)
