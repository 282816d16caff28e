"""Colours of code on the site."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pygments.lexer import Lexer
from pygments.token import Generic, Keyword, Name, Number, String

from docs.colours import ConsoleLexer, SqlLexer
from tests.command_line import ROOT

BLOCK = re.compile(r"^```(sql|console)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LEXERS: dict[str, Lexer] = {"sql": SqlLexer(), "console": ConsoleLexer()}
PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md"])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_no_character_is_lost(page: Path) -> None:
    for kind, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        pieces = list(LEXERS[kind].get_tokens_unprocessed(text))
        assert "".join(piece for _, _, piece in pieces) == text
        assert [at for at, _, _ in pieces] == [sum(len(p) for _, _, p in pieces[:n]) for n in range(len(pieces))]


def test_units_and_spans() -> None:
    found = [(kind, piece) for _, kind, piece in SqlLexer().get_tokens_unprocessed("SELECT SPAN 5ms AS x, :y")]
    assert [piece for kind, piece in found if kind is Keyword] == ["SELECT", "SPAN", "AS"]
    assert {(Number, "5"), (Name.Constant, "ms"), (Name, "x"), (Name.Variable, ":y")} <= set(found)


def test_sql_in_commands() -> None:
    text = '$ dctv query --format csv t=\'a b\' "\n> SELECT 1 IN \\`B/ms\\` AS x" -o "$OUT/x.csv"\nx\n1\n'
    found = [(kind, piece) for _, kind, piece in ConsoleLexer().get_tokens_unprocessed(text)]
    assert [piece for kind, piece in found if kind is Generic.Prompt] == ["$ ", "> "]
    assert [piece for kind, piece in found if kind is Keyword] == ["SELECT", "IN", "AS"]
    assert [piece for kind, piece in found if kind is String] == ["'a b'", '"$OUT/x.csv"']
    assert [piece for kind, piece in found if kind is Name.Attribute] == ["--format", "-o"]
    assert [piece for kind, piece in found if kind is Generic.Output] == ["x\n", "1\n"]
