"""Read the SQL texts of the arguments: a word, files, stdin."""

from __future__ import annotations

import sys
from pathlib import Path

from dctv.errors import UsageError, reason_of
from dctv.record import record

_BOTH = "-c SQL goes with -f"


@record
class SqlText:
    """SQL to run, and its origin."""

    name: str
    sql: str
    base: Path | None = None
    """The base folder of paths in MOUNT TRACE."""


def read_texts(words: list[str], files: list[str], commands: list[str] | None = None) -> list[SqlText]:
    """Return the texts in order, those of options after the word; there is at least one."""
    if words and files:
        raise UsageError(f"found both SQL (`{words[0]}`) and -f {files[0]}, expected one of them", hint=_BOTH)
    if len(words) > 1:
        raise UsageError(f"found a second text `{words[1]}`, expected one SQL text", hint="quote the SQL as a whole")
    texts = [*words, *(commands or [])]
    if not texts and not files:
        raise UsageError("found nothing to run, expected SQL, -c SQL or -f FILE")
    return [_checked(SqlText("<query>", sql)) for sql in texts] + [read_text(name) for name in files]


def read_text(name: str) -> SqlText:
    """Return the text of a file, or of stdin for `-`."""
    return _checked(_read(name))


def _read(name: str) -> SqlText:
    try:
        if name == "-":
            return SqlText("<stdin>", sys.stdin.buffer.read().decode("utf-8-sig"))
        path = Path(name)
        return SqlText(name, path.read_text(encoding="utf-8-sig"), path.parent)
    except OSError as error:
        raise UsageError(f"cannot read `{name}`: {reason_of(error)}") from error
    except UnicodeDecodeError as error:
        raise UsageError(f"`{name}` is not UTF-8 text (byte {error.start})") from error


def _checked(text: SqlText) -> SqlText:
    try:
        text.sql.encode()
    except UnicodeEncodeError as error:
        raise UsageError(f"the SQL is not UTF-8 text (character {error.start})") from error
    return text
