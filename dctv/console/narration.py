"""Print errors, warnings and remarks on stderr, safe against control characters in names."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from contextlib import suppress

from dctv.errors import DctvError, counted, render
from dctv.visible import harmless


def print_stderr(text: str) -> None:
    """Print lines on stderr; control characters other than newline and tab are escaped."""
    stream = sys.stderr
    if stream is None:
        return
    # While a progress bar is shown, it replaces stderr, and has no encoding.
    encoding = stream.encoding or "utf-8"
    safe = harmless(text).encode(encoding, "backslashreplace").decode(encoding)
    # Failures to print, as on a full disk, must not affect the work.
    with suppress(OSError):
        stream.write(safe + "\n")
        stream.flush()


def complain(error: DctvError) -> None:
    """Print an error with its place and hint."""
    print_stderr(render(error))


def warn(warnings: Iterable[tuple[str, int]]) -> None:
    """Print warnings, each once with its count."""
    for message, count in warnings:
        print_stderr(warning_line(message, count))


def warning_line(message: str, count: int) -> str:
    """Return the printed form of a warning: `warning: division by zero gives NULL (3 times)`."""
    return f"warning: {counted(message, count)}"
