"""Bind calls of list functions that take a lambda: its parameters are columns that have the unit of the elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence

from dctv.bind.bound import Bound, convert
from dctv.bind.conditions import condition_of
from dctv.bind.context import ClauseContext
from dctv.bind.grouping import parts_of
from dctv.bind.members import shown
from dctv.bind.scope import Scope, ScopeColumn
from dctv.bind.types import BIGINT, BOOLEAN, settled
from dctv.errors import BindError
from dctv.plan.build import call as called
from dctv.plan.expressions import Column, Lambda
from dctv.plan.nodes import unique_names
from dctv.record import replace
from dctv.signatures.types import Type, list_of
from dctv.syntax import ast
from dctv.syntax.keywords import LAMBDAS
from dctv.syntax.node import nodes
from dctv.types.schema import ColumnType
from dctv.types.unit import Unit

FUNCTIONS = LAMBDAS
Bind = Callable[[ast.Expr, ClauseContext], Bound]
_LISTS = ("LIST", "ARRAY")
_NESTED = (ast.ScalarSelect, ast.Exists, ast.InSelect, ast.Quantified)


def lambda_call(name: str, expr: ast.Call, context: ClauseContext, bind: Bind) -> Bound:
    """Bind a call of one of the functions.

    Raises:
        BindError: it has other arguments than a list and a lambda, which has other parameters than the function gives.
        UnitError: the lambda's value has a unit that does not fit.
    """
    body, initial = _checked(name, expr)
    listed = bind(expr.arguments[0], context)
    kind = settled(listed.type)
    if kind is not None and kind.name not in _LISTS:
        raise BindError(f"`{name}` takes a list, found {shown(kind)}", listed.place)
    element = None if kind is None else kind.children[0]
    first = None if initial is None else convert(bind(initial, context), listed.unit, f"`{name}`")
    names = _inside(body.parameters, context.scope.parameters)
    value = _body(body, _parameters(name, body, names, (element, listed.unit)), context, bind)
    if name.endswith("filter"):
        value = condition_of(value)
        made, unit = (listed.type if value.type == BOOLEAN else None), listed.unit
    elif name.endswith("reduce"):
        value = convert(value, listed.unit, f"`{name}`")
        alike = all(settled(one.type) == element for one in (value, *([] if first is None else [first])))
        made, unit = (element if alike else None), listed.unit
    else:
        found = settled(value.type)
        made, unit = (None if found is None else list_of(found)), value.unit
    written = called(name, listed.value, Lambda(names, value.value), *([] if first is None else [first.value]))
    parts = (listed, *_of_rows(value, names), *([] if first is None else [first]))
    serial = any(one.serial for one in parts_of([value]))
    return Bound(written, unit, expr.place, parts=parts, type=made, serial=serial)


def _checked(name: str, expr: ast.Call) -> tuple[ast.Lambda, ast.Expr | None]:
    """Return the lambda of a call, and the initial value of a reduction."""
    most = 3 if name.endswith("reduce") else 2
    given = expr.arguments
    plain = not (expr.keywords or expr.nulls)
    if not plain or len(given) < 2 or len(given) > most or not isinstance(given[1], ast.Lambda):
        hint = f"such as {name}(x, lambda {'a, b: a + b' if most > 2 else 'v: v + 1'})"
        raise BindError(f"`{name}` takes a list and a lambda", expr.place, hint=hint)
    body = given[1]
    least = most - 1
    if not least <= len(body.parameters) <= least + 1:
        names = "two names, and a third" if least > 1 else "one name, and a second"
        raise BindError(
            f"the lambda of `{name}` has {names} for the position, found {len(body.parameters)}", body.place
        )
    for node in nodes(body.body):
        if isinstance(node, _NESTED):
            raise BindError("a lambda cannot have a subquery", node.place)
        if isinstance(node, ast.Call) and node.over is not None:
            raise BindError("a lambda cannot have a window function", node.place)
    return body, given[2] if len(given) > 2 else None


def _inside(parameters: Sequence[ast.Name], around: Mapping[str, ScopeColumn]) -> tuple[str, ...]:
    """Return the parameters' names in the plan, which are no columns' and differ in more than case."""
    taken = [one.value.name for one in around.values() if isinstance(one.value, Column)]
    names = unique_names((*taken, *(f"lambda:{one.text}" for one in parameters)))
    return tuple(names[len(taken) :])


def _parameters(
    name: str, body: ast.Lambda, names: Sequence[str], of_element: tuple[Type | None, Unit]
) -> dict[str, ScopeColumn]:
    element, unit = of_element
    count = 2 if name.endswith("reduce") else 1
    text = "" if element is None else element.text
    found = {}
    for index, (one, inside) in enumerate(zip(body.parameters, names, strict=True)):
        column = ColumnType(one.text, text, unit) if index < count else ColumnType(one.text, BIGINT.text)
        found[one.text] = ScopeColumn(column, Column(inside))
    return found


def _body(body: ast.Lambda, parameters: dict[str, ScopeColumn], context: ClauseContext, bind: Bind) -> Bound:
    def known(scope: Scope) -> Scope:
        return replace(scope, parameters={**scope.parameters, **parameters})

    aggregated = None if context.aggregated is None else known(context.aggregated)
    env = context.env
    if env.macro_arguments:
        lowered = {name.lower() for name in parameters}
        env = replace(
            env, macro_arguments={name: one for name, one in env.macro_arguments.items() if name not in lowered}
        )
    inner = replace(
        context, env=env, scope=known(context.scope), aggregated=aggregated, aggregates_allowed=False, clause="a lambda"
    )
    return bind(body.body, inner)


def _of_rows(value: Bound, names: tuple[str, ...]) -> Iterator[Bound]:
    """Yield the columns of the row in a lambda's body; its parameters have no table."""
    for one in parts_of([value]):
        if isinstance(one.value, Column) and not one.parts and one.value.name not in names:
            yield one
