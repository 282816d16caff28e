"""Explain in plain words why a filter does not follow the grammar."""

from __future__ import annotations

from dctv.errors import DctvError, ParseError, Place, SourceText, nearest
from dctv.syntax.filter_lexer import KEYWORDS, Token
from dctv.types.units import parse_unit

_HINTS = {
    "=": "equality is written `==`",
    "<>": "inequality is written `!=`",
    "&&": "write `and`",
    "&": "write `and`",
    "||": "write `or`",
    "|": "write `or`",
    "!": "write `not`",
}
_COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def unexpected(source: SourceText, before: Token | None, token: Token, expected: tuple[str, ...]) -> ParseError:
    """Return the error of an unexpected token."""
    hint = _hint(before, token, expected)
    words = " or ".join(filter(None, [", ".join(expected[:-1]), expected[-1]]))
    if before is None and token.kind == "END":
        return ParseError(f"the filter is empty, expected {words}", Place(source, 0, 0), hint=hint)
    return ParseError(f"found {_found(token)}, expected {words}", Place(source, token.start, token.stop), hint=hint)


def _found(token: Token) -> str:
    if token.kind == "END":
        return "the end of the filter"
    text = token.text if len(token.text) <= 40 else f"{token.text[:37]}..."
    return f"`{text}`" if "`" not in text else text


def _hint(before: Token | None, token: Token, expected: tuple[str, ...]) -> str | None:
    if token.word in _HINTS:
        return _HINTS[token.word]
    if "a field" in expected:
        return _instead_of_field(token)
    if "a value" in expected:
        return _instead_of_value(before, token)
    if token.kind != "FIELD":
        return None
    keywords = [word for phrase in expected for word in phrase.strip("`").split() if word in KEYWORDS]
    if before is not None and before.kind == "NUMBER" and _is_unit(token.text):
        return f"a unit touches its number: `{before.text}{token.text}`"
    near = nearest(token.text, keywords)
    return f"did you mean `{near}`?" if near else None


def _is_unit(text: str) -> bool:
    try:
        parse_unit(text)
    except DctvError:
        return False
    return True


def _instead_of_field(token: Token) -> str | None:
    if token.kind in {"STRING", "NUMBER"}:
        return "the field stands on the left, as in `dur > 1000`"
    if token.kind == "WORD":
        return f"a field of that name needs backticks: `{token.text}`"
    return None


def _instead_of_value(before: Token | None, token: Token) -> str | None:
    if token.kind == "FIELD":
        return f'a text stands in quotes: "{token.text}"; fields are only compared with values'
    if token.word == "[" and before is not None and before.word in _COMPARISONS:
        return "membership in a list is written `in [...]`"
    return None
