"""Find the files that SQL texts name, besides the traces that the command line mounts."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.catalog.files import matching
from dctv.cli.texts import SqlText
from dctv.syntax.build.names import unquote
from dctv.syntax.lexer import scan
from dctv.syntax.parser import default_table

_WILDCARDS = frozenset("*?[")
_LONGEST = 4_096
"""The length of a path, at most."""


def files_named(texts: Sequence[SqlText]) -> Sequence[Path]:
    """Return the files whose paths or patterns are strings in some texts, whether they are read or not."""
    found: dict[Path, None] = {}
    for text in texts:
        strings = [unquote(one.text) for one in scan(default_table(), text.sql) if one.kind == "STRING"]
        for string in dict.fromkeys(strings):
            if 0 < len(string) < _LONGEST and "\0" not in string:
                found |= dict.fromkeys(one for one in _paths(string, text.base) if one.is_file())
    return list(found)


def _paths(string: str, base: Path | None) -> Sequence[Path]:
    folder = base or Path()
    try:
        # A string such as `%` or `*` is hardly a pattern of files.
        wild = _WILDCARDS.intersection(string) and ("/" in string or "." in string)
        return [folder / Path(one).expanduser() for one in (matching(string, base) if wild else [string])]
    except (OSError, ValueError, RuntimeError, NotImplementedError):
        # It is no path.
        return []
