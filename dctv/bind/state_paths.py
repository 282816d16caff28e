"""Calls of state_path and state_names to expressions of the engine: names of attributes to paths, and back."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dctv.bind.bound import Bound, operand
from dctv.bind.types import VARCHAR
from dctv.errors import BindError
from dctv.plan.sql import type_named
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
        texts = [_replaced(_text(one.sql), _ESCAPED, r"\\\1") for one in arguments]
        sql = texts[0]
        for text in texts[1:]:
            slash = exp.DPipe(this=sql, expression=exp.Literal.string("/"), safe=True)
            sql = exp.DPipe(this=slash, expression=text, safe=True)
        known = all(one.type is not None for one in arguments)
        return Bound(exp.Paren(this=sql), place=place, parts=tuple(arguments), type=VARCHAR if known else None)
    if len(arguments) != 1:
        raise BindError(f"`{NAMES}` takes one path, found {len(arguments)}", place)
    whole = exp.Paren(this=exp.DPipe(this=exp.Literal.string("/"), expression=_text(arguments[0].sql), safe=True))
    pattern, group = exp.Literal.string(_NAME), exp.Literal.number(1)
    written = exp.Anonymous(this="regexp_extract_all", expressions=[whole, pattern, group])
    one = exp.to_identifier("name")
    plain = _replaced(exp.Column(this=one.copy()), r"(?s)\\(.)", r"\1")
    listed = exp.Comprehension(this=plain, expression=one, iterator=written)
    made = None if arguments[0].type is None else list_of(VARCHAR)
    return Bound(exp.Array(expressions=[listed]), place=place, parts=tuple(arguments), type=made)


def _text(value: exp.Expr) -> exp.Expr:
    return exp.Cast(this=operand(value), to=type_named("VARCHAR"))


def _replaced(value: exp.Expr, pattern: str, by: str) -> exp.Expr:
    texts = [exp.Literal.string(one) for one in (pattern, by, "g")]
    return exp.Anonymous(this="regexp_replace", expressions=[value, *texts])
