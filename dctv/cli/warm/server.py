"""Run commands of other processes one after another, each as if in a process of its own.

A command comes with its arguments, folder and environment, and with its files for stdin, stdout and stderr, so it
reads, writes and looks for a terminal like a separate process.
"""

from __future__ import annotations

import os
import signal
import socket
import struct
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from threading import Lock, Thread
from types import FrameType
from typing import Any, TextIO

from dctv.cli.warm.hold import WarmSession
from dctv.cli.warm.messages import receive, send
from dctv.console.verdict import INTERRUPTED, OUR_BUG
from dctv.errors import Terminated

SIGNALS = {"interrupt": signal.SIGINT, "terminate": signal.SIGTERM}
"""Signals that the client forwards, by name."""
_CREDENTIALS = struct.Struct("3i")
_PATIENCE = 10
"""Seconds within which a command must end after its client has gone."""
_GREETING = 5
"""Seconds within which a new connection must send its request."""
_PULSE = 0.1

Run = Callable[[list[str], WarmSession], int]
"""Runs a command line, and returns the exit code."""


class _Stop(BaseException):
    """Raised to stop the server."""


class Server:
    """Listens for commands until it is stopped, or idle for some time."""

    def __init__(self, warm: WarmSession, run: Run) -> None:
        self._warm = warm
        self._run = run
        self._command: _Command | None = None
        self._ending = False
        """Whether a signal that is to end this process came while a command began, ran or ended."""

    def serve(self, listener: socket.socket, idle: float) -> None:
        """Serve commands."""
        previous = {number: signal.signal(number, self._on_signal) for number in (signal.SIGINT, signal.SIGTERM)}
        listener.settimeout(idle)
        try:
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError, ValueError):
                    self._answer(connection)
                self._command = None
                if self._ending:
                    raise _Stop
        except (TimeoutError, _Stop):
            pass
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            self._warm.close()

    def _on_signal(self, number: int, _frame: FrameType | None) -> None:
        command = self._command
        if command is None:
            raise _Stop
        by_client = command.asked and not command.heard
        command.heard = command.asked
        self._ending = self._ending or not (by_client or (command.runs and number == signal.SIGINT))
        if command.runs:
            raise Terminated("terminated") if number == signal.SIGTERM else KeyboardInterrupt

    def _begin(self, words: list[str]) -> int:
        """Run a command line, unless this process is to end."""
        if self._ending:
            raise Terminated("terminated")
        return self._run(words, self._warm)

    def _answer(self, connection: socket.socket) -> None:
        """Run the command of one connection."""
        connection.settimeout(_GREETING)
        if not _is_ours(connection):
            return
        request, files = receive(connection, 3)
        try:
            if request is None or len(files) != 3:
                return
            connection.settimeout(None)
            self._command = command = _Command(connection)
            code = OUR_BUG
            try:
                with _in_place_of(request, files):
                    code = command.carry_out(lambda: self._begin(request["words"]))
            finally:
                command.end(code)
        finally:
            for file in files:
                os.close(file)


class _Command:
    """A running command, and the client that waits for it."""

    def __init__(self, connection: socket.socket) -> None:
        self._connection = connection
        self._lock = Lock()
        self._watcher = Thread(target=self._watch, name="dctv-watch", daemon=True)
        self.runs = False
        self.asked = False
        """Whether the client asked for its end; a signal to this process follows."""
        self.heard = False
        """Whether that signal came."""

    def carry_out(self, run: Callable[[], int]) -> int:
        """Run the command, and return its exit code."""
        try:
            self.runs = True
            self._watcher.start()
            code = run()
        except KeyboardInterrupt:
            code = INTERRUPTED
        except Terminated as error:
            code = error.exit_code
        finally:
            with self._lock:
                self.runs = False
        return code

    def end(self, code: int) -> None:
        """Send the exit code, and release the client."""
        with suppress(OSError):
            send(self._connection, {"code": code})
            self._connection.shutdown(socket.SHUT_RDWR)
        if self._watcher.ident is not None:
            self._watcher.join()

    def _watch(self) -> None:
        """Forward signals of the client, and end the command if the client vanishes."""
        while message := self._receive():
            self._signal(SIGNALS.get(message, signal.SIGINT))
        self._signal(signal.SIGINT)
        end = time.monotonic() + _PATIENCE
        while self.runs:
            if time.monotonic() > end:
                os._exit(OUR_BUG)
            time.sleep(_PULSE)

    def _receive(self) -> str:
        """Return the client's next message, empty if it has gone."""
        try:
            return str(receive(self._connection)[0] or "")
        except (OSError, ValueError):
            return ""

    def _signal(self, number: int) -> None:
        with self._lock:
            if self.runs and not self.asked:
                self.asked = True
                os.kill(os.getpid(), number)


def _is_ours(connection: socket.socket) -> bool:
    """Whether the peer process belongs to the same user; the permissions of the socket's folder admit no other."""
    if not hasattr(socket, "SO_PEERCRED"):
        return True
    _, user, _ = _CREDENTIALS.unpack(connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size))
    return bool(user == os.getuid())


@contextmanager
def _in_place_of(request: dict[str, Any], files: Sequence[int]) -> Iterator[None]:
    """Take over the streams, the folder and the environment of another process."""
    before, folder = dict(os.environ), str(Path.cwd())
    encoding, errors = request["encoding"], request["errors"]
    with ExitStack() as stack:
        stack.callback(_live_in, folder, before)
        for name in ("stdin", "stdout", "stderr"):
            stack.callback(setattr, sys, name, getattr(sys, name))
        for number, file in enumerate(files):
            stack.callback(os.close, saved := os.dup(number))
            stack.callback(os.dup2, saved, number)
            os.dup2(file, number)
        sys.stdin = os.fdopen(0, encoding=encoding, closefd=False)
        sys.stdout = os.fdopen(1, "w", encoding=encoding, errors=errors, closefd=False)
        sys.stderr = os.fdopen(2, "w", encoding=encoding, errors="backslashreplace", closefd=False)
        stack.callback(_flush, sys.stdout, sys.stderr)
        _live_in(request["folder"], request["environment"])
        yield


def _flush(*streams: TextIO) -> None:
    """Flush pending output, unless its reader has gone."""
    for stream in streams:
        with suppress(OSError, ValueError):
            stream.close()


def _live_in(folder: str, environment: dict[str, str]) -> None:
    with suppress(OSError):
        os.chdir(folder)
    os.environ.clear()
    os.environ.update(environment)
    time.tzset()
