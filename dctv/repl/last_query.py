"""Define the view `_` as the last query, so that the next one can build on it."""

from __future__ import annotations

from dctv.syntax.lexer import COMMENT, scan
from dctv.syntax.parser import default_table

NAME = "_"
_BEGINS = frozenset(("SELECT", "FROM", "WITH", "VALUES", "("))


def view_of(text: str, before: str) -> str | None:
    """Return the select for `_` after a statement; None if it is not a query.

    If the statement reads `_` itself, that is the previous query.
    """
    words = [token for token in scan(default_table(), text) if token.kind not in {COMMENT, ";"}]
    if not words or words[0].text.upper() not in _BEGINS:
        return None
    text = text[: words[-1].stop]
    if not before or all(word.text.strip("`") != NAME for word in words):
        return text
    common = f"{NAME} AS (\n{before}\n)"
    if words[0].text.upper() != "WITH":
        return f"WITH {common}\n{text}"
    recursive = words[1].text.upper() == "RECURSIVE"
    return f"WITH {'RECURSIVE ' if recursive else ''}{common},{text[words[int(recursive)].stop :]}"
