"""Regular expressions that are compiled when they are first used, since most of a program's are not used in a run."""

from __future__ import annotations

import re
from typing import Any, AnyStr, cast


class _Uncompiled:
    """Stands for a pattern; what is asked of it is kept, so that only the first use takes longer."""

    def __init__(self, text: Any, flags: int) -> None:
        self._given = (text, flags)

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(*self._given), name)
        setattr(self, name, found)
        return found


def pattern(text: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Return a regular expression; whether the text is one shows only when it is used."""
    return cast("re.Pattern[AnyStr]", _Uncompiled(text, flags))
