"""Warnings of a session -> warnings of Python, at the line of the program that called dctv."""

from __future__ import annotations

import warnings
from collections.abc import Iterable

from dctv.errors import DctvWarning, counted


def tell(messages: Iterable[tuple[str, int]]) -> None:
    """Issue messages with their counts as warnings, subject to the filters of `warnings`."""
    for message, count in messages:
        warnings.warn(counted(message, count), DctvWarning, stacklevel=_outside())


def _outside() -> int:
    """Return how many frames up from the caller the nearest one is that is no part of dctv."""
    from inspect import currentframe  # imported only if there is a warning to give

    level, frame = 0, currentframe()
    while frame is not None and frame.f_globals.get("__name__", "").partition(".")[0] == "dctv":
        level, frame = level + 1, frame.f_back
    return level
