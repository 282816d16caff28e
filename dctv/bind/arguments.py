"""Bind arguments of table-valued functions: literals, lists, dicts, tables and subqueries."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from functools import partial
from operator import add, mul, sub, truediv
from typing import cast

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import Bound, as_time
from dctv.bind.context import ClauseContext, Leaves
from dctv.bind.int128 import narrowed
from dctv.bind.scope import Scope
from dctv.contracts.table_function import REQUIRED, Argument, Quantity, TableFunction
from dctv.errors import BindError, Place, nearest
from dctv.plan.expressions import Binary
from dctv.plan.nodes import Plan
from dctv.syntax import ast

_ARITHMETIC: Mapping[str, Callable[[Fraction, Fraction], Fraction]] = {"+": add, "-": sub, "*": mul, "/": truediv}


def bind_arguments(binder: Binding, function: TableFunction, call: ast.TableCall) -> Mapping[str, Argument]:
    """Match the arguments of a call with the function's parameters; defaults are filled in."""
    by_name = {p.name: p for p in function.parameters}
    positional = [p for p in function.parameters if not p.keyword_only]
    bound: dict[str, Argument] = {}
    if len(call.arguments) > len(positional):
        extra = call.arguments[len(positional)]
        keywords = ", ".join(p.name for p in function.parameters if p.keyword_only)
        hint = f"these are given by name: {keywords}" if keywords else None
        raise BindError(
            f"`{function.name}` takes {len(positional)} positional arguments, found {len(call.arguments)}",
            extra.place or call.place,
            hint=hint,
        )
    for parameter, value in zip(positional, call.arguments, strict=False):
        bound[parameter.name] = bind_argument(binder, value)
    for name, value in call.keywords:
        if name.text not in by_name:
            near = nearest(name.text, list(by_name))
            hint = f"did you mean `{near}`?" if near else f"it has {', '.join(by_name) or 'none'}"
            raise BindError(f"`{function.name}` has no argument `{name.text}`", name.place or call.place, hint=hint)
        if name.text in bound:
            raise BindError(f"argument `{name.text}` is given twice", name.place or call.place)
        bound[name.text] = _bind_named(binder, name.text, value)
    for parameter in function.parameters:
        if parameter.name not in bound:
            if parameter.default is REQUIRED:
                raise BindError(
                    f"`{function.name}` needs the argument `{parameter.name}`", call.place, hint=parameter.doc
                )
            bound[parameter.name] = Argument(parameter.default, call.place)
    return bound


def _bind_named(binder: Binding, name: str, value: ast.Argument) -> Argument:
    """Bind an argument that is given by name; a bare word that is no table was to be a text."""
    try:
        return bind_argument(binder, value)
    except BindError as error:
        word = value.path.text if isinstance(value, ast.TableArgument) and len(value.path.parts) == 1 else ""
        if not word or error.place is None or error.place != value.place:
            raise
        raise BindError(
            f"`{name}` is given a table, but there is no table `{word}`",
            error.place,
            hint=f"names of columns and other texts stand in single quotes: {name} => '{word}'",
        ) from None


def bind_argument(binder: Binding, node: ast.Argument) -> Argument:
    """Bind one argument."""
    match node:
        case ast.ListArgument():
            return Argument([bind_argument(binder, item) for item in node.items], node.place)
        case ast.DictArgument():
            return Argument(_dict(binder, node), node.place)
        case ast.TableArgument():
            return _named(binder, node)
        case ast.CallArgument():
            return Argument(narrowed(binder.table(node.call), node.place), node.place)
        case ast.SelectArgument():
            plan = narrowed(binder.plan(node.select), node.place)
            return Argument(plan, node.place, partial(_scalar, binder, plan, node.place))
        case ast.ValueArgument():
            return Argument(_value(binder, node.expr), node.place)


def _named(binder: Binding, node: ast.TableArgument) -> Argument:
    """Bind the name of a table, or of a parameter of the enclosing macro."""
    parts = node.path.parts
    macro_argument = binder.env.macro_arguments.get(parts[0].text.lower()) if len(parts) == 1 else None
    if macro_argument is None or macro_argument.argument is None:
        return Argument(narrowed(binder.table(ast.TableName(node.path, place=node.place)), node.place), node.place)
    return bind_argument(cast("Binding", macro_argument.binder), macro_argument.argument)


def _scalar(binder: Binding, plan: Plan, place: Place | None) -> Quantity:
    """Run a subquery that stands for one number."""
    columns = plan.schema.columns
    if len(columns) != 1:
        raise BindError(f"a subquery used as a value has one column, found {len(columns)}", place)
    values = binder.env.evaluate(plan)
    if len(values) != 1:
        raise BindError(f"a subquery used as a value has one row, found {len(values)}", place)
    if isinstance(values[0], bool) or not isinstance(values[0], int | float):
        raise BindError(f"a subquery used here gives a number, found {values[0]!r}", place)
    return Quantity(Fraction(values[0]), columns[0].unit)


def _dict(binder: Binding, node: ast.DictArgument) -> dict[str, Argument]:
    result: dict[str, Argument] = {}
    for key, value in node.items:
        if key.text in result:
            raise BindError(f"entry `{key.text}` is given twice", key.place)
        result[key.text] = bind_argument(binder, value)
    return result


def _value(binder: Binding, expr: ast.Expr) -> object:
    """Return the value of a literal, a bind parameter or arithmetic over them."""
    context = binder.context(Scope([]), Leaves(), clause="an argument", aggregates_allowed=False)
    match expr:
        case ast.String():
            return expr.text
        case ast.Constant():
            return expr.value
        case ast.Bind():
            return _parameter(expr, context)
        case _:
            bound = expressions.bind(expr, context)
            if bound.length is not None:
                bound = as_time(bound)
            value = _fold(bound)
            if value is None:
                raise BindError("an argument is a literal, a list, a dict, a table or a subquery", expr.place)
            return Quantity(value, bound.unit)


def _fold(bound: Bound) -> Fraction | None:
    """Compute bare arithmetic over literals, which binding leaves to the engine."""
    if bound.constant is not None:
        return bound.constant
    values = [_fold(part) for part in bound.parts]
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    operator = bound.value.operator if isinstance(bound.value, Binary) else ""
    if operator not in _ARITHMETIC or (operator == "/" and not values[1]):
        return None
    return _ARITHMETIC[operator](values[0], values[1])


def _parameter(expr: ast.Bind, context: ClauseContext) -> object:
    value = expressions.parameter(expr, context)
    match value:
        case None | bool() | str() | Quantity():
            return value
        case int() | float():
            return Quantity(Fraction(value))
        case _:
            raise BindError(
                f"an argument is a number, a duration, a string, a bool or None, found {type(value).__name__}",
                expr.place,
            )
