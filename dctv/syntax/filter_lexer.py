"""Split text of the filter language into tokens, and decode its quoted texts."""

from __future__ import annotations

import re

from dctv.errors import ParseError, Place, SourceText
from dctv.patterns import pattern
from dctv.record import record

KEYWORDS = frozenset({"and", "or", "not", "in", "is", "true", "false", "null"})

_TOKEN = pattern(
    r"""(?P<SPACE>\s+)
    |(?P<FIELD>(?:[^\W\d]\w*|`(?:[^`]|``)*+`)(?:\.(?:\w+|`(?:[^`]|``)*+`))*)
    |(?P<NUMBER>[+-]?(?:0[xX][0-9A-Fa-f]+(?:_[0-9A-Fa-f]+)*
        |(?:[0-9]+(?:_[0-9]+)*(?:\.(?:[0-9]+(?:_[0-9]+)*)?)?|\.[0-9]+(?:_[0-9]+)*)(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?)
        (?:[^\W\d_]\w*|`(?:[^`]|``)*+`)?)
    |(?P<STRING>"(?:[^"\\]|\\.)*+"|'(?:[^'\\]|\\.)*+')
    |(?P<MARK>[=!<>]=|&&|\|\||<>|[=<>!()\[\],.&|~])""",
    re.VERBOSE | re.DOTALL,
)
_PART = pattern(r"`((?:[^`]|``)*+)`|(\w+)")
_AFTER_NUMBER = pattern(r"[\w.]+")
_ESCAPE = pattern(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {'"': '"', "'": "'", "\\": "\\", "/": "/", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}


@record(frozen=False)
class Token:
    """A piece of the text."""

    kind: str
    """`FIELD`, `NUMBER`, `STRING`, `WORD` (a keyword), `MARK` or `END`."""
    text: str
    start: int
    stop: int

    @property
    def word(self) -> str:
        """The keyword in lower case, or the mark; empty for the others."""
        return self.text.lower() if self.kind == "WORD" else self.text if self.kind == "MARK" else ""

    @property
    def parts(self) -> tuple[str, ...]:
        """The parts of a field's name, without backticks."""
        return tuple(found[2] or found[1].replace("``", "`") for found in _PART.finditer(self.text))


def scan(source: SourceText) -> list[Token]:
    """Cut a text into tokens, the last one being its end.

    Raises:
        ParseError: a character means nothing, a number is malformed, or a quote is not closed.
    """
    text = source.text
    tokens: list[Token] = []
    position = 0
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None or found.lastgroup is None:
            raise _broken(source, position)
        kind, stop = found.lastgroup, found.end()
        if kind == "NUMBER" and (garbage := _AFTER_NUMBER.match(text, stop)):
            place = Place(source, position, garbage.end())
            raise ParseError(f"malformed number `{place.text}`", place)
        if kind == "FIELD" and found[0].lower() in KEYWORDS:
            kind = "WORD"
        if kind != "SPACE":
            tokens.append(Token(kind, found[0], position, stop))
        position = stop
    end = tokens[-1].stop if tokens else 0
    tokens.append(Token("END", "", end, end))
    return tokens


def _broken(source: SourceText, start: int) -> ParseError:
    character = source.text[start]
    place = Place(source, start, start + 1)
    if character in "'\"":
        return ParseError("the text that opens here is not closed", place)
    if character == "`":
        return ParseError("the quoted name that opens here is not closed", place)
    shown = f"`{character}`" if character.isprintable() else f"U+{ord(character):04X}"
    return ParseError(f"found the character {shown}, which means nothing here", place)


def decoded(source: SourceText, token: Token) -> str:
    r"""Decode a quoted text: escapes are those of JSON, and `\'`.

    Raises:
        ParseError: an escape is unknown, or is half of a surrogate pair.
    """

    def character(found: re.Match[str]) -> str:
        escape = found[1]
        if len(escape) == 5:
            return chr(int(escape[1:], 16))
        if escape not in _ESCAPES:
            start = token.start + 1 + found.start()
            hint = "a backslash itself is written `\\\\`"
            raise ParseError(f"unknown escape `{found[0]}`", Place(source, start, start + len(found[0])), hint=hint)
        return _ESCAPES[escape]

    text = _ESCAPE.sub(character, token.text[1:-1])
    try:
        return text.encode("utf-16", "surrogatepass").decode("utf-16")
    except UnicodeDecodeError:
        raise ParseError("the text holds half of a surrogate pair", Place(source, token.start, token.stop)) from None
