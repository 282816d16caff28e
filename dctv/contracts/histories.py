"""The interfaces to make a history of states or a timeline, and to cache those that were made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dctv.errors import WarningLog
from dctv.record import record


@record
class Work:
    """A file that is wanted, and how it is made."""

    name: str
    """Its name below its trace; one file is kept for each."""
    version: bytes
    """Identifies how its changes are made: a kept file is valid only if its version is the same."""
    write: Callable[[Path, bytes], None]
    """Makes a new file with this identity."""
    open: Callable[[Path, bytes], Any]
    """Opens a file; raises FileDamaged unless it is whole, FileOfAnother unless it is of this identity."""
    waiting: Callable[[], None]
    """Called again and again while another process makes it; raises to end that."""
    log: WarningLog
    """Gets the warnings of making it, also when it is read again, and why it is not kept or a kept one is not used."""
    kind: str = "history"
    """The word for the file in messages."""
    holds: str = "states"
    """The word for its contents in messages, in the plural."""
    builders: str = "states"
    """Names the lock of those that make such files, and their folders: rows of views are made while a history is."""


class HistoryStore(Protocol):
    """The store of the files that were made of one trace."""

    def load_or_build(self, work: Work, /) -> Any:
        """Return the contents of a file, made if it is missing or invalid; None if it cannot be kept."""
        ...
