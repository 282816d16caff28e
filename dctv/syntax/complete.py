"""Analyse unfinished text for a prompt: its completions, whether it is complete, and its colours."""

from __future__ import annotations

from typing import Literal

from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax.build.names import unquote
from dctv.syntax.expected import keywords, terminals
from dctv.syntax.keywords import RESERVED
from dctv.syntax.lexer import BROKEN, COMMENT, Raw, scan
from dctv.syntax.parser import Parser, TooDeep, Unexpected, default_table

Kind = Literal["table", "column", "function", "unit", "keyword"]
Colour = Literal["keyword", "name", "number", "unit", "string", "comment", "operator", "bind"]

_KINDS: dict[str, tuple[Kind, ...]] = {
    "table": ("table",),
    "argument": ("table",),
    "expr": ("column", "function"),
    "range": ("column", "function"),
    "bit_or": ("column", "function"),
    "product": ("column", "function"),
    "prefixed": ("column", "function"),
    "unit": ("unit",),
    "path": ("table",),
}
_NUMBER = pattern(r"0[xX][0-9A-Fa-f_]+|[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?")
_OPENED: dict[str, Colour] = {"'": "string", '"': "name", "`": "name"}
_COLOURS: dict[str, Colour] = {
    "STRING": "string",
    "ESCAPED": "string",
    "DOLLARS": "string",
    "HEXED": "string",
    "DOUBLE_QUOTED": "name",
    "BACKTICKED": "name",
    "BIND": "bind",
    COMMENT: "comment",
}


@record
class CompletionContext:
    """The word at the end of a text, and its possible kinds."""

    kinds: tuple[Kind, ...]
    """The kinds of names that are valid there, none inside a string or comment, or after an error."""
    word: str
    """The typed prefix of the name; of a dotted one, its last part."""
    prefix: tuple[str, ...] = ()
    """The parts before the last dot."""


def is_complete(text: str) -> bool:
    """Return whether a text is empty or ends in a complete statement."""
    found = scan(default_table(), text)
    if any(t.kind == BROKEN and (t.text[0] in "'\"`" or t.text[1:2] == "'" or t.text.startswith("/*")) for t in found):
        return False
    visible = [t for t in found if t.kind != COMMENT]
    return not visible or visible[-1].kind == ";"


def expected_keywords(text: str) -> list[str]:
    """Return the keywords that the grammar accepts at the end of a text, an unfinished last word left out."""
    parser, _ = _upto_name(text, dotted=False)
    return [] if parser is None else keywords(parser)


def context(text: str) -> CompletionContext:
    """Return the kinds of names that are expected at the end of a text, and the prefix already typed."""
    parser, unfinished = _upto_name(text, dotted=True)
    parts = [t.text if t.kind in {"NAME", "NUMBER"} else unquote(t.text) for t in unfinished if t.kind != "."]
    word = parts.pop() if unfinished and unfinished[-1].kind != "." else ""
    if unfinished and unfinished[-1].kind == "NUMBER":
        return CompletionContext(("unit",), word[_digits(word) :])
    if parser is None:
        return CompletionContext((), word)
    begins = terminals(parser).get("NAME", frozenset())
    kinds = next((kinds for symbol, kinds in _KINDS.items() if symbol in begins), ())
    if not parts and keywords(parser):
        kinds = (*kinds, "keyword")
    return CompletionContext(kinds, word, tuple(parts))


def tokens(text: str) -> list[tuple[int, int, Colour]]:
    """Return the range and the colour of each token; broken text has colours too."""
    found: list[tuple[int, int, Colour]] = []
    parser = _Reader(text)
    index = 0
    for raw in scan(parser.table, text):
        if raw.kind == COMMENT:
            found.append((raw.start, raw.stop, "comment"))
            continue
        terminal = parser.read(index)
        index += 1
        if raw.kind == "NUMBER":
            split = raw.start + _digits(raw.text)
            found.append((raw.start, split, "number"))
            if split < raw.stop:
                found.append((split, raw.stop, "unit"))
        else:
            found.append((raw.start, raw.stop, "unit" if parser.is_unit else _colour(raw, terminal)))
    return found


class _Reader(Parser):
    """A parser that reads on after an error, with the next statement."""

    def __init__(self, text: str) -> None:
        super().__init__(text, "script", lambda _name, _parts, _start, _stop: None)
        self._lost = False
        self.is_unit = False

    def read(self, index: int) -> str:
        """Take a token and return the name of the terminal that it is, or is most likely."""
        token = self.tokens[index]
        after_in = index > 0 and self.tokens[index - 1].text.upper() == "IN"
        if self._lost and token.kind == ";":
            self._lost = False
            self.restart()
        if not self._lost:
            try:
                terminal = self.terminal(index)
                self.advance(index)
            except (Unexpected, TooDeep):
                self._lost = True
            else:
                name = self.table.terminals[terminal]
                self.is_unit = after_in and name in {"NAME", "BACKTICKED"}
                return name
        self.is_unit = False
        word = token.text.upper()
        return word if token.kind == "NAME" and word in RESERVED else token.kind


def _colour(raw: Raw, terminal: str) -> Colour:
    if raw.kind == "NAME":
        return "name" if terminal == "NAME" else "keyword"
    if raw.kind == BROKEN:
        return _broken_colour(raw.text)
    return _COLOURS.get(raw.kind, "operator")


def _broken_colour(text: str) -> Colour:
    if text.startswith("/*"):
        return "comment"
    if text[0].isdigit() or text[0] == ".":
        return "number"
    return _OPENED.get(text[0], "operator")


def _digits(text: str) -> int:
    """Return the number of characters of a number before its unit."""
    found = _NUMBER.match(text)
    return found.end() if found else 0


def _upto_name(text: str, *, dotted: bool) -> tuple[Parser | None, list[Raw]]:
    """Return a parser that has taken all but an unfinished name at the end, and that name's tokens.

    The parser is None where the text before is wrong or nests too deeply, or its end is inside a string or comment.
    """
    parser = Parser(text, "script", lambda _name, _parts, _start, _stop: None)
    count = len(parser.tokens) - 1
    ends_inside = any(t.kind == BROKEN for t in parser.tokens) or _ends_in_comment(text)
    unfinished = 0
    if count and parser.tokens[count - 1].stop == len(text) and parser.tokens[count - 1].kind in {"NAME", "NUMBER"}:
        unfinished = 1
    if dotted:
        while _joins(parser.tokens, count - unfinished - 1, count):
            unfinished += 1
    taken = parser.tokens[count - unfinished : count]
    begin = max((i + 1 for i in range(count) if parser.tokens[i].kind == ";"), default=0)
    try:
        for index in range(begin, count - unfinished):
            parser.advance(index)
    except (Unexpected, TooDeep):
        return None, taken
    return (None if ends_inside else parser), taken


def _joins(found: list[Raw], index: int, count: int) -> bool:
    """Return whether a token belongs to the dotted name that the tokens after it end."""
    if index < 0:
        return False
    if found[index].kind == ".":
        return index + 1 == count or found[index + 1].kind in {"NAME", "BACKTICKED"}
    return (
        found[index].kind in {"NAME", "BACKTICKED", "DOUBLE_QUOTED"}
        and index + 1 < count
        and found[index + 1].kind == "."
    )


def _ends_in_comment(text: str) -> bool:
    found = scan(default_table(), text)
    return (
        bool(found)
        and found[-1].kind == COMMENT
        and not found[-1].text.startswith("/*")
        and found[-1].stop == len(text)
    )
