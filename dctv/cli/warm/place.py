"""Find warm sessions by name: files with their descriptions and sockets, in a folder that only the user can enter."""

from __future__ import annotations

import fcntl
import json
import os
import stat
from pathlib import Path
from time import sleep
from typing import Any

from dctv.errors import UsageError, nearest, reason_of
from dctv.locking import is_at, locked
from dctv.patterns import pattern
from dctv.record import record

_NAME = pattern(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
_ABOUT, _SOCKET = ".session", ".sock"
_LONGEST = 100
"""The maximum length of a socket's path; systems allow slightly more than a hundred bytes."""
_TRIES, _PULSE = 5, 0.05
"""How often to try to lock a name: listing sessions locks it briefly."""


@record
class SessionInfo:
    """The description of a running session."""

    name: str
    pid: int
    version: str
    started: float
    """Seconds since the epoch."""
    mounts: list[list[str]]
    """Names and paths."""


def checked(name: str) -> str:
    """Return a name after checking that a session can have it.

    Raises:
        UsageError: it is invalid.
    """
    if _NAME.fullmatch(name) is None:
        raise UsageError(f"found the session `{name}`, expected a name of letters, digits and `._-`")
    return name


def folder() -> Path:
    """Return the folder of sockets, created if it does not exist.

    Raises:
        UsageError: others have access to it.
    """
    base = Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    if base.is_absolute():
        path = base / "dctv"
    else:
        from tempfile import gettempdir  # takes as long to load as the rest of this

        path = Path(gettempdir()) / f"dctv-{os.getuid()}"
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise UsageError(f"cannot make `{path}`: {reason_of(error)}", hint=_ELSEWHERE) from None
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or stat.S_IMODE(found.st_mode) & 0o077:
        raise UsageError(f"`{path}` is not private to your user, so sessions are not safe there", hint=_ELSEWHERE)
    return path


_ELSEWHERE = "XDG_RUNTIME_DIR names a folder of your own"


def socket_path(name: str) -> Path:
    """Return the path of a session's socket.

    Raises:
        UsageError: the path is too long for a socket.
    """
    path = folder() / f"{name}{_SOCKET}"
    if len(os.fsencode(path)) > _LONGEST:
        raise UsageError(f"the path `{path}` is too long for a socket", hint=_ELSEWHERE)
    return path


def claimed(name: str) -> int:
    """Claim a name until the returned file descriptor is closed.

    Raises:
        UsageError: another process has it.
    """
    path = folder() / f"{name}{_ABOUT}"
    for _ in range(_TRIES):
        file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        if _try_lock(file, fcntl.LOCK_EX) and is_at(file, path):
            os.ftruncate(file, 0)
            return file
        os.close(file)
        sleep(_PULSE)
    raise UsageError(f"a session `{name}` is running", hint=f"`dctv session stop {name}` ends it")


def free(name: str, file: int) -> None:
    """Release a name."""
    (folder() / f"{name}{_ABOUT}").unlink(missing_ok=True)
    os.close(file)


def write_info(file: int, about: SessionInfo) -> None:
    """Write the description of a session into its file."""
    found = {name: getattr(about, name) for name in ("name", "pid", "version", "started", "mounts")}
    os.pwrite(file, json.dumps(found).encode(), 0)


def running() -> list[SessionInfo]:
    """Return the running sessions, by name."""
    found = (_read_info(path) for path in sorted(folder().glob(f"*{_ABOUT}")))
    return [about for about in found if about is not None]


def found(name: str) -> SessionInfo:
    """Return a running session.

    Raises:
        UsageError: there is none of this name.
    """
    there = running()
    about = next((one for one in there if one.name == checked(name)), None)
    if about is None:
        near = nearest(name, [one.name for one in there])
        hint = f"did you mean `{near}`?" if near else f"`dctv session start {name} NAME=TRACE` starts one"
        raise UsageError(f"no session `{name}` is running", hint=hint)
    return about


def _read_info(path: Path) -> SessionInfo | None:
    """Read the file of a session; None if its process has ended, or has not written it yet."""
    try:
        with path.open("rb") as file:
            if _try_lock(file.fileno(), fcntl.LOCK_SH):
                return None
            found: dict[str, Any] = json.loads(file.read())
            return SessionInfo(**found)
    except (OSError, ValueError, TypeError):
        return None


def _try_lock(file: int, operation: int) -> bool:
    """Lock an open file; return whether no other process holds it."""
    return locked(file, operation | fcntl.LOCK_NB, unknown=False)
