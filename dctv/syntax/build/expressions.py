"""Forms of expressions."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, cast

from dctv.errors import ParseError, Place
from dctv.patterns import pattern
from dctv.record import replace
from dctv.syntax import ast
from dctv.syntax.build import worded
from dctv.syntax.build.arguments import Arguments, KeywordArgument
from dctv.syntax.build.compared import as_row
from dctv.syntax.build.names import one, unescaped, unquote
from dctv.syntax.lexer import Raw
from dctv.syntax.logical import logical

_NUMBER = pattern(r"(0[xX][0-9A-Fa-f_]+|[0-9_]*\.?[0-9_]*(?:[eE][+-]?[0-9]+(?:_[0-9]+)*)?)(.*)", re.DOTALL)
_MOST_DIGITS = 400
_LONGEST = 100_000
"""The most elements that an array of a fixed length has."""
_FOLDED = {"==": "=", "<>": "!="}


def number(at: Place, token: Raw) -> ast.Number:
    """Make a number with an optional unit."""
    found = cast("re.Match[str]", _NUMBER.fullmatch(token.text))
    digits, unit = found.group(1).replace("_", ""), found.group(2)
    exponent = "" if digits[:2].lower() == "0x" else digits.lower().partition("e")[2].lstrip("+-0")
    if len(digits) > _MOST_DIGITS or len(exponent) > 3:
        raise ParseError("the number is too long or too large", at)
    return ast.Number(digits, unquote(unit) if unit.startswith("`") else unit or None, place=at)


def string(at: Place, token: Raw) -> ast.String:
    """Make a string."""
    return ast.String(unquote(token.text), place=at)


def escaped_string(at: Place, token: Raw) -> ast.String:
    """Make a string in which backslashes mean something."""
    return ast.String(unescaped(unquote(token.text[1:]), at), place=at)


def dollar_string(at: Place, token: Raw) -> ast.String:
    """Make a string between dollar signs, in which everything is as it is written."""
    opening = token.text.index("$", 1) + 1
    return ast.String(token.text[opening:-opening], place=at)


def hex_bytes(at: Place, token: Raw) -> ast.Cast:
    """Make bytes from their hexadecimal digits."""
    digits = unquote(token.text[1:])
    text = "".join(f"\\x{digits[i : i + 2]}" for i in range(0, len(digits), 2))
    return ast.Cast(ast.String(text, place=at), ast.TypeName("BLOB", place=at), place=at)


def bind(at: Place, token: Raw) -> ast.Bind:
    """Make a bind parameter; numbers with a dollar sign count from 1, and keep it."""
    key = token.text[1:]
    if not key.isdecimal():
        return ast.Bind(key, place=at)
    if len(key) > 6:
        raise ParseError("the number of the parameter is too large", at)
    return ast.Bind(f"${int(key)}" if token.text.startswith("$") else int(key), place=at)


def power(at: Place, base: ast.Expr, exponent: ast.Expr) -> ast.Call:
    """Make a power."""
    return ast.Call(ast.Path((ast.Name("pow", place=at),), place=at), (base, exponent), place=at)


def null(at: Place) -> ast.Constant:
    """Make NULL."""
    return ast.Constant(None, place=at)


def true(at: Place) -> ast.Constant:
    """Make TRUE."""
    return ast.Constant(value=True, place=at)


def false(at: Place) -> ast.Constant:
    """Make FALSE."""
    return ast.Constant(value=False, place=at)


def column(at: Place, path: ast.Path) -> ast.Column:
    """Make a column."""
    return ast.Column(path, place=at)


def unary(at: Place, op: str, operand: ast.Expr) -> ast.Unary:
    """Make a prefix operator."""
    return ast.Unary(cast("ast.UnaryOp", op), operand, place=at)


def binary(at: Place, left: ast.Expr, op: str, right: ast.Expr) -> ast.Binary:
    """Make an infix operator."""
    return ast.Binary(cast("ast.BinaryOp", _FOLDED.get(op, op)), left, right, place=at)


def all_hold(at: Place, *tests: ast.Expr) -> ast.Expr:
    """Make a chain of ANDs."""
    return logical("AND", tests, at)


def some_hold(at: Place, *tests: ast.Expr) -> ast.Expr:
    """Make a chain of ORs."""
    return logical("OR", tests, at)


def is_value(at: Place, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    """Make null-safe equality; with TRUE or FALSE it is a test of a condition."""
    if isinstance(right, ast.Constant) and right.value is not None:
        return ast.Truth(left, right.value, place=at)
    return same(at, left, _known(right))


def is_no_value(at: Place, left: ast.Expr, right: ast.Expr) -> ast.Expr:
    """Make null-safe inequality; with TRUE or FALSE it is a test of a condition."""
    if isinstance(right, ast.Constant) and right.value is not None:
        return ast.Truth(left, right.value, negated=True, place=at)
    return not_same(at, left, _known(right))


def _known(value: ast.Expr) -> ast.Expr:
    """Return the operand of IS, where UNKNOWN means NULL."""
    unknown = isinstance(value, ast.Column) and value.path.text.upper() == "UNKNOWN" and not value.path.parts[0].quoted
    return ast.Constant(None, place=value.place) if unknown else value


def same(at: Place, left: ast.Expr, right: ast.Expr) -> ast.Binary:
    """Make null-safe equality from words."""
    return ast.Binary("<=>", left, right, place=at)


def not_same(at: Place, left: ast.Expr, right: ast.Expr) -> ast.Binary:
    """Make null-safe inequality from words."""
    return ast.Binary("<!=>", left, right, place=at)


def null_test(at: Place, operand: ast.Expr, op: str) -> ast.Binary:
    """Make the test for NULL of one or two words behind a value."""
    return (same if op == "ISNULL" else not_same)(at, operand, ast.Constant(None, place=at))


def like(at: Place, operand: ast.Expr, op: str, pattern: ast.Expr, escape: ast.Expr | None = None) -> ast.Like:
    """Make a comparison with a pattern."""
    name = cast("ast.LikeOp", op.removeprefix("NOT "))
    return ast.Like(name, operand, pattern, escape, op.startswith("NOT "), place=at)


def between(at: Place, operand: ast.Expr, negated: bool, low: ast.Expr, high: ast.Expr) -> ast.Between:
    """Make a test for a range."""
    return ast.Between(operand, low, high, negated, place=at)


def in_list(at: Place, operand: ast.Expr, negated: bool, items: tuple[ast.Expr, ...]) -> ast.InList:
    """Make a test for some values."""
    return ast.InList(operand, items, negated, place=at)


def in_value(at: Place, operand: ast.Expr, negated: bool, items: ast.Expr) -> ast.Expr:
    """Make a test for the elements of a list."""
    function = ast.Path((ast.Name("contains", place=at),), place=at)
    found = ast.Call(function, (items, operand), place=at)
    return ast.Unary("NOT", found, place=at) if negated else found


def in_select(at: Place, operand: ast.Expr, negated: bool, select: ast.Select) -> ast.InSelect:
    """Make a test for the rows of a select."""
    return ast.InSelect(as_row(operand), select, negated, place=at)


def in_unit(at: Place, operand: ast.Expr, unit: ast.Name) -> ast.InUnit:
    """Make a conversion to a unit."""
    return ast.InUnit(operand, unit.text, unit.place, place=at)


def cast_(at: Place, operand: ast.Expr, type_name: ast.TypeName) -> ast.Cast:
    """Make a conversion to a type."""
    return ast.Cast(operand, type_name, place=at)


def try_cast(at: Place, operand: ast.Expr, type_name: ast.TypeName) -> ast.Cast:
    """Make a conversion to a type that yields NULL where it fails."""
    return ast.Cast(operand, type_name, lenient=True, place=at)


def at_time_zone(at: Place, time: ast.Expr, _word: Raw, zone: ast.Expr) -> ast.Call:
    """Make the call of the function that AT TIME ZONE stands for."""
    return ast.Call(ast.Path((ast.Name("timezone", place=at),), place=at), (zone, time), place=at)


def collate(at: Place, operand: ast.Expr, collation: ast.Path) -> ast.Collate:
    """Make a text that is compared by a collation."""
    return ast.Collate(operand, collation, place=at)


def array_type(at: Place, element: ast.TypeName, _bracket: Raw, length: Raw) -> ast.TypeName:
    """Make the name of an array's type, which has a length."""
    if not length.text.isdecimal() or not 0 < int(length.text) <= _LONGEST:
        raise ParseError(f"found `{length.text}`, expected the length of an array, from 1 to {_LONGEST}", at)
    return replace(element, dimensions=(*element.dimensions, int(length.text)), place=at)


def union_type(at: Place, *members: tuple[ast.Name, ast.TypeName]) -> ast.TypeName:
    """Make the name of a union's type."""
    return ast.TypeName("UNION", members=members, place=at)


def enum_type(at: Place, *labels: Raw) -> ast.TypeName:
    """Make the name of a type of listed values."""
    return ast.TypeName("ENUM", labels=tuple(unquote(one.text) for one in labels), place=at)


def type_name(at: Place, words: str, arguments: tuple[Raw, ...] | None) -> ast.TypeName:
    """Make the name of a type."""
    for token in arguments or ():
        if not token.text.isdecimal() or len(token.text) > 6:
            place = Place(at.source, token.start, token.stop)
            raise ParseError(f"found `{token.text}`, expected a whole number as argument of a type", place)
    return ast.TypeName(words, tuple(int(token.text) for token in arguments or ()), place=at)


def list_type(at: Place, element: ast.TypeName, _brackets: Raw | None = None) -> ast.TypeName:
    """Make the name of a list's type."""
    return replace(element, dimensions=(*element.dimensions, None), place=at)


def struct_type(at: Place, _word: None, *members: tuple[ast.Name, ast.TypeName]) -> ast.TypeName:
    """Make the name of a struct's type."""
    return ast.TypeName("STRUCT", members=members, place=at)


def map_type(at: Place, key: ast.TypeName, value: ast.TypeName) -> ast.TypeName:
    """Make the name of a map's type."""
    return ast.TypeName("MAP", members=((None, key), (None, value)), place=at)


def chained_call(at: Place, operand: ast.Expr, name: ast.Name, arguments: Arguments) -> ast.Call | ast.Columns:
    """Make a call whose first argument precedes the function."""
    first = Arguments(arguments.distinct, (operand, *arguments.items), arguments.order_by, arguments.nulls)
    return call(at, (ast.Path((name,), place=name.place), first), None, "", None)


def case(at: Place, *parts: object) -> ast.Case:
    """Make a choice by conditions."""
    *operand, branches, otherwise = parts
    return ast.Case(
        cast("ast.Expr", operand[0]) if operand else None,
        cast("tuple[tuple[ast.Expr, ast.Expr], ...]", branches),
        cast("ast.Expr | None", otherwise),
        place=at,
    )


def exists(at: Place, select: ast.Select) -> ast.Exists:
    """Make a test for any row."""
    return ast.Exists(select, place=at)


def row(at: Place, first: ast.Expr, others: tuple[ast.Expr, ...] = ()) -> ast.Row:
    """Make a row of values."""
    return ast.Row((first, *others), place=at)


def scalar_select(at: Place, select: ast.Select) -> ast.ScalarSelect:
    """Make a value from a subquery."""
    return ast.ScalarSelect(select, place=at)


def keyword(at: Place, name: ast.Name, value: ast.Expr) -> KeywordArgument:
    """Make a named argument."""
    return KeywordArgument(name, value, place=at)


def no_arguments(_at: Place) -> Arguments:
    """Make the arguments of a call without any."""
    return Arguments()


def spread(at: Place, call: ast.Expr) -> ast.Columns:
    """Make several arguments of the columns of `*COLUMNS(...)`."""
    if not isinstance(call, ast.Columns):
        raise ParseError("`*` before an argument is for COLUMNS(...)", at)
    return replace(call, spread=True, place=at)


def call_arguments(_at: Place, distinct: bool, *parts: object) -> Arguments:
    """Make the arguments of a call."""
    *items, order_by, nulls = parts
    order = cast("tuple[ast.OrderTerm, ...]", order_by or ())
    return Arguments(distinct, cast("tuple[ast.Expr | KeywordArgument, ...]", tuple(items)), order, cast("str", nulls))


def called(_at: Place, path: ast.Path, arguments: Arguments) -> tuple[ast.Path, Arguments]:
    """Make a function and what is between its parentheses."""
    return path, arguments


def call(
    at: Place,
    called: tuple[ast.Path, Arguments],
    condition: ast.Expr | None,
    nulls: str,
    over: ast.Window | ast.Name | Literal[True] | None,
) -> ast.Call | ast.Columns:
    """Make a call of a function, or COLUMNS."""
    path, arguments = worded.plain(at, *called)
    name = path.parts[-1]
    if name.text.lower() == "columns" and not name.quoted and len(arguments.items) == 1:
        qualifier = ast.Path(path.parts[:-1], place=path.place) if len(path.parts) > 1 else None
        return ast.Columns(cast("ast.Expr", arguments.items[0]), qualifier, place=at)
    plain: list[ast.Expr] = []
    keywords: list[tuple[ast.Name, ast.Expr]] = []
    for item in arguments.items:
        if isinstance(item, KeywordArgument):
            keywords.append((item.name, item.value))
        elif keywords:
            last = keywords[-1][0].text
            raise ParseError(f"an argument without a name follows the named one `{last}`", item.place)
        else:
            plain.append(item)
    if nulls and arguments.nulls:
        raise ParseError(f"`{nulls}` is given twice", at)
    return ast.Call(
        path,
        tuple(plain),
        tuple(keywords),
        arguments.distinct,
        arguments.order_by,
        condition,
        cast("Literal['IGNORE', 'RESPECT'] | None", (nulls or arguments.nulls).removesuffix(" NULLS") or None),
        None if over is True else over,
        over is True,
        place=at,
    )


def window(
    at: Place,
    base: ast.Name | None,
    partition_by: tuple[ast.Expr, ...] | None,
    order_by: tuple[ast.OrderTerm, ...] | None,
    frame: ast.Frame | None,
) -> ast.Window:
    """Make the definition of a window."""
    return ast.Window(base, partition_by or (), order_by or (), frame, place=at)


def frame(at: Place, unit: str, start: ast.Bound, *parts: object) -> ast.Frame:
    """Make the frame of a window."""
    *stop, out = parts
    exclude = cast("str", out).removeprefix("EXCLUDE ")
    return ast.Frame(
        cast("Literal['ROWS', 'RANGE', 'GROUPS']", unit),
        start,
        cast("ast.Bound", stop[0]) if stop else None,
        cast("Literal['CURRENT ROW', 'GROUP', 'TIES'] | None", None if exclude in ("", "NO OTHERS") else exclude),
        place=at,
    )


def bound(at: Place, *parts: object) -> ast.Bound:
    """Make one end of a frame."""
    *offset, kind = parts
    return ast.Bound(cast("BoundKind", kind), cast("ast.Expr", offset[0]) if offset else None, place=at)


BoundKind = Literal["UNBOUNDED PRECEDING", "UNBOUNDED FOLLOWING", "CURRENT ROW", "PRECEDING", "FOLLOWING"]

FORMS: dict[str, Callable[..., object]] = {
    "lone_expression": one,
    "number": number,
    "string": string,
    "escaped_string": escaped_string,
    "dollar_string": dollar_string,
    "power": power,
    "bind": bind,
    "null": null,
    "true": true,
    "false": false,
    "column": column,
    "unary": unary,
    "binary": binary,
    "all_hold": all_hold,
    "some_hold": some_hold,
    "same": same,
    "is_value": is_value,
    "is_no_value": is_no_value,
    "not_same": not_same,
    "null_test": null_test,
    "like": like,
    "between": between,
    "in_list": in_list,
    "in_value": in_value,
    "in_select": in_select,
    "in_unit": in_unit,
    "cast": cast_,
    "try_cast": try_cast,
    "type_name": type_name,
    "struct_type": struct_type,
    "map_type": map_type,
    "chained_call": chained_call,
    "list_type": list_type,
    "array_type": array_type,
    "union_type": union_type,
    "enum_type": enum_type,
    "collate": collate,
    "at_time_zone": at_time_zone,
    "hex_bytes": hex_bytes,
    "case": case,
    "exists": exists,
    "row": row,
    "scalar_select": scalar_select,
    "keyword": keyword,
    "no_arguments": no_arguments,
    "spread": spread,
    "call_arguments": call_arguments,
    "called": called,
    "call": call,
    "window": window,
    "frame": frame,
    "bound": bound,
}
