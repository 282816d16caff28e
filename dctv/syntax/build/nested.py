"""Forms of lists, structs and maps, and of access to their parts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from dctv.errors import ParseError, Place
from dctv.syntax import ast
from dctv.syntax.lexer import Raw


def list_(at: Place, *items: ast.Expr) -> ast.List:
    """Make a list."""
    return ast.List(items, place=at)


def empty_list(at: Place, _brackets: Raw) -> ast.List:
    """Make a list of nothing."""
    return ast.List((), place=at)


def struct(at: Place, *items: tuple[ast.Name, ast.Expr]) -> ast.Struct:
    """Make a struct."""
    seen: set[str] = set()
    for name, _ in items:
        if name.text.lower() in seen:
            raise ParseError(f"the member `{name.text}` is given twice", name.place)
        seen.add(name.text.lower())
    return ast.Struct(items, place=at)


def map_(at: Place, *items: tuple[ast.Expr, ast.Expr]) -> ast.Map:
    """Make a map."""
    return ast.Map(items, place=at)


def lambda_(at: Place, *parts: ast.Name | ast.Expr) -> ast.Lambda:
    """Make a lambda."""
    *parameters, body = parts
    return _lambda(at, cast("list[ast.Name]", parameters), cast("ast.Expr", body))


def _lambda(at: Place, parameters: Sequence[ast.Name], body: ast.Expr) -> ast.Lambda:
    seen: set[str] = set()
    for name in parameters:
        if name.text in seen:
            raise ParseError(f"the parameter `{name.text}` is given twice", name.place)
        seen.add(name.text)
    return ast.Lambda(tuple(parameters), body, place=at)


def arrow_lambda(at: Place, parameters: ast.Expr, _arrow: Raw, body: ast.Expr) -> ast.Lambda:
    """Make a lambda whose parameters were read as a column, or as a row of columns."""
    names: list[ast.Name] = []
    for one in parameters.items if isinstance(parameters, ast.Row) else (parameters,):
        if not isinstance(one, ast.Column) or len(one.path.parts) != 1:
            raise ParseError("a parameter of a lambda is a name", one.place)
        names.append(one.path.parts[0])
    return _lambda(at, names, body)


def comprehension(
    at: Place, value: ast.Expr, names: tuple[ast.Name, ...], source: ast.Expr, condition: ast.Expr | None = None
) -> ast.Call:
    """Make the calls that a list comprehension is short for; a second name is the position of the element."""

    def called(function: str, items: ast.Expr, body: ast.Expr, names: tuple[ast.Name, ...]) -> ast.Call:
        path = ast.Path((ast.Name(function, place=at),), place=at)
        return ast.Call(path, (items, _lambda(body.place or at, names, body)), place=at)

    if len(names) > 2:
        raise ParseError(f"a list comprehension has an element and its position, found {len(names)} names", at)
    if condition is None:
        return called("list_transform", source, value, names)
    if len(names) == 1:
        return called("list_transform", called("list_filter", source, condition, names), value, names)
    # Positions are those in the source, so values are made before any element is removed: only where they are kept.
    pair, kept, chosen = (ast.Name(f"dctv:{word}", place=at) for word in ("pair", "kept", "value"))
    made = ast.Case(None, ((condition, value),), None, place=value.place)
    pairs = called("list_transform", source, ast.Struct(((kept, condition), (chosen, made)), place=at), names)

    def member(name: ast.Name) -> ast.Expr:
        return ast.Member(ast.Column(ast.Path((pair,), place=at), place=at), name, place=at)

    return called("list_transform", called("list_filter", pairs, member(kept), (pair,)), member(chosen), (pair,))


def index(at: Place, operand: ast.Expr, key: ast.Expr) -> ast.Index:
    """Make the choice of an element."""
    return ast.Index(operand, key, place=at)


def slice_(
    at: Place, operand: ast.Expr, start: ast.Expr | None, stop: ast.Expr | None, step: ast.Expr | None = None
) -> ast.Slice:
    """Make the choice of some elements."""
    return ast.Slice(operand, start, stop, step, place=at)


def member(at: Place, operand: ast.Expr, name: ast.Name) -> ast.Member:
    """Make the choice of a member."""
    return ast.Member(operand, name, place=at)


FORMS: dict[str, Callable[..., object]] = {
    "list_literal": list_,
    "empty_list_literal": empty_list,
    "struct": struct,
    "map": map_,
    "lambda": lambda_,
    "arrow_lambda": arrow_lambda,
    "comprehension": comprehension,
    "index": index,
    "slice": slice_,
    "member": member,
}
