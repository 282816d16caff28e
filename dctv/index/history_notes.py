"""Read the notes beside histories of states: which traces they belong to, and whether they are complete."""

from __future__ import annotations

import json
import os
from pathlib import Path

from dctv.record import record

_PREFIXES = ("states-", "tracks-")
"""How files of histories and of timelines begin."""
NOTE = ".json"
"""How the note of a history ends."""


@record
class Note:
    """The note beside a history."""

    name: str
    paths: tuple[str, ...]
    stamp: str
    size: int
    checksum: int

    def to_json(self) -> dict[str, object]:
        """Return it as JSON has it; paths may be no text."""
        paths = [os.fsencode(path).decode("latin-1") for path in self.paths]
        whole = {"stamp": self.stamp, "size": self.size, "checksum": self.checksum}
        return {"name": self.name, "paths": paths, **whole}


def noted(path: Path) -> Note | None:
    """Read a note; None if there is none that could be understood."""
    try:
        raw = json.loads(path.read_text(encoding="utf-8"))
        paths = tuple(os.fsdecode(str(one).encode("latin-1")) for one in raw["paths"])
        return Note(str(raw["name"]), paths, str(raw["stamp"]), int(raw["size"]), int(raw["checksum"]))
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def note_path(path: Path) -> Path:
    """Return where the note of a history is."""
    return path.with_name(f"{path.name}{NOTE}")


def kept_in(folder: Path) -> list[tuple[str, tuple[Path, ...]]]:
    """Return what is kept in an index's folder besides it, by its name, with the files of its trace."""
    found = []
    for path in sorted(path for prefix in _PREFIXES for path in folder.glob(f"{prefix}*{NOTE}")):
        note = noted(path)
        if note is not None and path.with_name(path.name.removesuffix(NOTE)).exists():
            found.append((note.name, tuple(Path(one) for one in note.paths)))
    return found
