"""Parsing: every statement of the list, every form of the grammar, every class of the tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from lark import Lark, Token, Tree
from lark.lexer import Lexer, LexerState

from dctv.errors import ParseError, SourceText
from dctv.syntax import ast, commands
from dctv.syntax.compile_grammar import load_grammar
from dctv.syntax.lexer import Raw
from dctv.syntax.node import nodes
from dctv.syntax.parse import parse, parse_expression, parse_select
from dctv.syntax.parser import END, MAX_DEPTH, Parser
from dctv.syntax.print import to_sql
from dctv.syntax.table import STARTS, grammar_path

STATEMENTS = [
    line for line in (Path(__file__).parent / "statements.sql").read_text(encoding="utf-8").splitlines()[1:] if line
]


def statements(text: str) -> list[commands.Statement]:
    return parse(SourceText("<query>", text))


def expression(text: str) -> ast.Expr:
    return parse_expression(SourceText("<query>", text))


@pytest.mark.parametrize("text", STATEMENTS)
def test_printed_text_parses_to_the_same_tree(text: str) -> None:
    tree = statements(text)
    assert tree
    printed = ";\n".join(map(to_sql, tree))
    assert statements(printed) == tree
    assert ";\n".join(map(to_sql, statements(printed))) == printed


@pytest.mark.parametrize("text", STATEMENTS)
def test_every_node_knows_its_place(text: str) -> None:
    for node in nodes(statements(text)):
        assert node.place is not None, node
        assert 0 <= node.place.start <= node.place.stop <= len(text)
        assert node.place.text == node.place.text.strip()
        if isinstance(node, ast.Number | ast.String):
            assert node.place.text[-1] not in " ,;"


def test_statements_use_every_class_of_the_tree() -> None:
    used = {type(node) for text in STATEMENTS for node in nodes(statements(text))}
    abstract = {ast.Node, ast.Expr, ast.Table}
    named = [one for module in (ast, commands) for one in vars(module).values() if isinstance(one, type)]
    assert {one for one in named if issubclass(one, ast.Node)} - abstract == used


def test_statements_use_every_production() -> None:
    used = set()

    class Recorder(Parser):
        def _reduce(self, number: int, next_start: int) -> None:
            used.add(number)
            super()._reduce(number, next_start)

        def _renamed(self, terminal: int) -> int | None:
            table, states = self.table, self.stacks.states
            while len(states) > 1:
                action = table.row(states[-1]).get(terminal)
                if action is None or action >= 0 or not table.rule(-1 - action).renames:
                    break
                used.add(-1 - action)
                states[-1] = table.goto(states[-2])[table.rule(-1 - action).origin]
            return super()._renamed(terminal)

    def nothing(_name: str, _parts: list[object], _start: int, _stop: int) -> None:
        pass

    for text in STATEMENTS:
        parser = Recorder(text, "script", nothing)
        parser.run()
    for text, start in (
        ("", "script"),
        (";", "script"),
        ("a", "lone_expression"),
        ("SELECT 1", "lone_select"),
        ("SELECT 1;;", "lone_select"),
    ):
        Recorder(text, start, nothing).run()
    table = parser.table
    unused = [table.rule(n) for n in range(len(table.rules)) if n not in used]
    assert [(table.nonterminals[r.origin], r.name, r.size) for r in unused] == []


class Fed(Lexer):
    """Gives lark the terminals that our parser distinguished."""

    def __init__(self, _conf: object) -> None:
        pass

    __future_interface__ = True

    def lex(self, lexer_state: LexerState, _parser_state: object) -> Iterator[Token]:
        for terminal, raw in terminals(str(lexer_state.text.text)):
            yield Token(terminal, raw.text)


LARK_NAMES: dict[str, str] = {}


def terminals(text: str) -> Iterator[tuple[str, Raw]]:
    parser = Parser(text, "script", lambda _name, _parts, _start, _stop: None)
    for index, raw in enumerate(parser.tokens[:-1]):
        name = parser.table.terminals[parser.terminal(index)]
        parser.advance(index)
        yield LARK_NAMES.get(name, name), raw


def shape(tree: object) -> object:
    if isinstance(tree, Tree):
        return (tree.data, [shape(child) for child in tree.children])
    return str(tree)


def test_our_machine_makes_the_trees_that_lark_makes() -> None:
    grammar = grammar_path().read_text(encoding="utf-8")
    LARK_NAMES.update(
        {t.pattern.value: t.name for t in load_grammar(grammar, STARTS).terminals if t.pattern.type == "str"}
    )
    lark = Lark(grammar, parser="lalr", start=list(STARTS), maybe_placeholders=False, lexer=Fed)

    def ours(name: str, parts: list[object], _start: int, _stop: int) -> object:
        return (name, [part.text if isinstance(part, Raw) else part for part in parts])

    for text in STATEMENTS:
        assert Parser(text, "script", ours).run() == shape(lark.parse(text, start="script")), text


def test_blank_text_is_an_empty_list() -> None:
    assert [statements(text) for text in ("", "  \n", "-- nothing", "/* /* */ */", ";;", "\ufeff")] == [[]] * 6


def test_lone_select_and_lone_expression() -> None:
    assert isinstance(parse_select(SourceText("view.sql", "-- a view\nSELECT 1;\n")), ast.Select)
    assert isinstance(expression("a + 1"), ast.Binary)
    with pytest.raises(ParseError):
        parse_select(SourceText("view.sql", "SELECT 1; SELECT 2"))
    with pytest.raises(ParseError):
        expression("a, b")


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("a OR b AND c", "a OR (b AND c)"),
        ("NOT a = b", "NOT (a = b)"),
        ("NOT a AND b", "(NOT a) AND b"),
        ("a = b BETWEEN 1 AND 2", "a = (b BETWEEN 1 AND 2)"),
        ("a BETWEEN 1 AND 2 = b", "(a BETWEEN 1 AND 2) = b"),
        ("a BETWEEN 1 | 2 AND 3", "a BETWEEN (1 | 2) AND 3"),
        ("a < b = c", "(a < b) = c"),
        ("a | b & c << d + e * -f", "a | (b & (c << (d + (e * (-f)))))"),
        ("a - b - c", "(a - b) - c"),
        ("a || b + c", "(a || b) + c"),
        ("a / b // c % d * e", "(((a / b) // c) % d) * e"),
        ("-a::INT", "-(a::INT)"),
        ("-a[1]", "-(a[1])"),
        ("a + 1 IN ms", "(a + 1) IN ms"),
        ("a IN ms > 5", "(a IN ms) > 5"),
        ("a IS NULL = b", "(a IS NULL) = b"),
        ("a + 1 ISNULL", "(a + 1) IS NULL"),
        ("NOT a NOTNULL", "NOT (a IS NOT NULL)"),
        ("a NOT NULL AND b", "(a IS NOT NULL) AND b"),
        ("a IS b", "a <=> b"),
        ("a IS NOT b", "a <!=> b"),
        ("a IS NOT DISTINCT FROM b", "a <=> b"),
        ("a IS DISTINCT FROM b", "a <!=> b"),
        ("a <> b", "a != b"),
        ("a == b", "a = b"),
        ("CAST(a AS INT)", "a::int"),
        ("1_000", "1000"),
        ("((SELECT 1))", "(SELECT 1)"),
        ("a IN ((SELECT 1))", "a IN (SELECT 1)"),
    ],
)
def test_forms_that_mean_the_same(text: str, same: str) -> None:
    assert expression(text) == expression(same)


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("a OR b AND c", "(a OR b) AND c"),
        ("a IN ((SELECT 1),)", "a IN (SELECT 1)"),
        ("(a,)", "a"),
        ("a - (b - c)", "a - b - c"),
        ("17ms", "17"),
    ],
)
def test_forms_that_mean_different_things(text: str, other: str) -> None:
    assert expression(text) != expression(other)


def test_set_operators_follow_the_standard() -> None:
    assert statements("SELECT 1 UNION SELECT 2 INTERSECT SELECT 3") == statements(
        "SELECT 1 UNION (SELECT 2 INTERSECT SELECT 3)"
    )
    assert statements("SELECT 1 UNION SELECT 2 EXCEPT SELECT 3") == statements(
        "(SELECT 1 UNION SELECT 2) EXCEPT SELECT 3"
    )


def test_a_comma_joins_like_any_other_join() -> None:
    assert statements("SELECT * FROM a, b JOIN c ON x") == statements("SELECT * FROM (a JOIN b) JOIN c ON x")


def test_numbers_are_exact() -> None:
    def value(text: str) -> tuple[str, str | None, bool]:
        node = expression(text)
        assert isinstance(node, ast.Number)
        return str(node.value), node.unit, node.is_integer

    assert value("0x1F") == ("31", None, True)
    assert value("1_000.5e-1ms") == ("2001/20", "ms", False)
    assert value("4`miles/hour`") == ("4", "miles/hour", True)
    assert value("1e3") == ("1000", None, False)
    assert value("1eV") == ("1", "eV", True)
    assert value(".5") == ("1/2", None, False)


def test_automatic_parameters_are_numbered_by_text_not_by_explicit_numbers() -> None:
    tree = statements("SELECT ?, ?7, ?; SELECT * FROM f(?) WHERE a = :b")
    assert [n.key for n in nodes(tree) if isinstance(n, ast.Bind)] == [0, 7, 1, 2, "b"]


def test_a_double_quoted_word_is_a_name_in_sql_and_a_string_in_arguments() -> None:
    tree = statements('SELECT "a" FROM f("a")')
    assert [n for n in nodes(tree) if isinstance(n, ast.Column)] == [ast.Column(ast.Path((ast.Name("a"),)))]
    assert [n for n in nodes(tree) if isinstance(n, ast.String)] == [ast.String("a")]


def test_deep_nesting_works_or_is_an_error() -> None:
    deep = 10_000
    assert expression("(" * deep + "1" + ")" * deep) == expression("1")
    assert len(statements("SELECT 1;" * deep)) == deep
    for operator in ("AND", "OR"):
        tree = expression(f" {operator} ".join(["a"] * deep))
        assert isinstance(tree, ast.Logical)
        assert expression(to_sql(tree)) == tree
        assert len(tree.operands) == deep
    (union,) = statements(" UNION ALL ".join(["SELECT 1"] * deep))
    assert isinstance(union, ast.SelectStatement)
    assert isinstance(union.select.body, ast.Compound)
    assert len(union.select.body.parts) == deep
    assert statements(to_sql(union)) == [union]
    for text in (
        "- " * deep + "1",
        "1" + " + 1" * deep,
        "(SELECT " * deep + "1" + ")" * deep,
        "f(" * deep + ")" * deep,
        "(SELECT 1" + " EXCEPT SELECT 1" * deep + ")",
        "(SELECT 1" + " UNION SELECT 1 UNION ALL SELECT 1" * deep + ")",
    ):
        with pytest.raises(ParseError, match=f"nested more than {MAX_DEPTH} levels deep"):
            expression(text)
    with pytest.raises(ParseError, match="found the end of the text"):
        expression("(" * deep)


def test_syntax_trees_can_be_printed_compared_and_hashed() -> None:
    tree = expression("- " * (MAX_DEPTH - 5) + "a")
    assert expression(to_sql(tree)) == tree
    assert hash(tree) == hash(expression(to_sql(tree)))


def test_the_end_is_no_keyword() -> None:
    assert END not in Parser("", "script", lambda *_: None).table.keywords
