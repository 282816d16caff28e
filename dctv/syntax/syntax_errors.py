"""Explain in plain words why a text does not follow the grammar."""

from __future__ import annotations

from dctv.errors import ParseError, Place, SourceText, nearest
from dctv.patterns import pattern
from dctv.syntax.dialect_hints import hint_of
from dctv.syntax.expected import expectation, keywords
from dctv.syntax.keywords import RESERVED
from dctv.syntax.lexer import BROKEN, Raw
from dctv.syntax.parser import END, MAX_DEPTH, Parser, TooDeep

_IMMUTABLE = frozenset({"INSERT", "UPDATE", "DELETE", "ALTER", "TRUNCATE", "MERGE", "REPLACE"})
_KINDS = frozenset({"SPAN", "EVENT"})
_STATEMENTS = frozenset(
    {
        "ASSERT",
        "ATTACH",
        "COPY",
        "CREATE",
        "DESCRIBE",
        "DROP",
        "EXPECT",
        "EXPLAIN",
        "MOUNT",
        "SELECT",
        "SET",
        "SHOW",
        "SUMMARIZE",
    }
)
_UNIT = pattern(
    r"([numkKMGTP]|µ|μ|Ki|Mi|Gi|Ti)?(s|B|b|Hz|m|bytes?|bits?)|secs?|seconds?|mins?|minutes?|hours?|h|days?|percent|cycles?"
    r"|(nano|micro|milli)seconds?|(kilo|mega|giga)(bytes?|hertz)|cm|in|inch(es)?|events?"
)


def complain(source: SourceText, start: str, index: int) -> ParseError:
    """Return the error of the token at an index, which the grammar does not allow there."""
    parser = _parsed(source, start, index)
    token = parser.tokens[index]
    place = _place(source, parser, index)
    if token.kind in (BROKEN, ":"):
        return _broken(token, place)
    return (
        _immutable(parser, index, place)
        or _missing_unit(parser, index, place)
        or _misspelt(source, start, parser, index)
        or _missing_semicolon(source, parser, index)
        or _unexpected(parser, index, place)
    )


def too_deep(source: SourceText, error: TooDeep) -> ParseError:
    """Return the error of a text that nests too deeply."""
    place = Place(source, error.start, min(error.stop, error.start + 40))
    return ParseError(f"nested more than {MAX_DEPTH} levels deep", place)


def _parsed(source: SourceText, start: str, count: int) -> Parser:
    """Return a parser that has taken the first tokens of a text."""
    parser = Parser(source.text, start, lambda _name, _parts, _start, _stop: None)
    for index in range(count):
        parser.advance(index)
    return parser


def _place(source: SourceText, parser: Parser, index: int) -> Place:
    """Return a token's place; the end of a text is right after its last token."""
    token = parser.tokens[index]
    if token.kind == END and index:
        end = parser.tokens[index - 1].stop
        return Place(source, end, end)
    return Place(source, token.start, token.stop)


def _found(token: Raw) -> str:
    if token.kind == END:
        return "the end of the text"
    text = token.text if len(token.text) <= 40 else f"{token.text[:37]}..."
    return f"`{text}`" if "`" not in text else text


def _broken(token: Raw, place: Place) -> ParseError:
    opening = token.text[:1]
    if token.text.startswith("/*"):
        return ParseError(
            "the comment that opens here is not closed", Place(place.source, place.start, place.start + 2)
        )
    if opening in {"'", '"', "`"} or token.text[1:2] == "'":
        what = "string" if "'" in token.text[:2] else "quoted name"
        mark = "'" if what == "string" else opening
        return ParseError(
            f"the {what} that opens here is not closed",
            Place(place.source, place.start, place.start + 1),
            hint=f"it ends with {mark}; one inside of it is doubled: {mark}{mark}",
        )
    if opening.isdigit() or opening == ".":
        return ParseError(f"malformed number `{token.text}`", place)
    return ParseError(f"found the character {_character(token.text)}, which means nothing here", place)


def _character(text: str) -> str:
    return f"`{text}`" if text.isprintable() else f"U+{ord(text):04X}"


def _immutable(parser: Parser, index: int, place: Place) -> ParseError | None:
    """Return the error of a statement that would change data."""
    words = [t.text.upper() for t in parser.tokens[: index + 1]]
    begin = max((i + 1 for i in range(index) if parser.tokens[i].kind == ";"), default=0)
    statement = words[begin:]
    place = Place(place.source, parser.tokens[begin].start, place.stop)
    if len(statement) == 1 and statement[0] in _IMMUTABLE:
        return ParseError(f"dctv is immutable, there is no `{statement[0]}`", place)
    if statement[0] == "CREATE" and "TABLE" in statement[:4] and "AS" not in statement and "(" in statement:
        hint = "`CREATE TABLE name AS SELECT ...` keeps them; `CREATE TABLE name AS VALUES (1, 'a')` lists them"
        return ParseError("CREATE TABLE needs a select", place, hint=hint)
    if statement[0] == "COPY" and statement[-1] == "FROM":
        hint = "`MOUNT TRACE 'file' AS name` reads a file"
        return ParseError("dctv is immutable, there is no `COPY FROM`", place, hint=hint)
    return None


def _missing_unit(parser: Parser, index: int, place: Place) -> ParseError | None:
    """Return the error of a unit after a blank, which was read as an alias or not at all."""
    for at in (index, index - 1):
        if at < 1 or parser.tokens[at - 1].kind != "NUMBER":
            continue
        number, word = parser.tokens[at - 1], parser.tokens[at]
        if word.kind == "BACKTICKED" or (word.kind == "NAME" and _UNIT.fullmatch(word.text)):
            message = f"found {_found(parser.tokens[index])}, expected {expectation(parser)}"
            example = f"{number.text}{word.text}"
            hint = (
                f"a unit touches its number: {example}" if "`" in example else f"a unit touches its number: `{example}`"
            )
            return ParseError(message, place, hint=hint)
    return None


def _misspelt(source: SourceText, start: str, parser: Parser, index: int) -> ParseError | None:
    """Return the error of a misspelt keyword that would be valid in its place."""
    for at in (index - 1, index):
        if at < 0 or parser.tokens[at].kind != "NAME" or len(parser.tokens[at].text) < 3:
            continue
        word = parser.tokens[at].text
        allowed = keywords(parser if at == index else _parsed(source, start, at))
        if word.upper() in parser.table.keywords:
            continue
        keyword = nearest(word, [k for k in allowed if len(k) > 2])
        if keyword is not None:
            place = _place(source, parser, at)
            return ParseError(
                f"found `{word}`, expected {expectation(parser)}" if at == index else f"`{word}` is not a keyword",
                place,
                hint=f"did you mean `{keyword}`?",
            )
    return None


def _missing_semicolon(source: SourceText, parser: Parser, index: int) -> ParseError | None:
    """Return the error of a statement that begins without an end of the one before."""
    for at in (index - 1, index):
        if at < 1 or parser.tokens[at].text.upper() not in _STATEMENTS or parser.tokens[at].kind != "NAME":
            continue
        if parser.tokens[at - 1].kind == ";":
            continue
        if at < index and parser.tokens[at].text.upper() in RESERVED:
            continue
        if at == index and not parser.accepts(END):
            continue
        return ParseError(f"found `{parser.tokens[at].text}`, expected `;` before it", _place(source, parser, at))
    return None


def _unexpected(parser: Parser, index: int, place: Place) -> ParseError:
    """Return the error of a token for which there is no better explanation."""
    token, expected = parser.tokens[index], expectation(parser)
    before = parser.tokens[index - 1].text if index else ""
    hint = hint_of(parser.tokens, index)
    is_name = token.kind == "NAME" and expected in ("a name", "a name or `IF`")
    is_value = token.text.upper() in _KINDS and expected.startswith(("an expression", "a result column"))
    if hint is None and (is_name or is_value):
        hint = f"`{token.text}` is a reserved word, as a name it needs backticks"
    elif hint is None and before.upper() in _KINDS and token.kind in {",", ".", ")", "="}:
        hint = f"`{before}` is a reserved word, as a name it needs backticks"
    return ParseError(f"found {_found(token)}, expected {expected}", place, hint=hint)
