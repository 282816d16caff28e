"""What a wrong text is answered: `errors.txt` holds texts, each with its answer after `> `."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.errors import ParseError, Place, SourceText, render
from dctv.syntax.lexer import scan
from dctv.syntax.parse import parse
from dctv.syntax.table import load_table
from tests.bounds import EXPLORE
from tests.syntax.test_syntax_parse import STATEMENTS

BLOCKS = (Path(__file__).parent / "errors.txt").read_text(encoding="utf-8").rstrip("\n").split("\n\n")


def split(block: str) -> tuple[str, str]:
    lines = block.split("\n")
    return (
        "\n".join(line for line in lines if not line.startswith("> ")),
        "\n".join(line[2:] for line in lines if line.startswith("> ")),
    )


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("\n")[0])
def test_answer_to_a_wrong_text(block: str) -> None:
    text, answer = split(block)
    with pytest.raises(ParseError) as raised:
        parse(SourceText("<query>", text))
    assert render(raised.value) == answer


def test_the_file_holds_many_texts_each_once() -> None:
    texts = [split(block)[0] for block in BLOCKS]
    assert len(texts) > 60
    assert len(set(texts)) == len(texts)


def test_characters_that_cannot_be_seen_are_named() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: found the character U\+0000, which means nothing here\n"):
        parse(SourceText("<query>", "SELECT \0"))


def test_long_tokens_are_cut_short() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: found `x{37}\.\.\.`, expected"):
        parse(SourceText("<query>", f"SELECT 1 a {'x' * 1000}"))


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: the number is too long or too large\n"):
        parse(SourceText("<query>", "SELECT " + "1" * 5000))
    assert parse(SourceText("<query>", "SELECT " + "1" * 400))


WORDS = ("", "ORDER", ")", "SELECT")


@pytest.mark.parametrize("word", WORDS)
def test_a_word_too_few_or_another_one_is_an_error_with_a_place(word: str) -> None:
    """But for `make fuzz`, each place is tried with one of the words."""
    tokens = [(text, token) for text in STATEMENTS for token in scan(load_table(), text)[:-1]]
    if not EXPLORE:
        tokens = tokens[WORDS.index(word) :: len(WORDS)]
    changed = [f"{text[: token.start]} {word} {text[token.stop :]}" for text, token in tokens]
    places = [place for text in changed for place in complaints(text)]
    assert len(places) > len(tokens) / 3
    assert None not in places


def complaints(text: str) -> list[Place | None]:
    try:
        parse(SourceText("<query>", text))
    except ParseError as error:
        return [error.place]
    return []


def test_of_a_long_line_the_part_around_the_place_is_shown() -> None:
    def shown(before: int, after: int) -> list[str]:
        text = " " * before + "here" + " " * (after - 1) + "." * (after > 0)
        place = Place(SourceText("<query>", text), before, before + 4)
        _, line, carets = render(ParseError("wrong", place)).splitlines()
        assert line[carets.index("^") : carets.index("^") + 4] == "here"
        assert carets.strip() == "^^^^"
        return [line[2:], carets[2:]]

    assert shown(10, 10) == [" " * 10 + "here" + " " * 9 + ".", " " * 10 + "^^^^"]
    for before, after in ((0, 1000), (1000, 0), (1000, 1000), (100_000, 3)):
        line, _ = shown(before, after)
        assert (line.startswith("..."), line.endswith("...")) == (before > 3, after > 3)
        assert len(line) <= 166
