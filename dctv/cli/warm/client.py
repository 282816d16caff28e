"""Run a command in a warm session that its arguments name, and return its exit code."""

from __future__ import annotations

import os
import signal
import socket
import sys
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

import dctv
from dctv.cli.warm.messages import receive, send
from dctv.cli.warm.place import found, socket_path
from dctv.console.verdict import INTERRUPTED, OUR_BUG
from dctv.errors import DctvError, Terminated, UsageError, reason_of

_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_AT_START = {
    "threads": "--threads",
    "memory_limit": "--memory-limit",
    "temp_directory": "--temp-directory",
    "allow_files": "--allow-files",
    "index": "--index",
    "no_index": "--no-index",
    "index_dir": "--index-dir",
}
_ALONE = {"each": "--each", "jobs": "--jobs", "checkpoint": "--checkpoint"}


class _SessionEnded(DctvError):
    """A session ended during the command."""

    exit_code = OUR_BUG


def run_in_session(args: Namespace) -> int:
    """Run a command in the session of its arguments; return its exit code.

    Raises:
        UsageError: there is no such session, or it cannot run the command.
    """
    name: str = args.session
    _check(args, name)
    about = found(name)
    if about.version != dctv.__version__:
        raise UsageError(
            f"the session `{name}` runs dctv {about.version}, this is {dctv.__version__}",
            hint=f"`dctv session stop {name}` ends it, then start it again",
        )
    with socket.socket(socket.AF_UNIX) as connection:
        try:
            connection.connect(os.fspath(socket_path(name)))
        except OSError as error:
            raise UsageError(f"cannot reach the session `{name}`: {reason_of(error)}") from None
        code = _exit_code(connection, args.line)
    if code is None:
        raise _SessionEnded(
            f"the session `{name}` ended before it was done: it may have needed more memory than there is",
            hint="start it again",
        )
    return code


def _check(args: Namespace, name: str) -> None:
    for word, option in _AT_START.items():
        if getattr(args, word, None):
            raise UsageError(
                f"{option} cannot be combined with --session", hint=f"pass it to `dctv session start {name}`"
            )
    for word, option in _ALONE.items():
        if getattr(args, word, None):
            raise UsageError(f"{option} cannot be combined with --session, since it starts its own processes")
    if getattr(args, "engine", None):
        raise UsageError("--engine cannot be combined with --session, which has its own engine")


def _exit_code(connection: socket.socket, words: Sequence[str]) -> int | None:
    """Return the exit code of a command; None if the session vanished."""
    streams = (sys.stdin, sys.stdout, sys.stderr)
    for stream in streams[1:]:
        if stream is not None:
            stream.flush()
    files = [number if stream is None else stream.fileno() for number, stream in enumerate(streams)]
    request = {
        "words": list(words),
        "folder": str(Path.cwd()),
        "environment": dict(os.environ),
        "encoding": getattr(sys.stdout, "encoding", None) or "utf-8",
        "errors": getattr(sys.stdout, "errors", None) or "strict",
    }
    # The session may write its first rows before this process can forward signals, so hold them back until it can.
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, _SIGNALS)
    try:
        send(connection, request, files)
        with _forwarding_signals(connection):
            signal.pthread_sigmask(signal.SIG_SETMASK, mask)
            answer, _ = receive(connection)
    except (OSError, ValueError):
        return None
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    return None if answer is None else int(answer["code"])


@contextmanager
def _forwarding_signals(connection: socket.socket) -> Iterator[None]:
    """Forward the first Ctrl-C or SIGTERM to the session; the next one ends this process at once."""
    received: list[int] = []

    def on_signal(number: int, _frame: FrameType | None) -> None:
        if received:
            os._exit(Terminated.exit_code if number == signal.SIGTERM else INTERRUPTED)
        received.append(number)
        with suppress(OSError):
            send(connection, "terminate" if number == signal.SIGTERM else "interrupt")

    previous = {number: signal.signal(number, on_signal) for number in _SIGNALS}
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
