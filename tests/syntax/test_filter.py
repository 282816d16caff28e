"""The filter language: trees, errors by their exact text, hostile texts."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import ParseError, SourceText, render
from dctv.syntax.filter import (
    MAX_DEPTH,
    Amount,
    And,
    Compare,
    Field,
    Filter,
    FilterConstant,
    In,
    IsNull,
    Not,
    Or,
    parse_filter,
)
from tests.bounds import bounded

A = Compare(Field(("a",)), "==", Amount(Fraction(1)))
B = Compare(Field(("b",)), "<", FilterConstant("x"))
C = IsNull(Field(("c",)))


def parsed(text: str) -> Filter:
    return parse_filter(SourceText("<filter>", text))


def value_of(text: str) -> object:
    found = parsed(f"x == {text}")
    assert isinstance(found, Compare)
    return found.value


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("a == 1", A),
        ("(((a==1)))", A),
        ("a == 1 and b < 'x' or c is null", Or((And((A, B)), C))),
        ("a == 1 AND (b < 'x' Or c IS NULL)", And((A, Or((B, C))))),
        ("not a == 1 and b < 'x'", And((Not(A), B))),
        ("not (a == 1 and b < 'x')", Not(And((A, B)))),
        ("not not a == 1", A),
        ("NOT NOT NOT a == 1", Not(A)),
        ("c is not null", Not(C)),
        ("a in []", In(Field(("a",)), ())),
        (
            'a not in [1, "y", true, null,]',
            Not(
                In(
                    Field(("a",)),
                    (Amount(Fraction(1)), FilterConstant("y"), FilterConstant(value=True), FilterConstant(None)),
                )
            ),
        ),
        ("args.in == 1", Compare(Field(("args", "in")), "==", Amount(Fraction(1)))),
        ("`in`.`a ``b` == 1", Compare(Field(("in", "a `b")), "==", Amount(Fraction(1)))),
        ("größe.0 >= 1", Compare(Field(("größe", "0")), ">=", Amount(Fraction(1)))),
    ],
)
def test_trees(text: str, tree: Filter) -> None:
    assert parsed(text) == tree


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("18446744073709551616", Amount(Fraction(2**64))),
        ("-9223372036854775809", Amount(Fraction(-(2**63) - 1))),
        ("+1_000", Amount(Fraction(1000))),
        ("0xff", Amount(Fraction(255))),
        ("-1.5", Amount(Fraction(-3, 2), whole=False)),
        ("1e3", Amount(Fraction(1000), whole=False)),
        (".5ms", Amount(Fraction(1, 2), whole=False, unit="ms")),
        ("5`MiB/s`", Amount(Fraction(5), unit="MiB/s")),
        ("'it\\'s'", FilterConstant("it's")),
        ('"a\\"b\\\\c\\n\\u00e9\\ud834\\udd1e"', FilterConstant('a"b\\c\né𝄞')),
        ("''", FilterConstant("")),
        ("TRUE", FilterConstant(value=True)),
        ("False", FilterConstant(value=False)),
        ("NULL", FilterConstant(None)),
    ],
)
def test_values(text: str, value: object) -> None:
    assert value_of(text) == value


ERRORS = r"""
<filter>:1:3: found `=`, expected a comparison, `in`, `not in` or `is`
  x = 5
    ^
hint: equality is written `==`

<filter>:1:3: found `<>`, expected a comparison, `in`, `not in` or `is`
  x <> 5
    ^^
hint: inequality is written `!=`

<filter>:1:8: found `&&`, expected `and`, `or` or the end of the filter
  x == 5 && y == 6
         ^^
hint: write `and`

<filter>:1:1: found `!`, expected a field, `not` or `(`
  !(x == 5)
  ^
hint: write `not`

<filter>:1:1: found `1000`, expected a field, `not` or `(`
  1000 < dur
  ^^^^
hint: the field stands on the left, as in `dur > 1000`

<filter>:1:6: found `y`, expected a value
  x == y
       ^
hint: a text stands in quotes: "y"; fields are only compared with values

<filter>:1:6: found `[`, expected a value
  x == [1, 2]
       ^
hint: membership in a list is written `in [...]`

<filter>:1:6: found `(`, expected `[`
  x in (1, 2)
       ^

<filter>:1:9: found `2`, expected `,` or `]`
  x in [1 2]
          ^

<filter>:1:3: found `nto`, expected a comparison, `in`, `not in` or `is`
  x nto in [1]
    ^^^
hint: did you mean `not`?

<filter>:1:8: found `adn`, expected `and`, `or` or the end of the filter
  x == 1 adn y == 2
         ^^^
hint: did you mean `and`?

<filter>:1:9: found `ms`, expected `and`, `or` or the end of the filter
  dur > 5 ms
          ^^
hint: a unit touches its number: `5ms`

<filter>:1:8: found the end of the filter, expected `)`, `and` or `or`
  (x == 1
         ^

<filter>:1:7: found `)`, expected `and`, `or` or the end of the filter
  x == 1)
        ^

<filter>:1:1: found `in`, expected a field, `not` or `(`
  in == 1
  ^^
hint: a field of that name needs backticks: `in`

<filter>:1:6: the text that opens here is not closed
  x == "abc
       ^

<filter>:1:7: unknown escape `\d`
  x == "\d"
        ^^
hint: a backslash itself is written `\\`

<filter>:1:6: the text holds half of a surrogate pair
  x == "\ud83d"
       ^^^^^^^^

<filter>:1:6: malformed number `1.2.3`
  x == 1.2.3
       ^^^^^

<filter>:1:3: found the character `§`, which means nothing here
  x § 1
    ^

<filter>:1:2: found `.`, expected a comparison, `in`, `not in` or `is`
  x. == 1
   ^

<filter>:1:6: found `5`, expected `null` or `not`
  x is 5
       ^

<filter>:1:1: the quoted name that opens here is not closed
  `x == 1
  ^
"""


@pytest.mark.parametrize("expected", ERRORS.strip().split("\n\n"))
def test_errors(expected: str) -> None:
    text = expected.split("\n")[1][2:]
    with pytest.raises(ParseError) as caught:
        parsed(text)
    assert render(caught.value) == expected


@pytest.mark.parametrize("text", ["", " \n\t"])
def test_an_empty_filter(text: str) -> None:
    with pytest.raises(ParseError, match=r":1:\d+: the filter is empty, expected a field, `not` or `\(`\n"):
        parsed(text)


def test_errors_on_later_lines() -> None:
    with pytest.raises(ParseError) as caught:
        parsed('a == 1 and\n  b == "x" or\n  c ==')
    assert render(caught.value) == "<filter>:3:7: found the end of the filter, expected a value\n    c ==\n        ^"


def test_parentheses_nest_as_deep_as_is_safe() -> None:
    assert parsed("(" * MAX_DEPTH + "a == 1" + ")" * MAX_DEPTH) == A
    with pytest.raises(ParseError, match=rf":1:\d+: nested more than {MAX_DEPTH} levels deep\n"):
        parsed("(" * 100_000 + "a == 1")
    assert parsed("not " * 100_001 + "a == 1") == Not(A)


def test_long_chains_and_lists() -> None:
    chain = parsed(" or ".join(["a == 1"] * 20_000))
    assert isinstance(chain, Or)
    assert len(chain.parts) == 20_000
    members = parsed(f"a in [{','.join(map(str, range(50_000)))}]")
    assert isinstance(members, In)
    assert members.values[-1] == Amount(Fraction(49_999))


@pytest.mark.parametrize("text", ["9" * 401, "1e1000", "1e-1000"])
def test_numbers_have_a_size(text: str) -> None:
    with pytest.raises(ParseError, match=r":1:\d+: the number is too long or too large\n"):
        value_of(text)


pieces = st.sampled_from(
    [
        "a",
        "and",
        "or",
        "not",
        "in",
        "is",
        "null",
        "true",
        "==",
        "<",
        "(",
        ")",
        "[",
        "]",
        ",",
        "1",
        "5ms",
        '"x"',
        "`",
        ".",
    ]
)


@bounded(300)
@given(st.lists(pieces, max_size=12).map(" ".join) | st.text(max_size=30))
def test_any_text_is_a_filter_or_an_error_with_a_place(text: str) -> None:
    error = failure(text)
    if error is not None:
        assert error.place is not None
        assert 0 <= error.place.start <= error.place.stop <= len(text)
        assert render(error)


def failure(text: str) -> ParseError | None:
    try:
        parsed(text)
    except ParseError as error:
        return error
    return None
