"""What a person typed -> whether it is the name of a file or folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FLEET = "@"
"""Stands before a pattern of traces that are mounted as one."""


def is_there(word: str) -> bool:
    """Whether there is a file or a folder of this name; texts that can be no name are none."""
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def is_fleet(path: str | Sequence[str]) -> bool:
    """Whether a path is the pattern of traces that are mounted as one."""
    return isinstance(path, str) and path.startswith(FLEET) and not is_there(path)
