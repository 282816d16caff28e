"""Read the notes beside histories of states: which traces they belong to, and whether they are complete."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from dctv.record import record

_PREFIXES = ("states-", "tracks-")
"""Prefixes of history and timeline files."""
NOTE = ".json"
"""Suffix of a history's note."""


@record
class Note:
    """The note beside a history."""

    name: str
    paths: tuple[str, ...]
    stamp: str
    size: int
    checksum: int
    warnings: Mapping[str, int]
    """The warnings of making it, with counts."""

    def to_json(self) -> dict[str, object]:
        """Return it for JSON; paths may be invalid UTF-8."""
        paths = [os.fsencode(path).decode("latin-1") for path in self.paths]
        whole = {"stamp": self.stamp, "size": self.size, "checksum": self.checksum}
        return {"name": self.name, "paths": paths, **whole, "warnings": dict(self.warnings)}


def noted(path: Path) -> Note | None:
    """Read a note; None if there is none that can be parsed."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        paths = tuple(os.fsdecode(str(one).encode("latin-1")) for one in raw["paths"])
        warnings = {str(text): int(count) for text, count in raw["warnings"].items()}
        return Note(str(raw["name"]), paths, str(raw["stamp"]), int(raw["size"]), int(raw["checksum"]), warnings)
    except (AttributeError, OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def note_path(path: Path) -> Path:
    """Return the path of a history's note."""
    return path.with_name(f"{path.name}{NOTE}")


def stored_histories(folder: Path) -> list[tuple[str, tuple[Path, ...]]]:
    """Return the names of the histories in an index's folder, with the files of their traces."""
    found = []
    for path in sorted(path for prefix in _PREFIXES for path in folder.glob(f"{prefix}*{NOTE}")):
        note = noted(path)
        if note is not None and path.with_name(path.name.removesuffix(NOTE)).exists():
            found.append((note.name, tuple(Path(one) for one in note.paths)))
    return found
