"""What it takes to make a history of states or a timeline, and where those that were made are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from dctv.record import record


@record
class Work:
    """A file that is wanted, and how it is made."""

    name: str
    """What it is called below its trace; one file is kept for each."""
    version: bytes
    """Says how its changes are made: what is kept counts only if it was made just so."""
    write: Callable[[Path, bytes], None]
    """Makes a new file with this identity."""
    open: Callable[[Path, bytes], Any]
    """Opens a file; raises HistoryDamaged or TimelineDamaged unless it is whole and of this identity."""
    waiting: Callable[[], None]
    """Called again and again while another process makes it; raises to end that."""
    note: Callable[[str], None]
    """Called with the reason why it is not kept, or why a kept one is not used."""
    kind: str = "history"
    """What the file is called."""
    holds: str = "states"
    """What is in it, in the plural."""


class HistoryStore(Protocol):
    """Where the files that were made of one trace are kept."""

    def kept(self, work: Work, /) -> Any:
        """Return what is in a file, made if it is not there or not good; None if it cannot be kept."""
        ...
