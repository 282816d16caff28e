"""Parse TSDL, the metadata language of CTF 1.8, into a syntax tree, with a lark grammar."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from dctv import resources
from dctv.patterns import pattern
from dctv.readers.ctf_metadata.classes import MetadataError

if TYPE_CHECKING:
    from lark import Lark

Form = Any
"""A lark tree: `data` is the name of a rule, `children` are tokens and trees."""

MOST_BYTES = 16 << 20
"""The maximum size of metadata."""

_ESCAPE = pattern(r"\\(x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"} | {c: c for c in "\\'\"?"}


def parse_tsdl(text: str) -> Form:
    """Parse metadata into a syntax tree.

    Raises:
        MetadataError: the text does not follow the grammar.
    """
    from lark.exceptions import UnexpectedInput

    if len(text) > MOST_BYTES:
        raise MetadataError(f"the metadata have {len(text) >> 20} MiB, more than {MOST_BYTES >> 20}")
    try:
        return _parser().parse(text)
    except UnexpectedInput as error:
        raise MetadataError(_complaint(text, error)) from None


def _complaint(text: str, error: Any) -> str:
    """Describe the position of a syntax error."""
    token = getattr(error, "token", None)
    if token is not None and token.type == "$END":
        return "the metadata end within a declaration"
    position = error.pos_in_stream or 0
    shown = str(token) if token is not None else text[position : position + 1]
    return f"line {text.count(chr(10), 0, position) + 1} of the metadata: unexpected `{shown[:40]}`"


@cache
def _parser() -> Lark:
    from lark import Lark

    grammar = (resources.root() / "grammar" / "tsdl.lark").read_text(encoding="utf-8")
    return Lark(grammar, parser="lalr", maybe_placeholders=False)


def parse_integer(token: str) -> int:
    """Parse an integer literal of C.

    Raises:
        MetadataError: it does not fit into 64 bits.
    """
    digits = token.rstrip("uUlL")
    if len(digits) > 24:
        raise MetadataError(f"the number `{digits[:40]}...` does not fit into 64 bits")
    octal = len(digits) > 1 and digits[0] == "0" and digits[1] not in "xX"
    try:
        value = int(digits, 8 if octal else 0)
    except ValueError:
        raise MetadataError(f"`{token}` is not a number") from None
    if value >= 1 << 64:
        raise MetadataError(f"the number `{digits}` does not fit into 64 bits")
    return value


def unquoted(token: str) -> str:
    """Parse a string or character literal.

    Raises:
        MetadataError: it has an unknown escape.
    """

    def meant(found: re.Match[str]) -> str:
        what = found[1]
        if what[0] == "x" and len(what) > 1:
            return chr(int(what[1:], 16))
        if what[0] in "01234567":
            return chr(int(what, 8) & 255)
        if what not in _ESCAPES:
            raise MetadataError(f"unknown escape `{found[0]}` in `{token[:40]}`")
        return _ESCAPES[what]

    return _ESCAPE.sub(meant, token.removeprefix("L")[1:-1])
