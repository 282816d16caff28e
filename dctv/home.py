"""Expand `~` at the beginning of paths."""

from __future__ import annotations

from pathlib import Path

from dctv.errors import UsageError


def expanded(path: str | Path) -> Path:
    """Return a path with the home folder in place of `~` or `~NAME`.

    Raises:
        UsageError: there is no such user.
    """
    try:
        return Path(path).expanduser()
    except RuntimeError:
        raise UsageError(f"found `{path}`, and there is no such user", hint="`./~` names a file") from None
