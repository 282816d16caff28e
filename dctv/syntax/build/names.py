"""Forms that many others use: names, lists and optional parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, cast

from dctv.errors import ParseError, Place
from dctv.patterns import pattern
from dctv.syntax.ast import Expr, Name, OrderTerm, Path
from dctv.syntax.lexer import Raw

_LAST, _SURROGATES = 0x10FFFF, (0xD800, 0xDFFF)


def unquote(text: str) -> str:
    """Return the text between quotes, with doubled quotes inside reduced to one."""
    quote = text[0]
    return text[1:-1].replace(quote * 2, quote)


_ESCAPE = pattern(r"\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|([0-7]{1,3})|([\s\S]))")
_LETTERS = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}


def unescaped(text: str, at: Place) -> str:
    """Return a text with its escapes decoded."""

    def character(found: re.Match[str]) -> str:
        if found.group(5) is not None:
            return _LETTERS.get(found.group(5), found.group(5))
        octal = found.group(4)
        number = int(octal, 8) if octal else int(found.group(1) or found.group(2) or found.group(3), 16)
        if number > _LAST or _SURROGATES[0] <= number <= _SURROGATES[1] or number == 0:
            raise ParseError(f"`{found.group()}` is not a character", at)
        return chr(number)

    return _ESCAPE.sub(character, text)


def name(at: Place, token: Raw) -> Name:
    """Make a bare name."""
    return Name(token.text, place=at)


def quoted_name(at: Place, token: Raw) -> Name:
    """Make a name from a quoted one."""
    text = unquote(token.text)
    if not text:
        hint = "double quotes are for names; a string stands in single quotes: ''" if token.text[0] == '"' else None
        raise ParseError("a name may not be empty", at, hint=hint)
    return Name(text, quoted=True, place=at)


def path(at: Place, first: Path | Name, last: Name | None = None) -> Path:
    """Make a dotted name, one part at a time."""
    parts = first.parts if isinstance(first, Path) else (first,)
    return Path(parts if last is None else (*parts, last), place=at)


def string_path(at: Place, token: Raw) -> Path:
    """Make a path from a string that names a column."""
    return Path((quoted_name(at, token),), place=at)


def order_term(at: Place, expr: Expr, direction: str, nulls: str) -> OrderTerm:
    """Make one term of an order."""
    place_of_nulls = cast("Literal['FIRST', 'LAST'] | None", nulls.removeprefix("NULLS ") or None)
    return OrderTerm(expr, direction == "DESC", place_of_nulls, place=at)


def words(_at: Place, *tokens: Raw) -> str:
    """Return keywords or a mark in upper case, joined by blanks."""
    return " ".join(token.text.upper() for token in tokens)


def one(_at: Place, part: object) -> object:
    """Return the only part."""
    return part


def several(_at: Place, *parts: object) -> tuple[object, ...]:
    """Return the parts."""
    return parts


def nothing(_at: Place) -> None:
    """Return None for an omitted part."""


def yes(_at: Place, *_tokens: Raw) -> bool:
    """Return True for a keyword that is present."""
    return True


def no(_at: Place, *_tokens: Raw) -> bool:
    """Stand for a keyword that is not there."""
    return False


_WORDS = """union_op intersect_op mode timed_mode overlap grouping_kind direction null_op nulls_order join_kind
    span_kind broadcast_kind direction_word nearest_word view_words sign not_op compare_op like_op
    bit_or_op bit_and_op shift_op add_op concat_op multiply_op prefix_op json_op literal_type nulls left_out frame_unit
    bound_end match_op trim_side first_word row_word bound_side type_words"""

FORMS: dict[str, Callable[..., object]] = {
    **dict.fromkeys(_WORDS.split(), words),
    "name": name,
    "quoted_name": quoted_name,
    "string_name": quoted_name,
    "string_path": string_path,
    "path": path,
    "argument_path": path,
    "one": one,
    "several": several,
    "pair": several,
    "nothing": nothing,
    "yes": yes,
    "no": no,
}
