"""Parse text into a syntax tree."""

from __future__ import annotations

from itertools import count
from typing import cast

from dctv.errors import Place, SourceText
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.build import FORMS
from dctv.syntax.commands import Statement
from dctv.syntax.parser import Parser, TooDeep, Unexpected


def parse(source: SourceText) -> list[Statement]:
    """Parse a list of statements; blank text is an empty list.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    return cast("list[Statement]", _run(source, "script"))


def parse_expression(source: SourceText) -> ast.Expr:
    """Parse one expression and nothing else.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    return cast("ast.Expr", _run(source, "lone_expression"))


def parse_select(source: SourceText) -> ast.Select:
    """Parse exactly one select, optionally followed by `;`.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    return cast("ast.Select", _run(source, "lone_select"))


def _run(source: SourceText, start: str) -> object:
    def make(name: str, parts: list[object], start: int, stop: int) -> object:
        return FORMS[name](Place(source, start, max(start, stop)), *parts)

    parser = Parser(source.text, start, make)
    numbers = count()
    parser.tokens = [replace(t, text=f"?{next(numbers)}") if t.text == "?" else t for t in parser.tokens]
    try:
        return parser.run()
    except Unexpected as error:
        from dctv.syntax.syntax_errors import complain  # 5 ms that a right text need not spend

        raise complain(source, start, error.index) from None
    except TooDeep as error:
        from dctv.syntax.syntax_errors import too_deep  # as above

        raise too_deep(source, error) from None
