"""Parse the text of a unit (`kB*s`, `m/s²`, `60 * second`) into a number and names with powers."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction

from dctv.errors import UnitError
from dctv.patterns import pattern

MAX_LENGTH = 200
"""Longer texts are refused, which bounds nesting and powers."""
MAX_POWER = 64
"""Larger powers and roots are refused: their exact factors would grow without bound."""

Terms = dict[str, Fraction]
"""Powers by name, in the order written; powers may be 0."""

_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_SUPERSCRIPT_RUN = pattern("⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_TOKEN = pattern(r"\s*(?:(\d+(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)|([^\W\d]\w*)|(\*\*|[*/^()·-])|(\S))")
_NUMBER, _NAME, _OPERATOR, _OTHER = 1, 2, 3, 4


def read_terms(text: str) -> tuple[Fraction, Terms]:
    """Return the number in front and the names with their powers; raise UnitError if the text is not a product."""
    if len(text) > MAX_LENGTH:
        raise UnitError(f"a unit of {len(text)} characters is too long, at most {MAX_LENGTH} are read")
    reader = _Reader(text)
    number, terms = reader.product()
    if reader.lexeme:
        raise reader.unexpected()
    return number, terms


def check_power(power: Fraction) -> Fraction:
    """Return the power, or raise UnitError if it is too large to compute exactly."""
    if abs(power) > MAX_POWER or power.denominator > MAX_POWER:
        raise UnitError(f"a unit to the power {power} is beyond what dctv computes, at most {MAX_POWER}")
    return power


class _Reader:
    """Recursive descent over the tokens; `lexeme` is the one to be read next, empty at the end."""

    def __init__(self, text: str) -> None:
        self.text = text
        plain = _SUPERSCRIPT_RUN.sub(lambda run: "^" + run[0].translate(_SUPERSCRIPTS), text)
        self.tokens = _tokens(plain)
        self.kind = _OTHER
        self.lexeme = ""
        self.advance()

    def advance(self) -> str:
        """Step to the next token and return the one left behind."""
        left = self.lexeme
        self.kind, self.lexeme = next(self.tokens, (_OTHER, ""))
        return left

    def unexpected(self) -> UnitError:
        """Return the error for the token that does not fit."""
        found = f"`{self.lexeme}`" if self.lexeme else "its end"
        return UnitError(
            f"the unit `{self.text}` is not readable at {found}", hint="write units as in `kB*s` or `m/s^2`"
        )

    def product(self) -> tuple[Fraction, Terms]:
        """Read `a * b / c`, left to right."""
        number, terms = self.factor()
        while self.lexeme in {"*", "·", "/", "per"}:
            sign = 1 if self.advance() in {"*", "·"} else -1
            other, more = self.factor()
            if not other:
                raise self.unexpected()
            number *= other**sign
            for name, power in more.items():
                terms[name] = check_power(terms.get(name, Fraction(0)) + sign * power)
        return number, terms

    def factor(self) -> tuple[Fraction, Terms]:
        """Read a name, a number or a product in parentheses, each with an optional power."""
        number, terms = Fraction(1), Terms()
        if self.lexeme == "(":
            self.advance()
            number, terms = self.product()
            self.close()
        elif self.kind == _NAME:
            terms[self.advance()] = Fraction(1)
        elif self.kind == _NUMBER:
            number = Fraction(self.advance())
        else:
            raise self.unexpected()
        if self.lexeme not in {"^", "**"}:
            return number, terms
        self.advance()
        power = self.power()
        if number != 1:
            raise self.unexpected()
        return number, {name: check_power(own * power) for name, own in terms.items()}

    def power(self) -> Fraction:
        """Read `2`, `-1`, `(1/2)` or `0.5`."""
        bracket = self.lexeme == "("
        if bracket:
            self.advance()
        sign = 1
        if self.lexeme == "-":
            self.advance()
            sign = -1
        power = self.number()
        if bracket and self.lexeme == "/":
            self.advance()
            divisor = self.number()
            if not divisor:
                raise self.unexpected()
            power /= divisor
        if bracket:
            self.close()
        return check_power(sign * power)

    def number(self) -> Fraction:
        """Read a number without a sign."""
        if self.kind != _NUMBER:
            raise self.unexpected()
        return Fraction(self.advance())

    def close(self) -> None:
        """Read a closing parenthesis."""
        if self.lexeme != ")":
            raise self.unexpected()
        self.advance()


def _tokens(text: str) -> Iterator[tuple[int, str]]:
    for match in _TOKEN.finditer(text):
        assert match.lastindex is not None
        yield match.lastindex, match[match.lastindex]
