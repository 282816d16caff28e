"""Forms of lists, structs and maps, and of what takes parts out of them."""

from __future__ import annotations

from collections.abc import Callable

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
        if not name.text:
            raise ParseError("a member of a struct needs a name", name.place)
        if name.text.lower() in seen:
            raise ParseError(f"the member `{name.text}` is given twice", name.place)
        seen.add(name.text.lower())
    return ast.Struct(items, place=at)


def map_(at: Place, *items: tuple[ast.Expr, ast.Expr]) -> ast.Map:
    """Make a map."""
    return ast.Map(items, place=at)


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
    "index": index,
    "slice": slice_,
    "member": member,
}
