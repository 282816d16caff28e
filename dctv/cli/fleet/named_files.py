"""Find the files that SQL texts name, besides the traces that the command line mounts."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from glob import has_magic
from pathlib import Path

from dctv.catalog.files import matching
from dctv.cli.texts import SqlText
from dctv.errors import TraceError
from dctv.syntax.build.names import unquote
from dctv.syntax.lexer import scan
from dctv.syntax.parser import default_table


def files_named(texts: Sequence[SqlText]) -> Sequence[Path]:
    """Return the files whose paths or patterns are strings in some texts, whether they are read or not."""
    found: dict[Path, None] = {}
    for text in texts:
        strings = [unquote(one.text) for one in scan(default_table(), text.sql) if one.kind == "STRING"]
        for string in dict.fromkeys(strings):
            # Most strings are no paths: they are too long (OSError), have a zero (ValueError), are no valid pattern
            # (TraceError), or begin with `~` and the name of nobody (TraceError, RuntimeError).
            with suppress(OSError, ValueError, RuntimeError, TraceError):
                found |= dict.fromkeys(_files(string, text.base))
    return list(found)


def _files(string: str, base: Path | None) -> list[Path]:
    # A string such as `%` or `*` is hardly a pattern of files.
    is_pattern = has_magic(string) and ("/" in string or "." in string)
    paths = [(base or Path()) / Path(one).expanduser() for one in (matching(string, base) if is_pattern else [string])]
    return [one for one in paths if one.is_file()]
