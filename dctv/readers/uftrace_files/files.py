"""Find the files of a uftrace data directory."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

MAGIC = b"Ftrace!\0"
_SUFFIXES = (".dat", ".map", ".sym", ".dbg", ".txt", ".opts")
_NAMES = frozenset({"info", "task", "kernel_header", "kallsyms"})


def folder_files(folder: Path) -> Sequence[Path] | None:
    """Return the files of a data directory, `info` first; None if the folder is not one."""
    info = folder / "info"
    try:
        with info.open("rb") as file:
            if file.read(len(MAGIC)) != MAGIC:
                return None
    except OSError:
        return None
    rest = (one for one in folder.iterdir() if one.name in _NAMES or one.name.endswith(_SUFFIXES))
    return [info, *sorted(one for one in rest if one != info and one.is_file())]
