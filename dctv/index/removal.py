"""Removes folders: those that only hold files without `shutil`, which loads what unpacks archives."""

from __future__ import annotations

import os
from pathlib import Path


def remove(folder: Path) -> None:
    """Remove a folder and all that is in it, as far as that can be removed."""
    try:
        opened = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        try:
            with os.scandir(opened) as found:
                for one in found:
                    os.unlink(one.name, dir_fd=opened)
        finally:
            os.close(opened)
        folder.rmdir()
    except OSError:
        import shutil

        shutil.rmtree(folder, ignore_errors=True)
