"""Issue warnings of a session as Python warnings, at the line of the program that called dctv."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from dctv.errors import DctvWarning, counted


def issue_warnings(messages: Iterable[tuple[str, int]]) -> None:
    """Issue messages with their counts as warnings, subject to the filters of `warnings`."""
    for message, count in messages:
        warnings.warn(counted(message, count), DctvWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the number of stack levels from the caller to the nearest frame outside dctv."""
    from inspect import currentframe  # imported only if there is a warning to give

    level, frame = 0, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "dctv":
        level, frame = level + 1, frame.f_back
    return level
