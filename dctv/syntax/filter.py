"""Parse text of the filter language (`cat == "POSIX" and dur > 1000`) into its syntax tree.

    filter := and ("or" and)*
    and    := not ("and" not)*
    not    := "not" not | "(" filter ")" | test
    test   := FIELD ("==" | "!=" | "<" | "<=" | ">" | ">=") VALUE
            | FIELD ["not"] "in" "[" [VALUE ("," VALUE)* [","]] "]"
            | FIELD "is" ["not"] "null"

By recursive descent rather than from a table: eight productions need none, and a filter then costs no start-up.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction
from typing import Literal, cast

from dctv.errors import ParseError, Place, SourceText
from dctv.patterns import pattern
from dctv.record import record
from dctv.syntax.filter_lexer import Token, decoded, scan
from dctv.syntax.node import Node

MAX_DEPTH = 100
"""The maximum depth of parentheses, so that recursion over a filter is safe."""
MOST_DIGITS = 400

Operator = Literal["==", "!=", "<", "<=", ">", ">="]
OPERATORS: tuple[Operator, ...] = ("==", "!=", "<", "<=", ">", ">=")


@record(eq=False, text=False)
class Field(Node):
    """A field of an event: `cat`, `args.level`."""

    parts: tuple[str, ...]

    @property
    def text(self) -> str:
        """The parts joined by dots."""
        return ".".join(self.parts)


@record(eq=False, text=False)
class Amount(Node):
    """A number: its exact value, whether it is written as a whole one, and its unit as written."""

    value: Fraction
    whole: bool = True
    unit: str | None = None


@record(eq=False, text=False)
class FilterConstant(Node):
    """A text, a truth value or null."""

    value: str | bool | None


Value = Amount | FilterConstant


@record(eq=False, text=False)
class Compare(Node):
    """`field op value`."""

    field: Field
    operator: Operator
    value: Value


@record(eq=False, text=False)
class In(Node):
    """`field in [values]`."""

    field: Field
    values: tuple[Value, ...]


@record(eq=False, text=False)
class IsNull(Node):
    """`field is null`."""

    field: Field


@record(eq=False, text=False)
class Not(Node):
    """`not part`."""

    part: Filter


@record(eq=False, text=False)
class And(Node):
    """`part and part`."""

    parts: tuple[Filter, ...]


@record(eq=False, text=False)
class Or(Node):
    """`part or part`."""

    parts: tuple[Filter, ...]


Filter = Compare | In | IsNull | Not | And | Or


def parse_filter(source: SourceText) -> Filter:
    """Parse a filter.

    Raises:
        ParseError: the text does not follow the grammar.
    """
    return _Parser(source, scan(source)).parse()


class _Parser:
    """A parser that takes the tokens of one text from left to right."""

    def __init__(self, source: SourceText, tokens: list[Token]) -> None:
        self._source = source
        self._tokens = tokens
        self._index = 0
        self._depth = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._index]

    def parse(self) -> Filter:
        """Return the filter that the whole text is."""
        found = self._some()
        if self._next.kind != "END":
            raise self._unexpected("`and`", "`or`", "the end of the filter")
        return found

    def _accept(self, word: str) -> bool:
        """Accept a keyword or mark if it is next."""
        if self._next.word != word:
            return False
        self._index += 1
        return True

    def _expect(self, word: str, *others: str) -> Token:
        token = self._next
        if not self._accept(word):
            raise self._unexpected(f"`{word}`", *others)
        return token

    def _some(self) -> Filter:
        return self._chain("or", self._every, Or)

    def _every(self) -> Filter:
        return self._chain("and", self._operand, And)

    def _chain(self, word: str, part: Callable[[], Filter], made: type[And] | type[Or]) -> Filter:
        start = self._next.start
        parts = [part()]
        while self._accept(word):
            parts.append(part())
        return parts[0] if len(parts) == 1 else made(tuple(parts), place=self._since(start))

    def _operand(self) -> Filter:
        start = self._next.start
        negations = 0
        while self._accept("not"):
            negations += 1
        found = self._group() if self._next.word == "(" else self._test()
        # A double NOT cancels out, for unknown values too.
        return Not(found, place=self._since(start)) if negations % 2 else found

    def _group(self) -> Filter:
        opening = self._expect("(")
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ParseError(f"nested more than {MAX_DEPTH} levels deep", self._place(opening))
        found = self._some()
        if not self._accept(")"):
            raise self._unexpected("`)`", "`and`", "`or`")
        self._depth -= 1
        return found

    def _test(self) -> Filter:
        token = self._next
        if token.kind != "FIELD":
            raise self._unexpected("a field", "`not`", "`(`")
        self._index += 1
        field = Field(token.parts, place=self._place(token))
        operator = self._next
        if operator.word in OPERATORS:
            self._index += 1
            value = self._value()
            return Compare(field, operator.word, value, place=self._since(token.start))
        if self._accept("is"):
            negated = self._accept("not")
            self._expect("null", *(() if negated else ("`not`",)))
            return self._maybe(IsNull(field, place=self._since(token.start)), negated=negated)
        negated = self._accept("not")
        if not self._accept("in"):
            raise self._unexpected("`in`") if negated else self._unexpected("a comparison", "`in`", "`not in`", "`is`")
        values = self._list()
        return self._maybe(In(field, values, place=self._since(token.start)), negated=negated)

    @staticmethod
    def _maybe(test: In | IsNull, *, negated: bool) -> Filter:
        return Not(test, place=test.place) if negated else test

    def _list(self) -> tuple[Value, ...]:
        self._expect("[")
        values: list[Value] = []
        while not self._accept("]"):
            if values:
                self._expect(",", "`]`")
                if self._accept("]"):
                    break
            values.append(self._value(in_list=True))
        return tuple(values)

    def _value(self, *, in_list: bool = False) -> Value:
        token = self._next
        place = self._place(token)
        words: dict[str, bool | None] = {"true": True, "false": False, "null": None}
        if token.kind == "STRING":
            value: Value = FilterConstant(decoded(self._source, token), place=place)
        elif token.kind == "NUMBER":
            value = _amount(token, place)
        elif token.word in words:
            value = FilterConstant(words[token.word], place=place)
        else:
            raise self._unexpected("a value", *(("`]`",) if in_list else ()))
        self._index += 1
        return value

    def _since(self, start: int) -> Place:
        return Place(self._source, start, self._tokens[self._index - 1].stop)

    def _place(self, token: Token) -> Place:
        return Place(self._source, token.start, token.stop)

    def _unexpected(self, *expected: str) -> ParseError:
        from dctv.syntax.filter_errors import unexpected  # only wanted when something is wrong

        before = self._tokens[self._index - 1] if self._index else None
        return unexpected(self._source, before, self._next, expected)


_NUMBER = pattern(r"([+-]?(?:0[xX][0-9A-Fa-f_]+|[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?))(.*)", re.DOTALL)


def _amount(token: Token, place: Place) -> Amount:
    found = cast("re.Match[str]", _NUMBER.fullmatch(token.text))
    digits, unit = found[1].replace("_", ""), found[2]
    bare = digits.lstrip("+-")
    hexadecimal = bare[:2].lower() == "0x"
    exponent = "" if hexadecimal else bare.lower().partition("e")[2].lstrip("+-0")
    if len(digits) > MOST_DIGITS or len(exponent) > 3:
        raise ParseError("the number is too long or too large", place)
    value = Fraction(int(bare, 16)) if hexadecimal else Fraction(bare)
    name = unit[1:-1].replace("``", "`") if unit.startswith("`") else unit
    signed = -value if digits.startswith("-") else value
    return Amount(signed, bare.isdecimal() or hexadecimal, name or None, place=place)
