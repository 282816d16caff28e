"""Match names as the language does: as written first, then regardless of case if that leaves only one spelling."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import TypeVar

from dctv.errors import BindError, Place

_T = TypeVar("_T")


def fitting(names: Collection[str], name: str) -> list[int]:
    """Return the positions of the names that are written alike, or else of those that differ only in case."""
    lowered = name.lower()
    exact = [index for index, one in enumerate(names) if one == name]
    return exact or [index for index, one in enumerate(names) if one.lower() == lowered]


def meant(names: Sequence[str], name: str, place: Place | None, what: str = "column") -> list[int]:
    """Return the positions of the names that a name means.

    Raises:
        BindError: it fits several spellings.
    """
    found = fitting(names, name)
    spellings = list(dict.fromkeys(names[index] for index in found))
    if len(spellings) > 1:
        listed = " or ".join(f"`{one}`" for one in spellings)
        raise BindError(f"{what} `{name}` is ambiguous: {listed}", place)
    return found


def value_of(named: Mapping[str, _T], name: str, place: Place | None) -> _T | None:
    """Return the value that a name of a column means, if any.

    Raises:
        BindError: it fits several spellings.
    """
    if name in named:
        return named[name]
    names = list(named)
    return next((named[names[index]] for index in meant(names, name, place)), None)
