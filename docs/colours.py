"""Colours of code on the site: SQL as the grammar of dctv sees it, by itself and in commands of a console."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from pygments.lexer import Lexer
from pygments.token import Comment, Generic, Keyword, Name, Number, Operator, String, Text

from dctv.syntax.complete import tokens

_KINDS = {
    "keyword": Keyword,
    "name": Name,
    "number": Number,
    "unit": Name.Constant,
    "string": String,
    "comment": Comment,
    "operator": Operator,
    "bind": Name.Variable,
}
_QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)
_IS_SQL = re.compile(r"\s*(?:--.*\s+)*[A-Z]{3,}\s")
_SHELL = re.compile(
    r"(?P<comment>(?<!\S)#.*)|(?P<string>'[^']*')|(?P<variable>\$\w+)|(?P<option>(?<!\S)--?[A-Za-z][\w-]*)"
)
_SHELL_KINDS = {"comment": Comment, "string": String, "variable": Name.Variable, "option": Name.Attribute}
_Pieces = Iterator[tuple[int, Any, str]]


class SqlLexer(Lexer):
    """SQL with spans and units."""

    name = "dctv SQL"
    aliases = ("sql",)

    def get_tokens_unprocessed(self, text: str) -> _Pieces:
        """Yield what there is of a text, from its beginning to its end."""
        yield from _whole(text, _of_sql(text))


class ConsoleLexer(Lexer):
    """Commands after `$`, their further lines after `>`, and what they print."""

    name = "dctv console"
    aliases = ("console",)

    def get_tokens_unprocessed(self, text: str) -> _Pieces:
        """Yield what there is of a text, from its beginning to its end."""
        lines = text.splitlines(keepends=True)
        at = position = 0
        while at < len(lines):
            if not lines[at].startswith("$ "):
                yield position, Generic.Output, lines[at]
                position, at = position + len(lines[at]), at + 1
                continue
            count = 1
            while at + count < len(lines) and lines[at + count].startswith(">"):
                count += 1
            yield from _command(lines[at : at + count], position)
            position += sum(map(len, lines[at : at + count]))
            at += count


def _command(lines: list[str], position: int) -> _Pieces:
    """Yield a command of several lines; its quoted SQL has the colours of SQL."""
    tokens = [(line[:2], line[2:]) if line[1:2] == " " else (line[:1], line[1:]) for line in lines]
    text = "".join(rest for _, rest in tokens)
    marked = list(_whole(text, _of_shell(text)))
    begin = 0
    for prompt, rest in tokens:
        yield position, Generic.Prompt, prompt
        position += len(prompt)
        end = begin + len(rest)
        for start, kind, piece in marked:
            first, last = max(start, begin), min(start + len(piece), end)
            if first < last:
                yield position + first - begin, kind, text[first:last]
        position += len(rest)
        begin = end


def _of_sql(text: str) -> Iterator[tuple[int, int, Any]]:
    yield from ((start, stop, _KINDS[colour]) for start, stop, colour in tokens(text))


def _of_shell(text: str) -> Iterator[tuple[int, int, Any]]:
    at = 0
    for quoted in _QUOTED.finditer(text):
        yield from _of_words(text, at, quoted.start())
        start = quoted.start(1)
        if _IS_SQL.match(quoted[1] + " "):
            yield from ((start + a, start + b, kind) for a, b, kind in _of_sql(quoted[1].replace("\\`", " `")))
        else:
            yield quoted.start(), quoted.end(), String
        at = quoted.end()
    yield from _of_words(text, at, len(text))


def _of_words(text: str, start: int, stop: int) -> Iterator[tuple[int, int, Any]]:
    for found in _SHELL.finditer(text, start, stop):
        yield found.start(), found.end(), _SHELL_KINDS[str(found.lastgroup)]


def _whole(text: str, marked: Iterator[tuple[int, int, Any]]) -> _Pieces:
    """Yield the marked pieces of a text and all that is between them."""
    at = 0
    for start, stop, kind in marked:
        if start > at:
            yield at, Text, text[at:start]
        yield start, kind, text[start:stop]
        at = stop
    if at < len(text):
        yield at, Text, text[at:]
