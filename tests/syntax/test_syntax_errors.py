"""What a wrong text is answered: `errors.txt` holds texts, each with its answer after `> `."""

from __future__ import annotations

from pathlib import Path

import pytest

from dctv.errors import ParseError, Source, render
from dctv.syntax.parse import parse

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
        parse(Source("<query>", text))
    assert render(raised.value) == answer


def test_the_file_holds_many_texts_each_once() -> None:
    texts = [split(block)[0] for block in BLOCKS]
    assert len(texts) > 60
    assert len(set(texts)) == len(texts)


def test_characters_that_cannot_be_seen_are_named() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: found the character U\+0000, which means nothing here\n"):
        parse(Source("<query>", "SELECT \0"))


def test_long_tokens_are_cut_short() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: found `x{37}\.\.\.`, expected"):
        parse(Source("<query>", f"SELECT 1 a {'x' * 1000}"))


def test_a_number_of_many_digits_is_refused() -> None:
    with pytest.raises(ParseError, match=r":1:\d+: the number is too long or too large\n"):
        parse(Source("<query>", "SELECT " + "1" * 5000))
    assert parse(Source("<query>", "SELECT " + "1" * 400))
