"""Load texts of trace events, and read their rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from dctv.contracts.reader import Head, LoadContext, LoadedTrace
from dctv.readers.chrome_json import READER


def load(folder: Path, text: str | bytes, name: str = "trace.json") -> LoadedTrace:
    """Write a text to a file and load it."""
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return load_files(path)


def load_files(*paths: Path) -> LoadedTrace:
    """Load files as one trace."""
    return READER.load(paths, LoadContext({}, 2, lambda _done, _total: None))


def rows(trace: LoadedTrace, table: str) -> list[dict[str, Any]]:
    """Return the rows of a table, empty if there is none."""
    found = trace.tables.get(table) or trace.tables.get(f"raw_events.{table}")
    return [] if found is None else list(found.data.to_pylist())


def column(trace: LoadedTrace, table: str, name: str) -> list[Any]:
    """Return one column of a table."""
    return [row[name] for row in rows(trace, table)]


def notes(trace: LoadedTrace) -> dict[str, int]:
    """Return the diagnostics: reason and count."""
    return {note.reason: note.count for note in trace.diagnostics}


def is_sniffed(text: bytes) -> bool:
    """Whether a text is recognized as the format."""
    return READER.sniff(Head(Path("x"), text[: 1 << 16], text[: 1 << 16]))
