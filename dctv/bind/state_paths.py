"""Bind calls of state_path and state_names to expressions of the engine: names of attributes to paths, and back."""

from __future__ import annotations

from collections.abc import Sequence

from dctv.bind.bound import Bound
from dctv.bind.types import VARCHAR
from dctv.errors import BindError
from dctv.plan.build import call as called
from dctv.plan.expressions import Binary, Cast, Column, Expression, Lambda, Number, Text
from dctv.signatures.types import list_of
from dctv.syntax import ast

FUNCTIONS = PATH, NAMES = ("state_path", "state_names")
_ESCAPED, _NAME = r"([\\/])", r"(?s)/((?:\\.|\\$|[^\\/])*)"


def path_call(name: str, arguments: Sequence[Bound], call: ast.Call) -> Bound:
    """Write a call of one of the two.

    Raises:
        BindError: the number of arguments is wrong, or it is called as a window function or an aggregate.
    """
    place = call.place
    if call.over is not None or call.filter is not None:
        raise BindError(f"`{name}` is neither a window function nor an aggregate", place)
    if name == PATH:
        if not arguments:
            raise BindError(f"`{PATH}` takes the names of a path, found none", place)
        path, *others = [_replaced(_text(one.value), _ESCAPED, r"\\\1") for one in arguments]
        for text in others:
            path = Binary("||", Binary("||", path, Text("/")), text)
        is_typed = all(one.type is not None for one in arguments)
        return Bound(path, place=place, parts=tuple(arguments), type=VARCHAR if is_typed else None)
    if len(arguments) != 1:
        raise BindError(f"`{NAMES}` takes one path, found {len(arguments)}", place)
    whole = Binary("||", Text("/"), _text(arguments[0].value))
    written = called("regexp_extract_all", whole, Text(_NAME), Number("1"))
    plain = Lambda(("name",), _replaced(Column("name"), r"(?s)\\(.)", r"\1"))
    made = None if arguments[0].type is None else list_of(VARCHAR)
    return Bound(called("list_transform", written, plain), place=place, parts=tuple(arguments), type=made)


def _text(value: Expression) -> Expression:
    return Cast(value, "VARCHAR")


def _replaced(value: Expression, pattern: str, by: str) -> Expression:
    return called("regexp_replace", value, Text(pattern), Text(by), Text("g"))
