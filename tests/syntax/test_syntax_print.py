"""Printing: any tree prints to text that parses to it; headers as the manual shows them."""

from __future__ import annotations

import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from dctv.errors import ParseError, SourceText
from dctv.syntax import ast, commands
from dctv.syntax.node import nodes
from dctv.syntax.parse import parse, parse_expression, parse_select
from dctv.syntax.parser import default_table
from dctv.syntax.print import FORMS, header, to_sql
from tests.bounds import bounded
from tests.syntax import trees
from tests.syntax.test_syntax_parse import STATEMENTS


@bounded(240)
@given(trees.exprs(2))
def test_any_expression_prints_to_text_that_parses_to_it(tree: ast.Expr) -> None:
    assert parse_expression(SourceText("<query>", to_sql(tree))) == tree


@bounded(240)
@given(trees.selects(2))
def test_any_select_prints_to_text_that_parses_to_it(tree: ast.Select) -> None:
    assert parse_select(SourceText("<query>", to_sql(tree))) == tree


@bounded(240)
@given(trees.statements(1))
def test_any_statement_prints_to_text_that_parses_to_it(tree: commands.Statement) -> None:
    assert parse(SourceText("<query>", to_sql(tree))) == [tree]


@pytest.mark.ci
def test_the_strategies_make_every_class() -> None:
    """Draw until each class has come up: how often one does depends on what else its process has loaded."""
    missing = set(FORMS)
    for round_of_draws in range(60):
        for strategy in (
            trees.statements(0),
            trees.exprs(1),
            trees.cores(1),
            trees.groups(0),
            trees.groups(1),
            trees.tables(1),
            trees.arguments(1),
            trees.selects(1),
            trees.ordered_selects(0),
            trees.ordered_selects(1),
        ):

            @seed(round_of_draws)
            @settings(bounded(1), derandomize=False, max_examples=60)
            @given(strategy)
            def collect(tree: ast.Node) -> None:
                missing.difference_update(type(node) for node in nodes(tree))

            collect()
        if not missing:
            break
    assert missing == set()


@given(trees.exprs(2))
@bounded(240)
def test_any_expression_has_a_header(tree: ast.Expr) -> None:
    assert isinstance(header(tree), str)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("4`inches` IN cm", "4 IN cm"),
        ("4`miles/hour` * 2`days`", "(4 * 2)"),
        ("COUNT(*)", "COUNT()"),
        ("count(*)", "count()"),
        ("COUNT(DISTINCT a)", "COUNT(DISTINCT a)"),
        ("comm", "comm"),
        ("t.`print|B`", "print|B"),
        ("SUM(_duration)/5s", "(SUM(_duration) / 5)"),
        ("sum(a.b) + 1 - 2", "((sum(a.b) + 1) - 2)"),
        ("a + b IN ms", "(a + b) IN ms"),
        ("NOT a", "NOT a"),
        ("a IS NULL", "(a IS NULL)"),
        ("'x'", "'x'"),
        ("CASE WHEN a THEN 1ms END", "CASE WHEN a THEN 1 END"),
        ("x IN `miles/hour`", "x IN miles/hour"),
        ("a BETWEEN 1ms AND 2ms", "a BETWEEN 1 AND 2"),
        ("MAX(x) OVER (PARTITION BY y)", "MAX(x) OVER (PARTITION BY y)"),
    ],
)
def test_header(text: str, expected: str) -> None:
    assert header(parse_expression(SourceText("<query>", text))) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a OR b AND NOT c = d",
        "(a OR b) AND c",
        "- -a",
        "-(a + b)",
        "a - (b - c) - d",
        "(a, b) IN ((1, 2), (3, 4))",
        "(a = b) IS NULL",
        "(NOT a) = b",
        "CAST(a AS DECIMAL(18, 3)[])[1]",
        "(a + b)[1]",
        "(SELECT a FROM t LIMIT 1) + 1",
        "a IN (SELECT b FROM u)",
        "`group`.first || partition",
        "SUM(a) FILTER (WHERE b) OVER (w ORDER BY c DESC NULLS LAST ROWS 1 PRECEDING)",
    ],
)
def test_printing_adds_no_parentheses(text: str) -> None:
    printed = to_sql(parse_expression(SourceText("<query>", text)))
    assert printed.replace("(a = b) IS", "a = b IS") == text.replace("(a = b) IS", "a = b IS")


PIECES = sorted(default_table().keywords) + [t for t in default_table().terminals if not t[0].isalpha()]
SOUP = st.lists(
    st.sampled_from(
        [*PIECES, "a", "1", "17ms", "'s'", '"d"', "`q`", "?", ":x", "--c\n", "/*", "*/", "'", "`", "$", "\n"]
    ),
    max_size=25,
).map(" ".join)
CUT = st.tuples(st.sampled_from(STATEMENTS), st.integers(0, 200), st.integers(0, 12)).map(
    lambda t: t[0][: t[1]] + t[0][t[1] + t[2] :]
)


@settings(max_examples=200, deadline=None)
@given(SOUP | CUT | st.text(max_size=40))
def test_any_text_parses_or_is_a_parse_error(text: str) -> None:
    place, tree = None, None
    try:
        tree = parse(SourceText("<query>", text))
    except ParseError as error:
        place = error.place
    if tree is None:
        assert place is not None
        assert 0 <= place.start <= place.stop <= len(text)
    else:
        assert parse(SourceText("<query>", ";".join(map(to_sql, tree)))) == tree
