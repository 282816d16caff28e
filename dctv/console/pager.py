"""Show output that is longer than the terminal in a pager."""

from __future__ import annotations

import io
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from time import perf_counter

from dctv.console.sink import stdout_sink
from dctv.patterns import pattern
from dctv.record import record
from dctv.whole_file import Sink
from dctv.writers.cells import width

_LESS = "SRX"
"""Long lines are cut rather than wrapped, colours are shown, and the last page stays."""
_COLOURS = pattern("\033\\[[0-9;]*m")


@record(frozen=False)
class Keyboard:
    """Whether the pager owns the keyboard, so that Ctrl-C is for it."""

    lent: bool = False
    was_lent: bool = False
    waited: float = 0
    """Seconds spent waiting for pagers in total."""


class _Overflow(io.RawIOBase):
    """A buffer that starts the pager once its bytes fill the terminal, and forwards them to it."""

    def __init__(self, command: list[str], started: Callable[[], None]) -> None:
        self._command = command
        self._columns, lines = shutil.get_terminal_size()
        self._room = lines - 2
        self._started = started
        self.held = bytearray()
        self.pager: subprocess.Popen[bytes] | None = None
        self.waited = 0.0

    def writable(self) -> bool:
        """Return that it is writable."""
        return True

    def write(self, data: object, /) -> int:
        """Buffer or forward bytes; raise BrokenPipeError after the pager has been closed."""
        assert isinstance(data, bytes | bytearray | memoryview)
        self.held += data
        if self.pager is None:
            text = _COLOURS.sub("", bytes(data).decode(errors="replace"))
            self._room -= sum(max(1, -(-width(line) // self._columns)) for line in text.splitlines())
        if self.pager is None and self._room < 0:
            self._started()
            self.pager = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, bufsize=0, env={"LESS": _LESS, **os.environ}
            )
        if self.pager is not None:
            self._hand_on()
        return len(data)

    def _hand_on(self) -> None:
        assert self.pager is not None
        assert self.pager.stdin is not None
        view = memoryview(bytes(self.held))
        self.held.clear()
        began = perf_counter()
        try:
            while view:
                view = view[self.pager.stdin.write(view) :]
        finally:
            self.waited += perf_counter() - began


@contextmanager
def paged_sink(keyboard: Keyboard, before: Callable[[], None]) -> Iterator[Sink]:
    """Write to the terminal, through the pager if the output is too long."""
    command = _command()
    if command is None or not sys.stdout.isatty():
        with stdout_sink(before) as plain:
            yield plain
        return

    def started() -> None:
        before()
        keyboard.lent = keyboard.was_lent = True

    overflow = _Overflow(command, started)
    stream = io.BufferedWriter(overflow, 1)
    try:
        yield Sink(stream, lambda: None, lambda _separator: None)
    finally:
        if overflow.pager is not None:
            assert overflow.pager.stdin is not None
            with suppress(BrokenPipeError):
                overflow.pager.stdin.close()
            began = perf_counter()
            overflow.pager.wait()
            keyboard.waited += overflow.waited + perf_counter() - began
            keyboard.lent = False
        else:
            with stdout_sink(before) as plain:
                plain.stream.write(bytes(overflow.held))


def _command() -> list[str] | None:
    """Return the user's pager, or less with long lines cut rather than wrapped; None if there is none."""
    chosen = shlex.split(os.environ.get("DCTV_PAGER", os.environ.get("PAGER", f"less -{_LESS}")))
    return chosen if chosen and shutil.which(chosen[0]) else None
