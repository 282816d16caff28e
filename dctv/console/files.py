"""What a person typed -> whether it is the name of a file or folder."""

from __future__ import annotations

from pathlib import Path


def is_there(word: str) -> bool:
    """Whether there is a file or a folder of this name; texts that can be no name are none."""
    try:
        return Path(word).exists()
    except (OSError, ValueError):
        return False
