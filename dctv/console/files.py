"""Check whether user input is the name of a file or folder."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

FLEET = "@"
"""Prefix of a pattern of traces to mount as one."""


def exists(word: str) -> bool:
    """Whether a file or folder of this name exists; invalid names do not."""
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False


def is_fleet(path: str | Sequence[str]) -> bool:
    """Whether a path is a pattern of traces to mount as one."""
    return isinstance(path, str) and path.startswith(FLEET) and not exists(path)
