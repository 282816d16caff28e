"""Report a file most of whose lines could not be read."""

from __future__ import annotations

from dctv.contracts.reader import Diagnostic

MOSTLY_UNREAD = "most lines could not be read"


def mostly_unread(file: str, lines: int, unread: int) -> list[Diagnostic]:
    """Report a file with more lines skipped than read; `lines` counts the lines that should hold data.

    A few such lines are usual. A file full of them was written with options, or by a tool, that the reader does not
    know, and the rest of it would look like a whole trace.
    """
    if 2 * unread <= lines:
        return []
    return [Diagnostic(file, MOSTLY_UNREAD, unread, f"{unread} of {lines} lines", incomplete=True)]
