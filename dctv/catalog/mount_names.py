"""Derive names of mounts from paths of traces."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from dctv.patterns import pattern
from dctv.syntax.keywords import RESERVED

_OF_NAMES = pattern(r"\W+")


def name_of_mount(path: Path, taken: Collection[str]) -> str:
    """Return a name for a trace, derived from that of its file."""
    stem = path.name.partition(".")[0]
    name = _OF_NAMES.sub("_", stem).strip("_").lower() or "trace"
    if name[0].isdecimal() or name == "dctv" or name.upper() in RESERVED:
        name = f"t_{name}"
    number, found = 2, name
    while found in taken:
        found, number = f"{name}_{number}", number + 1
    return found
