"""Keeps a process of the command line from loading what it does not need but its libraries would load."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType

from dctv.absent import refuse


class _Untranslated(ModuleType):
    """What `argparse` wants of `gettext`, for texts that nobody has translated."""

    gettext = staticmethod(str)

    @staticmethod
    def ngettext(one: str, many: str, number: int) -> str:
        """Choose the text for a number of things."""
        return one if number == 1 else many


def _load_argparse() -> None:
    """Load `argparse` without `gettext`, which takes 3 ms to find no translation of its texts."""
    name = "gettext"
    if name in sys.modules:
        return
    sys.modules[name] = _Untranslated(name)
    try:
        import_module("argparse")
    finally:
        del sys.modules[name]


def prepare(words: Sequence[str]) -> None:
    """Make pyarrow believe that there is no pandas: else it loads it with the first list, for 0.3 s and 25 MB.

    An index is built without numpy too, unless a timeline is made with it: pyarrow loads it at once, for 0.06 s and
    11 MB. What pyarrow then needs comes from the system's allocator: its own one keeps 40 MB that are free.
    """
    names = {"pandas"}
    if words[:1] == ["index"]:
        if "--timeline" not in words:
            names.add("numpy")
        os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    refuse(names)
    _load_argparse()
