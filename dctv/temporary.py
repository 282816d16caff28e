"""Make the folder of the user for data that does not fit into memory."""

from __future__ import annotations

from pathlib import Path

from dctv.errors import UsageError


def ensured_folder(folder: Path) -> Path:
    """Return a folder, created if it is missing.

    Raises:
        UsageError: it cannot be made.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError:
        raise UsageError(f"cannot make the folder `{folder}` for rows that do not fit into memory") from None
    return folder
