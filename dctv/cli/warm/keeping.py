"""Start a process that keeps a session, in the background or here, and stop it."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from argparse import Namespace
from collections.abc import Sequence

import dctv
from dctv.cli.arguments import MOUNT
from dctv.cli.warm.place import SessionInfo, claimed, found, free, running, socket_path, write_info
from dctv.console.attended import attended, end_process
from dctv.console.files import exists
from dctv.console.narration import print_stderr, warn
from dctv.console.verdict import OK
from dctv.home import expanded

_PATIENCE = 15
"""Seconds within which a session must end."""
_PULSE = 0.05
_WAITING = 128
"""The maximum number of waiting commands."""


def start_session(words: Sequence[str]) -> int:
    """Start a process with the words of this one, and wait until it is ready; return its exit code if it fails."""
    reading, writing = os.pipe()
    command = [sys.executable, "-m", "dctv", *words, "--foreground", "--ready"]
    streams = [(os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0), (os.POSIX_SPAWN_DUP2, writing, 1)]
    process = os.posix_spawn(sys.executable, command, os.environ, file_actions=streams, setsid=True)
    os.close(writing)
    try:
        ready = os.read(reading, 1)
    except KeyboardInterrupt:
        os.kill(process, signal.SIGINT)
        ready = b""
    finally:
        os.close(reading)
    return OK if ready else os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])


def run_session(args: Namespace, name: str, mounts: Sequence[tuple[str, str]]) -> int:
    """Mount traces, and run commands until the end; return the exit code."""
    from dctv.cli import main
    from dctv.cli.warm.hold import WarmSession
    from dctv.cli.warm.server import Server
    from dctv.console.progress import ProgressBar
    from dctv.index.location import configured_folder

    path, claim = socket_path(name), claimed(name)
    args.index_dir = configured_folder(args.index_dir)
    for folder in ("index_dir", "temp_directory"):
        if getattr(args, folder) is not None:
            setattr(args, folder, expanded(getattr(args, folder)).absolute())
    args.manifest = [_absolute_manifest(one) for one in args.manifest]
    warm, bar = WarmSession(args, mounts), ProgressBar()
    try:
        session = warm.open(bar)
        try:
            attended(warm.prepare, session.interrupt, end_process)
        finally:
            bar.clear()
        warn((message, 1) for message in warm.warnings)
        with socket.socket(socket.AF_UNIX) as listener:
            path.unlink(missing_ok=True)
            listener.bind(os.fspath(path))
            listener.listen(_WAITING)
            write_info(
                claim, SessionInfo(name, os.getpid(), dctv.__version__, time.time(), [list(one) for one in mounts])
            )
            print_stderr(f"the session `{name}` is ready: dctv query --session {name} 'SELECT ...'")
            if args.ready:
                _leave_terminal()
            Server(warm, main).serve(listener, args.idle)
    finally:
        warm.close()
        path.unlink(missing_ok=True)
        free(name, claim)
    return OK


def stop(name: str) -> None:
    """Stop a session; one that does not respond is killed.

    Raises:
        UsageError: there is none of this name.
    """
    about = found(name)
    end = time.monotonic() + _PATIENCE
    os.kill(about.pid, signal.SIGTERM)
    while any(one.pid == about.pid for one in running()):
        if time.monotonic() > end:
            os.kill(about.pid, signal.SIGKILL)
            socket_path(name).unlink(missing_ok=True)
        time.sleep(_PULSE)


def _absolute_manifest(word: str) -> str:
    """Return `[NAME=]FILE` with an absolute path."""
    match = None if exists(word) else MOUNT.fullmatch(word)
    name, path = ("", word) if match is None else (f"{match[1]}=", match[2])
    return name + os.fspath(expanded(path).absolute())


def _leave_terminal() -> None:
    """Report on stdout that it is ready, and detach from the terminal and the folder of its starter."""
    os.write(1, b".")
    nothing = os.open(os.devnull, os.O_RDWR)
    for number in range(3):
        os.dup2(nothing, number)
    os.close(nothing)
    os.chdir("/")
