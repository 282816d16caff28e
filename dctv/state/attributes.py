"""Find attributes by paths and patterns of names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from dctv.errors import nearest
from dctv.patterns import pattern
from dctv.state.faults import AttributeNotFound

if TYPE_CHECKING:
    from dctv._kernels import StateHistory

ROOT = -1
"""The parent of top-level attributes."""
MISSING = -2
"""The result of a search without a match."""
_SPECIAL = pattern(r"([\\/])")


def escape(names: Sequence[str]) -> str:
    """Write a path as one text: names separated by `/`; slashes and backslashes in names are escaped by a backslash."""
    return "/".join(_SPECIAL.sub(r"\\\1", name) for name in names)


def split(path: str) -> list[str]:
    """Parse a path that is written as one text."""
    return [re.sub(r"\\(.)", r"\1", name, flags=re.DOTALL) for name in _parts(path)]


def _parts(path: str) -> list[str]:
    """Split a path at each slash that is not escaped, and leave escapes in names."""
    found = [""]
    for one in re.findall(r"\\.|\\$|[^\\]", path, flags=re.DOTALL):
        if one == "/":
            found.append("")
        else:
            found[-1] += one
    return found


class Attributes:
    """The tree of a history's attributes."""

    def __init__(self, history: StateHistory) -> None:
        self._history = history

    def path(self, quark: int) -> tuple[str, ...]:
        """Return the names from the root to an attribute."""
        names = []
        while quark != ROOT:
            names.append(self._history.name(quark))
            quark = self._history.parent(quark)
        return tuple(reversed(names))

    def find(self, start: int, names: Sequence[str]) -> int:
        """Return the attribute at a path below another.

        Raises:
            AttributeNotFound: there is none; the error suggests the most similar one.
        """
        quark = start
        for number, name in enumerate(names):
            below = self._history.find(quark, [name])
            if below == MISSING:
                raise self._missing(quark, names[: number + 1])
            quark = below
        return quark

    def _missing(self, parent: int, names: Sequence[str]) -> AttributeNotFound:
        near = nearest(names[-1], [self._history.name(one) for one in self._history.children(parent)])
        hint = None if near is None else f"did you mean `{near}`?"
        return AttributeNotFound(f"there is no attribute `{escape(names)}`", hint=hint)

    def below(self, quark: int, pattern: str | None, *, recursive: bool) -> Iterator[int]:
        """Yield attributes below one, parents first, with names that match a pattern as a whole."""
        regex = None if pattern is None else re.compile(pattern, re.MULTILINE | re.DOTALL)
        open_ = list(reversed(self._history.children(quark)))
        while open_:
            one = open_.pop()
            if regex is None or regex.fullmatch(self._history.name(one)):
                yield one
            if recursive:
                open_.extend(reversed(self._history.children(one)))

    def matching(self, start: int, pattern: Sequence[str]) -> list[int]:
        """Return the distinct attributes that match a path with `*` (all children) and `..` (the parent)."""
        found = [start]
        for part in pattern:
            found = list(dict.fromkeys(one for quark in found for one in self._step(quark, part)))
        return found if pattern else [start]

    def _step(self, quark: int, part: str) -> Sequence[int]:
        if part == "*":
            return self._history.children(quark)
        if part == "..":
            return [ROOT if quark == ROOT else self._history.parent(quark)]
        below = self._history.find(quark, [part])
        return () if below == MISSING else (below,)
