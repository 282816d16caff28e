"""Regular expressions that are compiled when they are first used, since most of a program's are not used in a run."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Uncompiled:
    """A proxy for a pattern, compiled on first use; attributes are cached, so that only the first access is slower."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = (text, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression; whether the text is one shows only when it is used."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(text, flags))
