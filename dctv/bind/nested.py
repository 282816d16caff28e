"""Bind lists, structs and maps, and access to their parts; a list has the unit of its elements."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from dctv.bind.alike import alike
from dctv.bind.asked_types import typed_beside_units
from dctv.bind.bound import Bound, constant, need_bare
from dctv.bind.context import ClauseContext
from dctv.bind.members import is_json, member_of, shown
from dctv.bind.scope import family_of
from dctv.bind.types import of_call, settled
from dctv.errors import BindError
from dctv.patterns import pattern
from dctv.plan.build import call
from dctv.plan.expressions import List, Row, Struct, Text
from dctv.signatures.structs import struct_type
from dctv.signatures.types import Type, list_of, plain
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT, Unit

Bind = Callable[[ast.Expr, ClauseContext], Bound]

_SURE_PATH = pattern(r"\$(\.\w+|\[\d+\])*|(/[^/~*]+)+")
"""Paths that the engine surely reads."""
_POSITIONAL = ("LIST", "ARRAY", "VARCHAR")
_SLICED = ("", *_POSITIONAL, "BLOB", '"NULL"')
"""Types whose elements are counted from 1."""


def list_(expr: ast.List, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `[a, b]`."""
    return _list(expr.items, "a list", expr, context, bind)


def _list(items: Sequence[ast.Expr], what: str, expr: ast.Expr, context: ClauseContext, bind: Bind) -> Bound:
    parts = alike(typed_beside_units([bind(item, context) for item in items], context), what)
    made = of_call("list_value", [one.type for one in parts]) if parts else list_of(plain('"NULL"'))
    return Bound(List(tuple(one.value for one in parts)), _unit(parts), expr.place, parts=tuple(parts), type=made)


def _unit(parts: Sequence[Bound]) -> Unit:
    return next((one.unit for one in parts if one.unit != NO_UNIT), NO_UNIT)


def struct(expr: ast.Struct, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `{'name': a}`."""
    names = [name.text for name, _ in expr.items]
    parts = [bind(value, context) for _, value in expr.items]
    for part in parts:
        need_bare(part, "a member of a struct")
    types = [one.type for one in parts if one.type is not None]
    made = struct_type(names, types) if len(types) == len(parts) else None
    written = Struct(tuple(names), tuple(one.value for one in parts))
    return Bound(written, place=expr.place, parts=tuple(parts), type=made)


def map_(expr: ast.Map, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `MAP {key: value}`, which has the unit of its values."""
    if not expr.items:
        return Bound(call("map"), place=expr.place, type=of_call("map", []))
    keys = _list([key for key, _ in expr.items], "a map", expr, context, bind)
    for key in keys.parts:
        need_bare(key, "a key of a map")
    values = _list([value for _, value in expr.items], "a map", expr, context, bind)
    made = of_call("map", [keys.type, values.type])
    parts = (*keys.parts, *values.parts)
    return Bound(call("map", keys.value, values.value), values.unit, expr.place, parts=parts, type=made)


def row(expr: ast.Row, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `(a, b)` where it is a value, which has no unit."""
    bound = compared(expr, context, bind)
    for part in bound.parts:
        need_bare(part, "a value in a row")
    return bound


def compared(expr: ast.Expr, context: ClauseContext, bind: Bind) -> Bound:
    """Bind an expression whose rows are only compared: their values may have units."""
    if not isinstance(expr, ast.Row):
        return bind(expr, context)
    items = tuple(compared(item, context, bind) for item in expr.items)
    return Bound(Row(tuple(one.value for one in items)), place=expr.place, parts=items)


def index(expr: ast.Index, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `x[i]`, by the type of x."""
    subject, key = bind(expr.operand, context), bind(expr.index, context)
    need_bare(key, "an index")
    subject_type = subject.type
    if subject_type is None and isinstance(expr.operand, ast.Column):
        subject_type = context.scope.declared(expr.operand.path)
    kind = _name(subject_type)
    if kind in ("STRUCT", "JSON", "UNION", "VARIANT") and isinstance(key.value, Text):
        value, made = member_of(subject.value, subject_type, key.value.value, key.place)
        # What is of a select further out is left to the engine, which cannot do it everywhere.
        return Bound(value, place=expr.place, parts=(subject,), type=None if subject.type is None else made)
    if kind in _POSITIONAL and key.family in ("text", "float"):
        raise BindError(f"an index is a whole number, found {shown(key.type)}", key.place)
    name = {"MAP": "map_extract_value", "JSON": "json_extract", "VARIANT": "variant_extract"}.get(kind, "array_extract")
    made = of_call(name, [subject.type, key.type])
    return Bound(call(name, subject.value, key.value), subject.unit, expr.place, parts=(subject, key), type=made)


def _kind(bound: Bound) -> str:
    return _name(bound.type)


def _name(made: Type | None) -> str:
    found = settled(made)
    return "" if found is None else found.name


def slice_(expr: ast.Slice, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `x[start : stop : step]`."""
    subject = bind(expr.operand, context)
    step = None if expr.step is None else bind(expr.step, context)
    backwards = step is not None and step.constant is not None and step.constant < 0
    if step is not None and step.constant is None and None in (expr.start, expr.stop):
        raise BindError("a slice needs a start and an end, unless its step is a literal", expr.place)
    ends = [
        constant(Fraction(default), NO_UNIT, expr.place, integral=True) if end is None else bind(end, context)
        for end, default in zip((expr.start, expr.stop), (-1, 1) if backwards else (1, -1), strict=True)
    ]
    bounds = [*ends, *([] if step is None else [step])]
    for one in bounds:
        need_bare(one, "the end of a slice")
    if _kind(subject) not in _SLICED:
        raise BindError(f"a slice needs a list or a string, found {shown(subject.type)}", subject.place)
    made = of_call("array_slice", [subject.type, *(one.type for one in bounds)])
    value = call("array_slice", subject.value, *(one.value for one in bounds))
    return Bound(value, subject.unit, expr.place, family=subject.family, parts=(subject, *bounds), type=made)


def member(expr: ast.Member, context: ClauseContext, bind: Bind) -> Bound:
    """Bind `(x).name`."""
    subject = bind(expr.operand, context)
    value, made = member_of(subject.value, subject.type, expr.name.text, expr.name.place)
    family = family_of("" if made is None else made.text)
    return Bound(value, place=expr.place, family=family, parts=(subject,), type=made)


def arrow(expr: ast.Binary, left: Bound, right: Bound, *, proven: bool) -> Bound:
    """Bind `x->key` and `x->>key`, which take a value out of JSON, as JSON or as text."""
    if not is_json(left.type):
        hint = "a member of a struct is `x.name`" if _kind(left) == "STRUCT" else None
        raise BindError(f"`{expr.op}` takes JSON, found {shown(left.type)}", left.place, hint=hint)
    need_bare(left, f"what stands before `{expr.op}`")
    need_bare(right, f"what stands after `{expr.op}`")
    name = "json_extract" if expr.op == "->" else "json_extract_string"
    text = right.value.value if isinstance(right.value, Text) else None
    sure = text is not None and bool(not text.startswith(("$", "/")) or _SURE_PATH.fullmatch(text))
    made = of_call(name, [left.type, right.type], proven=proven or sure)
    family = None if expr.op == "->" else family_of("VARCHAR")
    value = call(name, left.value, right.value)
    return Bound(value, place=expr.place, family=family, parts=(left, right), type=made)
