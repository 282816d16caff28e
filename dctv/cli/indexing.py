"""Build indexes without a session: its engine and language take longer to load than an index."""

from __future__ import annotations

from pathlib import Path

from dctv import readers
from dctv.contracts.reader_errors import readers_in
from dctv.index.indexer import Indexer
from dctv.index.location import configured_folder
from dctv.processors import usable_processors
from dctv.progress import Progress, ProgressListener


def indexer(threads: int | None, temp_directory: Path | None, report: ProgressListener) -> Indexer:
    """Return an indexer like that of a session."""
    return Indexer(
        readers_in(readers), threads or usable_processors(), configured_folder(None), temp_directory, Progress(report)
    )
