"""Names of modules -> a process that does without them, though its libraries would load them."""

from __future__ import annotations

import sys

from dctv.hints import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from importlib.machinery import ModuleSpec
    from types import ModuleType


class _Refused:
    """A finder of modules that says of some that they are not there."""

    def __init__(self, names: frozenset[str]) -> None:
        self._names = names

    def find_spec(
        self, name: str, _path: Sequence[str] | None = None, _target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Refuse a name, or leave it to others."""
        if name in self._names:
            raise ModuleNotFoundError(f"dctv does without {name}", name=name)
        return None


def refuse(names: Iterable[str]) -> None:
    """Let libraries believe that some modules are not installed."""
    sys.meta_path.insert(0, _Refused(frozenset(names)))


def allow() -> None:
    """Let everything be loaded again: something is wanted that takes it."""
    sys.meta_path[:] = [one for one in sys.meta_path if not isinstance(one, _Refused)]
