"""Define the view `_` as the last query, so that the next one can build on it."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count
from typing import Any

from dctv.record import record
from dctv.syntax.lexer import COMMENT, scan
from dctv.syntax.parser import default_table

NAME = "_"
_BEGINS = frozenset(("SELECT", "FROM", "WITH", "VALUES", "PIVOT", "UNPIVOT", "TABLE", "("))
_BEFORE = "_before_"
"""Begins the names of parameters of the query before, whose values may have changed."""


@record
class LastQuery:
    """A query without the view `_`, and the values of its parameters."""

    select: str
    params: Mapping[str | int, Any]


def last_query(text: str, params: Mapping[str | int, Any], before: LastQuery | None) -> LastQuery | None:
    """Return what `_` stands for after a statement; None if it is not a query.

    If the statement reads `_` itself, that is the previous query, `before`.
    """
    words = [token for token in scan(default_table(), text) if token.kind not in {COMMENT, ";"}]
    if not words or words[0].text.upper() not in _BEGINS:
        return None
    text = text[: words[-1].stop]
    if before is None or all(word.text.strip("`") != NAME for word in words):
        return LastQuery(text, params)
    common = f"{NAME} AS (\n{_renamed(before.select)}\n)"
    values = dict(params)
    values |= {f"{_BEFORE}{name}": value for name, value in before.params.items()}
    if words[0].text.upper() != "WITH":
        return LastQuery(f"WITH {common}\n{text}", values)
    recursive = words[1].text.upper() == "RECURSIVE"
    rest = text[words[int(recursive)].stop :]
    return LastQuery(f"WITH {'RECURSIVE ' if recursive else ''}{common},{rest}", values)


def _renamed(text: str) -> str:
    """Return a query whose parameters have the names that they have in a later one."""
    parts, at, numbers = [], 0, count()
    for token in scan(default_table(), text):
        if token.kind == "BIND":
            name = token.text[1:] or next(numbers)
            parts += [text[at : token.start], f":{_BEFORE}{name}"]
            at = token.stop
    return "".join([*parts, text[at:]])
