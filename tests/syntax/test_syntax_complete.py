"""What a prompt asks about unfinished text."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from dctv.syntax.complete import CompletionContext, context, expected_keywords, is_complete, tokens
from tests.syntax.test_syntax_parse import STATEMENTS
from tests.syntax.test_syntax_print import CUT, SOUP


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", True),
        ("  -- a comment", True),
        ("/* a comment */", True),
        ("/* a comment", False),
        ("SELECT 1", False),
        ("SELECT 1;", True),
        ("SELECT 1; -- done", True),
        ("SELECT ';", False),
        ("SELECT ';';", True),
        ("SELECT `;", False),
        ("SELECT 1 -- ;", False),
        ("SELECT 1 /* ; */", False),
        ("SELECT 1; SELECT 2", False),
        ("SELECT $;", True),
    ],
)
def test_is_complete(text: str, *, expected: bool) -> None:
    assert is_complete(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT a FROM t SPAN ", ["BROADCAST", "INNER", "JOIN", "LEFT", "OUTER", "RIGHT"]),
        ("SELECT a FROM t SPAN B", ["BROADCAST", "INNER", "JOIN", "LEFT", "OUTER", "RIGHT"]),
        ("SELECT a FROM ", ["LATERAL", "VALUES"]),
        ("SELECT a FROM t GROUP ", ["AND", "BY", "USING"]),
        (
            "CREATE ",
            ["FUNCTION", "MACRO", "OR", "RECURSIVE", "SECURE", "STATE", "TABLE", "TEMP", "TEMPORARY", "TYPE", "VIEW"],
        ),
        ("SHOW ", ["COLUMNS", "FUNCTIONS", "MOUNTS", "TABLES", "UNITS"]),
        ("SELECT 1; DROP ", ["ALL", "FUNCTION", "MACRO", "STATE", "TABLE", "TYPE", "VIEW"]),
        ("SELECT ) FROM; DROP ", ["ALL", "FUNCTION", "MACRO", "STATE", "TABLE", "TYPE", "VIEW"]),
        ("SELECT ) FROM ", []),
        ("SELECT * ", None),
    ],
)
def test_expected_keywords(text: str, expected: list[str] | None) -> None:
    found = expected_keywords(text)
    assert found == expected if expected is not None else {"FROM", "EXCLUDE", "REPLACE"} <= set(found)


def test_a_statement_may_begin_with_these() -> None:
    begin = ["ASSERT", "ATTACH", "COPY", "CREATE", "DESCRIBE", "DROP", "EXPECT", "EXPLAIN", "FROM", "MOUNT", "PIVOT"]
    begin += ["SELECT", "SET", "SHOW", "SUMMARIZE", "TABLE", "UNPIVOT", "VALUES", "WITH"]
    assert expected_keywords("") == begin
    assert expected_keywords("SEL") == begin


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", CompletionContext(("keyword",), "")),
        ("SEL", CompletionContext(("keyword",), "SEL")),
        ("SELECT ", CompletionContext(("column", "function", "keyword"), "")),
        ("SELECT fo", CompletionContext(("column", "function", "keyword"), "fo")),
        ("SELECT t.fo", CompletionContext(("column", "function"), "fo", ("t",))),
        ("SELECT a FROM ", CompletionContext(("table", "keyword"), "")),
        ("SELECT a FROM trace.sched.", CompletionContext(("table",), "", ("trace", "sched"))),
        ("SELECT a FROM trace.`a b`.ti", CompletionContext(("table",), "ti", ("trace", "a b"))),
        ("SELECT a FROM t WHERE ", CompletionContext(("column", "function", "keyword"), "")),
        ("SELECT a IN m", CompletionContext(("unit", "keyword"), "m")),
        ("SELECT 17m", CompletionContext(("unit",), "m")),
        ("SELECT * FROM f(sources=>", CompletionContext(("table", "keyword"), "")),
        ("DESCRIBE tr", CompletionContext(("table", "keyword"), "tr")),
        ("DROP VIEW tr", CompletionContext(("table", "keyword"), "tr")),
        ("SELECT 'a", CompletionContext((), "")),
        ("SELECT a -- b", CompletionContext((), "")),
        ("SELECT ) ", CompletionContext((), "")),
    ],
)
def test_context(text: str, expected: CompletionContext) -> None:
    assert context(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT first", "SELECT:keyword first:name"),
        ("x > 17ms", "x:name >:operator 17:number ms:unit"),
        ("SELECT x IN ms", "SELECT:keyword x:name IN:keyword ms:unit"),
        ("SELECT 4`a/b`, ?3, :x", "SELECT:keyword 4:number `a/b`:unit ,:operator ?3:bind ,:operator :x:bind"),
        ("SELECT ) FROM 'a", "SELECT:keyword ):operator FROM:keyword 'a:string"),
        ("SELECT `b` # c", "SELECT:keyword `b`:name # c:comment"),
        ("SELECT /* c", "SELECT:keyword /* c:comment"),
        ("SELECT $ 1_x", "SELECT:keyword $:operator 1_x:number"),
        ("foo; SELECT last FROM t", "foo:name ;:operator SELECT:keyword last:name FROM:keyword t:name"),
    ],
)
def test_tokens(text: str, expected: str) -> None:
    assert " ".join(f"{text[start:stop]}:{kind}" for start, stop, kind in tokens(text)) == expected


@settings(max_examples=200, deadline=None)
@given(SOUP | CUT)
def test_any_text_has_colours_and_completions(text: str) -> None:
    end = 0
    for start, stop, _ in tokens(text):
        assert end <= start < stop
        assert text[end:start].strip() == ""
        end = stop
    assert end <= len(text)
    context(text)
    assert expected_keywords(text) == sorted(set(expected_keywords(text)))
    is_complete(text)


def test_deep_nesting_has_colours_and_no_completions() -> None:
    text = "SELECT " + "1 + " * 300
    assert len(tokens(text)) == 601
    assert context(text).kinds == ()
    assert expected_keywords(text) == []
    assert [kind for _, _, kind in tokens(f"{text}2; SELECT")][-2:] == ["operator", "keyword"]


def test_every_statement_is_complete_with_a_semicolon() -> None:
    assert [text for text in STATEMENTS if not is_complete(f"{text}\n;")] == []
