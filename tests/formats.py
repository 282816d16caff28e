"""Formats of traces, for tests of what the standard library has for each: those that add nothing are left to CI."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from dctv import readers
from dctv.catalog.stdlib import library
from dctv.contracts.reader import Reader
from dctv.contracts.registry import scan

FORMATS = sorted(scan(readers, Reader))


def _files(format_: str) -> set[tuple[str, ...]]:
    """Return the files of the library that a trace of a format gets."""
    every = [*library().modules, *(file for files in library().sources.values() for file in files)]
    return {(*file.parts, file.source.name) for file in every if file.covers(format_)}


def _kept() -> Iterator[str]:
    """Yield formats that have all files together, each the one with most that are new."""
    left = {format_: _files(format_) for format_ in FORMATS}
    seen = set[tuple[str, ...]]()
    while new := max((left[format_] - seen for format_ in FORMATS), key=len):
        yield next(format_ for format_ in FORMATS if left[format_] - seen == new)
        seen |= new


_KEPT = frozenset(_kept())
EACH: list[Any] = [pytest.param(one, marks=() if one in _KEPT else pytest.mark.ci) for one in FORMATS]
"""Every format; each file of the library is there for one that `make test` tries."""
