"""Split text into raw tokens: words are not yet classified as keywords or names, since only the parser can."""

from __future__ import annotations

import re
from functools import lru_cache

from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax.table import ParseTable

COMMENT = "COMMENT"
BROKEN = "BROKEN"
"""An invalid token: an unknown character, or an unterminated text or comment."""


@record(frozen=False)
class Raw:
    """A token as recognised by its characters alone."""

    kind: str
    """`NAME`, `NUMBER`, `STRING`, ..., `COMMENT`, `BROKEN`, or the punctuation mark itself."""
    text: str
    start: int
    stop: int


_OPENED = ("e'", "E'")
_NESTING = pattern(r"/\*|\*/")
_AFTER_NUMBER = pattern(r"\w+")


@lru_cache(maxsize=1)
def _master(patterns: tuple[tuple[str, str], ...], marks: tuple[str, ...]) -> re.Pattern[str]:
    named = [f"(?P<{name}>{pattern})" for name, pattern in patterns]
    longest_first = sorted(marks, key=len, reverse=True)
    return re.compile("|".join([*named, "(?P<MARK>" + "|".join(map(re.escape, longest_first)) + ")"]))


def master(table: ParseTable) -> re.Pattern[str]:
    """Return one regular expression for every token."""
    order = ("SPACE", "NAME", "NUMBER", "LINE_COMMENT", "BLOCK_COMMENT", "DOLLARS")
    patterns = sorted(table.patterns, key=lambda p: order.index(p[0]) if p[0] in order else len(order))
    marks = tuple(t for t in table.terminals if not (t[0].isalpha() or t[0] == "$"))
    return _master(tuple(patterns), marks)


def scan(table: ParseTable, text: str) -> list[Raw]:
    """Cut a text into tokens, blanks left out, comments kept; any text can be cut."""
    match = master(table).match
    tokens: list[Raw] = []
    position, end = 0, len(text)
    while position < end:
        found = match(text, position)
        kind = BROKEN if found is None or found.lastgroup is None else found.lastgroup
        stop = position + 1 if found is None else found.end()
        if kind == "SPACE":
            position = stop
            continue
        if kind == "MARK":
            kind = text[position:stop]
        elif kind == "LINE_COMMENT":
            kind = COMMENT
        elif kind == "BLOCK_COMMENT":
            kind, stop = _block_comment(text, position)
        elif kind == "BIND" and text[position] == ":" and _ends_with(tokens, position, table):
            kind, stop = ":", position + 1
        elif kind == "NUMBER" and (garbage := _AFTER_NUMBER.match(text, stop)):
            kind, stop = BROKEN, garbage.end()
        elif kind == BROKEN and (text[position] in "'\"`" or text[position : position + 2] in _OPENED):
            stop = end
        tokens.append(Raw(kind, text[position:stop], position, stop))
        position = stop
    return tokens


_VALUES = frozenset({"NULL", "TRUE", "FALSE", "END"})
_ENDING = frozenset(
    {"NAME", "BACKTICKED", "DOUBLE_QUOTED", "NUMBER", "STRING", "DOLLARS", "BIND", "BRACKETS", ")", "]", "}"}
)


def _ends_with(tokens: list[Raw], position: int, table: ParseTable) -> bool:
    """Whether a value or a name ends right here, so that a colon is a separator: `x[1:n]`, `{a:b}`."""
    last = tokens[-1] if tokens and tokens[-1].stop == position else None
    if last is not None and last.kind == "-":
        return len(tokens) > 1 and tokens[-2].kind == ":"  # `x[1:-:2]`: up to the end
    plain = last is None or last.text.upper() not in table.keywords - _VALUES
    return last is not None and last.kind in _ENDING and plain


def _block_comment(text: str, start: int) -> tuple[str, int]:
    depth = 0
    for found in _NESTING.finditer(text, start):
        depth += 1 if found.group() == "/*" else -1
        if depth == 0:
            return COMMENT, found.end()
    return BROKEN, len(text)
