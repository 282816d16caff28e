"""Find the call whose arguments are being typed in unfinished text."""

from __future__ import annotations

from itertools import pairwise

from dctv.record import record
from dctv.syntax.build.names import unquote
from dctv.syntax.keywords import RESERVED
from dctv.syntax.lexer import COMMENT, Raw, scan
from dctv.syntax.parser import default_table


@record
class OpenCall:
    """A call that the text does not close."""

    name: str
    """The dotted name of the function."""
    given: frozenset[str]
    """Arguments that are given by name already."""


def open_call(text: str) -> OpenCall | None:
    """Return the call in which a further argument begins at the end of a text; None if none does."""
    found = [token for token in scan(default_table(), text) if token.kind != COMMENT and token.text]
    if not found or found[-1].kind not in {"(", ","}:
        return None
    index = _opened(found, len(found))
    name = "" if index is None else _name_before(found, index)
    return OpenCall(name, _given(found[(index or 0) + 1 :])) if name else None


def enclosing_call(text: str) -> str:
    """Return the dotted name of the innermost call that a text does not close, empty if there is none."""
    found = [token for token in scan(default_table(), text) if token.kind != COMMENT and token.text]
    index = _opened(found, len(found))
    while index is not None:
        name = _name_before(found, index)
        if name:
            return name
        index = _opened(found, index)
    return ""


def _opened(found: list[Raw], stop: int) -> int | None:
    """Return the index of the innermost open parenthesis before a position, None if all are closed."""
    depth = 0
    for index in range(stop - 1, -1, -1):
        kind = found[index].kind
        if kind == ";":
            return None
        depth += (kind == ")") - (kind == "(")
        if depth < 0:
            return index
    return None


def _name_before(found: list[Raw], index: int) -> str:
    parts: list[str] = []
    while index > 0 and found[index - 1].kind in {"NAME", "BACKTICKED"}:
        token = found[index - 1]
        if token.kind == "NAME" and token.text.upper() in RESERVED:
            break
        parts.insert(0, unquote(token.text) if token.kind == "BACKTICKED" else token.text)
        index -= 2
        if index <= 0 or found[index].kind != ".":
            break
    return ".".join(parts)


def _given(found: list[Raw]) -> frozenset[str]:
    """Return the names before arrows, those of calls within left out."""
    names: set[str] = set()
    depth = 0
    for token, after in pairwise(found):
        depth += (token.kind == "(") - (token.kind == ")")
        if not depth and token.kind == "NAME" and after.kind == "=>":
            names.add(token.text.lower())
    return frozenset(names)
