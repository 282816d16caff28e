"""Find and open the index of a trace, if there is a good one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dctv.errors import IndexUnusable
from dctv.index import locks
from dctv.index.database import Index
from dctv.index.location import Subject, index_folder
from dctv.index.opening import open_index


def find(about: Subject, index_dir: Path | None, note: Callable[[str], None]) -> Index | None:
    """Open the index of a trace if there is a good one; `note` gets the reason why an existing one is not used."""
    folder = index_folder(about, index_dir)
    hold = locks.use(folder)
    try:
        index = open_index(folder, about, hold)
    except IndexUnusable as error:
        note(error.message)
        index = None
    if index is None and hold is not None:
        hold.close()
    return index
