"""Colour the tokens of a text, line by line."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable

from prompt_toolkit.document import Document
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from dctv.syntax.complete import tokens

STYLE = Style.from_dict(
    {
        "sql.keyword": "bold ansiblue",
        "sql.number": "ansimagenta",
        "sql.unit": "ansicyan",
        "sql.string": "ansigreen",
        "sql.comment": "italic ansibrightblack",
        "sql.bind": "ansiyellow",
    }
)
"""Colours among the sixteen that a terminal's theme keeps legible; names and operators are not coloured."""


class SqlLexer(Lexer):
    """Colours SQL by its grammar."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return a function from line numbers to coloured fragments."""
        text = document.text
        marked = [] if text.lstrip().startswith(".") else tokens(text)
        ends = [stop for _, stop, _ in marked]
        starts = [0]
        for line in document.lines:
            starts.append(starts[-1] + len(line) + 1)

        def pieces(number: int) -> StyleAndTextTuples:
            if number >= len(document.lines):
                return []
            position, end = starts[number], starts[number + 1] - 1
            found: StyleAndTextTuples = []
            for start, stop, colour in marked[bisect_right(ends, position) :]:
                if start >= end:
                    break
                found.append(("", text[position : max(position, start)]))
                found.append((f"class:sql.{colour}", text[max(position, start) : min(stop, end)]))
                position = min(stop, end)
            found.append(("", text[position:end]))
            return found

        return pieces
