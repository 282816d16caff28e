"""Cut text into statements at the semicolons that are not part of a string, a quoted name or a comment."""

from __future__ import annotations

import re

from dctv.patterns import pattern
from dctv.record import record

_NEXT = pattern(
    r"""(?P<closed>'(?:[^']|'')*+' | "(?:[^"]|"")*+" | `(?:[^`]|``)*+` | (?:--|\#)[^\n]*)
      | (?P<comment>/\*) | (?P<end>;) | (?P<open>['"`])""",
    re.VERBOSE,
)
_COMMENT_MARK = pattern(r"/\*|\*/")
_BLANK_OR_COMMENT = pattern(r"(?:[\s\ufeff]+|(?:--|\#)[^\n]*)*+")


@record
class Cut:
    """The places of the complete statements of a text, and the start of the unfinished rest."""

    statements: list[tuple[int, int]]
    """Half-open ranges of characters, each with its semicolon."""
    rest: int


def cut(text: str) -> Cut:
    """Find the statements of a text."""
    found: list[tuple[int, int]] = []
    start = position = 0
    while (match := _NEXT.search(text, position)) is not None:
        position = match.end()
        if match["end"]:
            found.append((start, position))
            start = position
        elif match["open"]:
            break
        elif match["comment"]:
            after = _end_of_comment(text, position)
            if after is None:
                break
            position = after
    return Cut(found, start)


def is_complete(text: str) -> bool:
    """Whether Enter should run the text: a dot command, nothing at all, or nothing after the last semicolon."""
    if text.lstrip().startswith("."):
        return True
    where = cut(text)
    return is_empty(text[where.rest :]) and (bool(where.statements) or not text.strip())


def is_empty(text: str) -> bool:
    """Whether a text holds only blanks and comments of one line."""
    match = _BLANK_OR_COMMENT.match(text)
    return match is not None and match.end() == len(text)


def in_place(text: str, start: int, stop: int) -> str:
    """Return a statement with blanks in front that keep its line and column, which errors cite."""
    line = text.rfind("\n", 0, start) + 1
    return "\n" * text.count("\n", 0, start) + " " * (start - line) + text[start:stop]


def _end_of_comment(text: str, position: int) -> int | None:
    depth = 1
    while depth:
        match = _COMMENT_MARK.search(text, position)
        if match is None:
            return None
        depth += 1 if match.group() == "/*" else -1
        position = match.end()
    return position
