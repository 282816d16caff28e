"""Expand `unnest` alone in a select list to the columns that it makes of the members of structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.bind.members import is_struct, members_of, shown
from dctv.errors import BindError
from dctv.plan.build import call
from dctv.plan.expressions import Expression
from dctv.signatures.types import Type
from dctv.syntax import ast
from dctv.syntax.node import nodes

Bind = Callable[[ast.Expr, ClauseContext], Bound]
_OPTIONS = ("recursive", "keep_parent_names", "max_depth")
_MOST_DEPTH = 100
_LISTS = ("LIST", "ARRAY")
_CLAUSES = ("the select list", "GROUP BY", "ORDER BY")


def is_unnest(expr: ast.Expr) -> bool:
    """Whether an expression is a call of `unnest` with one value."""
    return isinstance(expr, ast.Call) and expr.function.text.lower() == "unnest" and len(expr.arguments) == 1


def takes_unnest(context: ClauseContext) -> bool:
    """Whether the engine accepts `unnest` here; elsewhere the engine itself reports the error."""
    return context.clause in _CLAUSES and not context.inside_aggregate


def unnested(expr: ast.Expr, context: ClauseContext, bind: Bind) -> list[tuple[str, Bound]] | None:
    """Return the columns that `unnest` makes of structs, with their names; an empty name is that of the expression.

    None: it makes one column as any function does.

    Raises:
        BindError: it is to unnest what is within others, and their types are not known.
    """
    if not isinstance(expr, ast.Call) or not is_unnest(expr):
        return None
    options = {name.text.lower(): _option(name, value) for name, value in expr.keywords}
    bound = bind(expr.arguments[0], context)
    depth = _MOST_DEPTH if options.get("recursive") else options.get("max_depth", 1)
    if depth == 1 and not expr.keywords and not is_struct(bound.type):
        return None
    value, made, levels = _taken_apart(bound, depth, expr)
    if not is_struct(made) or levels == depth:
        return [("", Bound(value, place=expr.place, parts=(bound,), type=made))]
    prefixed = bool(options.get("keep_parent_names"))
    return [
        (name, Bound(one, place=expr.place, parts=(bound,), type=kind))
        for name, one, kind in _leaves(value, made, "", depth - levels, prefixed=prefixed)
    ]


def refuse_others(columns: Sequence[ast.ResultColumn]) -> None:
    """Refuse a recursive `unnest` beside others, which the engine restarts for each nested list."""
    calls = [
        one
        for one in nodes(columns, without=(ast.Path,))
        if isinstance(one, ast.Call) and one.function.text.lower() == "unnest"
    ]
    if len(calls) > 1 and any(one.keywords for one in calls):
        raise BindError(
            "a recursive `unnest` cannot be combined with another `unnest`",
            calls[0].place,
            hint="use a subquery for it",
        )


def _taken_apart(bound: Bound, depth: int, expr: ast.Call) -> tuple[Expression, Type, int]:
    """Return the elements of lists, and of lists within them down to a depth; also how many levels these are."""
    value, made, taken = bound.value, bound.type, 0
    if made is not None and made.name not in _LISTS and not is_struct(made):
        raise BindError(f"`unnest` takes a list or a struct, found {shown(made)}", expr.arguments[0].place)
    if made is not None and made.name in _LISTS:
        while taken + 1 < depth and made.children[0].name in _LISTS:
            value, made, taken = call("flatten", value), made.children[0], taken + 1
        value, made, taken = call("unnest", value), made.children[0], taken + 1
    if made is None:
        raise BindError("`unnest` needs a list of a known type here", expr.place, hint="cast it, such as x::INT64[][]")
    return value, made, taken


def _leaves(
    value: Expression, made: Type, prefix: str, depth: int, *, prefixed: bool
) -> Iterator[tuple[str, Expression, Type]]:
    """Yield the members of a struct, and of structs within it down to a depth."""
    for name, member, kind in members_of(value, made):
        full = f"{prefix}{name}" if prefixed else name
        if is_struct(kind) and depth > 1:
            yield from _leaves(member, kind, f"{full}.", depth - 1, prefixed=prefixed)
        else:
            yield full, member, kind


def _option(name: ast.Name, value: ast.Expr) -> int:
    option = name.text.lower()
    if option not in _OPTIONS:
        raise BindError(f"`unnest` has no argument `{name.text}`", name.place, hint=f"it has {', '.join(_OPTIONS)}")
    if option == "max_depth":
        if not isinstance(value, ast.Number) or not value.is_integer or not 1 <= value.value <= _MOST_DEPTH:
            raise BindError(f"`{name.text}` is a whole number from 1 to {_MOST_DEPTH}", value.place or name.place)
        return int(value.value)
    if not isinstance(value, ast.Constant) or value.value is None:
        raise BindError(f"`{name.text}` is TRUE or FALSE", value.place)
    return value.value


def refuse_part(expr: ast.Call, arguments: Sequence[Bound]) -> None:
    """Refuse `recursive`, and structs, where `unnest` is only a part of an expression."""
    if expr.keywords:
        hint = "there it may make several columns; give the others in a select around it"
        raise BindError(f"`{expr.keywords[0][0].text}` is for `unnest` alone in a select list", expr.place, hint=hint)
    if is_struct(arguments[0].type if arguments else None):
        raise BindError(
            "`unnest` of a struct must be a whole column of a select list, without a name",
            expr.place,
            hint="`x.name` takes one member of the struct x",
        )
