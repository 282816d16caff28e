"""What it takes to make a history of states, and where those that were made are kept."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from dctv.record import record
from dctv.state import StateSystem


@record
class Work:
    """A history that is wanted, and how it is made."""

    name: str
    """Of the state system below its trace; one history is kept for each."""
    version: bytes
    """Says how its changes are made: what is kept counts only if it was made just so."""
    write: Callable[[Path, bytes], None]
    """Makes a new file with this identity."""
    open: Callable[[Path, bytes], StateSystem]
    """Opens a file; raises HistoryDamaged unless it is whole and of this identity."""
    waiting: Callable[[], None]
    """Called again and again while another process makes it; raises to end that."""
    note: Callable[[str], None]
    """Told why it is not kept, or why what was kept is not used."""


class Shelf(Protocol):
    """Where the histories of one trace are kept."""

    def kept(self, work: Work, /) -> StateSystem | None:
        """Return a history, made if it is not there or not good; None if it cannot be kept."""
        ...
