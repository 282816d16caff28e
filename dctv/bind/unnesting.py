"""`unnest` alone in a select list -> the columns that it makes of the members of structs."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dctv.bind.bound import Bound
from dctv.bind.context import Context
from dctv.bind.members import is_struct, members_of
from dctv.errors import BindError
from dctv.plan.build import call
from dctv.plan.expressions import Expression
from dctv.signatures.types import Type
from dctv.syntax import ast

Bind = Callable[[ast.Expr, Context], Bound]
_OPTIONS = ("recursive", "keep_parent_names")


def is_unnest(expr: ast.Expr) -> bool:
    """Whether an expression is a call of `unnest` with one value."""
    return isinstance(expr, ast.Call) and expr.function.text.lower() == "unnest" and len(expr.arguments) == 1


def unnested(expr: ast.Expr, context: Context, bind: Bind) -> list[tuple[str, Bound]] | None:
    """Return the columns that `unnest` makes of structs, with their names; None where it makes one of its own name.

    Raises:
        BindError: it is to unnest what is within others, and their types are not known.
    """
    if not isinstance(expr, ast.Call) or not is_unnest(expr):
        return None
    options = {name.text.lower(): _truth(name, value) for name, value in expr.keywords}
    bound = bind(expr.arguments[0], context)
    if not options.get("recursive"):
        if not is_struct(bound.type):
            return None
        return [
            (name, Bound(value, place=expr.place, parts=(bound,), type=made))
            for name, value, made in members_of(bound.value, bound.type)
        ]
    value, made = bound.value, bound.type
    while made is not None and made.name in ("LIST", "ARRAY") and made.children[0].name in ("LIST", "ARRAY"):
        value, made = call("flatten", value), made.children[0]
    if made is not None and made.name in ("LIST", "ARRAY"):
        value, made = call("unnest", value), made.children[0]
    if made is None:
        raise BindError("`unnest` needs to know the type of what it unnests to the end", expr.place, hint="cast it")
    if not is_struct(made):
        return [("", Bound(value, place=expr.place, parts=(bound,)))]
    prefixed = bool(options.get("keep_parent_names"))
    return [(name, Bound(one, place=expr.place, parts=(bound,))) for name, one in _leaves(value, made, "", prefixed)]


def _leaves(value: Expression, made: Type, prefix: str, prefixed: bool) -> Iterator[tuple[str, Expression]]:  # noqa: FBT001
    for name, member, kind in members_of(value, made):
        full = f"{prefix}{name}" if prefixed else name
        if is_struct(kind):
            yield from _leaves(member, kind, f"{full}.", prefixed)
        else:
            yield full, member


def _truth(name: ast.Name, value: ast.Expr) -> bool:
    if name.text.lower() not in _OPTIONS:
        raise BindError(f"`unnest` has no argument `{name.text}`", name.place, hint=f"it has {' and '.join(_OPTIONS)}")
    if not isinstance(value, ast.Constant) or value.value is None:
        raise BindError(f"`{name.text}` is TRUE or FALSE", value.place)
    return value.value


def refuse_options(expr: ast.Call) -> None:
    """Refuse `recursive` where `unnest` is only a part of an expression."""
    if expr.keywords:
        hint = "there it may make several columns; give the others in a select around it"
        raise BindError(f"`{expr.keywords[0][0].text}` is for `unnest` alone in a select list", expr.place, hint=hint)
