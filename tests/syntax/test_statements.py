"""Where statements end, for Enter at the prompt and for text from a pipe."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.syntax.statements import cut, in_place, is_complete, is_empty


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", [""]),
        ("a; b;c", ["a;", " b;", "c"]),
        ("';' \";\" `;`;x", ["';' \";\" `;`;", "x"]),
        ("'it''s;' ; x", ["'it''s;' ;", " x"]),
        ("a -- ; \n;b", ["a -- ; \n;", "b"]),
        ("a # ; \n;b", ["a # ; \n;", "b"]),
        ("/* ; /* ; */ ; */ a;b", ["/* ; /* ; */ ; */ a;", "b"]),
        ("/* ; /* */ ;", ["/* ; /* */ ;"]),
        ("a; 'b; c''", ["a;", " 'b; c''"]),
        ("4`miles/hour` * 2;x", ["4`miles/hour` * 2;", "x"]),
    ],
)
def test_cut(text: str, pieces: list[str]) -> None:
    where = cut(text)
    assert [*(text[start:stop] for start, stop in where.statements), text[where.rest :]] == pieces


@given(st.text(st.sampled_from("a;'\"`-#/*\n ")))
def test_pieces_make_up_the_text(text: str) -> None:
    where = cut(text)
    assert "".join(text[start:stop] for start, stop in where.statements) + text[where.rest :] == text
    for start, stop in where.statements:
        assert cut(text[start:stop]).rest == stop - start


@pytest.mark.parametrize("text", ["SELECT 1;", "SELECT 1; -- done", ".help", " .tables x", "", " \n", "a;b; \n"])
def test_complete(text: str) -> None:
    assert is_complete(text)


@pytest.mark.parametrize("text", ["SELECT 1", "SELECT ';", "SELECT 1; SELECT", "-- note", "/* ;", "SELECT 1; /*"])
def test_incomplete(text: str) -> None:
    assert not is_complete(text)


def test_a_statement_keeps_its_line_and_column() -> None:
    text = "SELECT 1;\n  SELECT 2; SELECT 3"
    start = text.index("SELECT 3")
    padded = in_place(text, start, len(text))
    assert padded.splitlines()[1].index("SELECT 3") == text.splitlines()[1].index("SELECT 3")
    assert padded.count("\n") == 1


def test_empty() -> None:
    assert is_empty(" \n-- x\n# y")
    assert not is_empty("-- x\n1")
