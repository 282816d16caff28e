"""Bind calls of the engine's own table functions, such as range(10) and unnest([1, 2])."""

from __future__ import annotations

from collections.abc import Iterator

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.context import ClauseContext, Leaves
from dctv.bind.laterals import listed
from dctv.bind.scope import Scope
from dctv.bind.types import BIGINT
from dctv.errors import BindError, EngineError, Place
from dctv.plan.build import STAR
from dctv.plan.expressions import Call, Expression, Keyword, List, Number, Unary
from dctv.plan.nodes import Plan, Relation
from dctv.plan.order import RowOrder
from dctv.plan.parquet import CAN_HAVE_NAN
from dctv.plan.queries import Select, TableCall
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT

_COUNTING = ("range", "generate_series")
_PARQUET = ("read_parquet", "parquet_scan")
_MOST_BOUNDS = 3
"""From where, to where, and by how much."""


def is_offered(binder: Binding, path: ast.Path) -> bool:
    """Tell whether the engine has a table function of a name; raises BindError if it may not be called."""
    name = path.text.lower()
    if name in binder.env.engine.table_functions():
        return True
    refused = binder.env.engine.refusal(name)
    if refused is not None:
        raise BindError(refused.message, path.place, hint=refused.hint)
    return False


def bind_table_function(binder: Binding, node: ast.TableCall) -> Plan:
    """Bind a call of a table function of the engine; its arguments are plain values.

    One whose rows are those of a list is bound as that list, unless it counts.
    """
    select = listed(node)
    if select is not None and not _counts(node):
        return binder.plan(select.select)
    context = binder.context(Scope([]), Leaves(), clause="an argument", aggregates_allowed=False)
    values = [_value(argument, context) for argument in node.arguments]
    for name, argument in node.keywords:
        values.append(Keyword(name.text, _value(argument, context)))
    function = node.path.text.lower()
    if function in _PARQUET and CAN_HAVE_NAN.name not in {one.text.lower() for one, _ in node.keywords}:
        values.append(CAN_HAVE_NAN)
    return _relation(binder, Call(function, tuple(values)), node.place)


def _counts(node: ast.TableCall) -> bool:
    """Whether the text of a call shows that it counts from one integer to another."""
    if node.path.text.lower() not in _COUNTING:
        return False
    values = [one.expr if isinstance(one, ast.ValueArgument) else None for one in node.arguments]
    plain = [one.operand if isinstance(one, ast.Unary) else one for one in values]
    return all(isinstance(one, ast.Bind) or (isinstance(one, ast.Number) and one.unit is None) for one in plain)


def _relation(binder: Binding, call: Call, place: Place | None) -> Relation:
    query = Select((STAR,), TableCall(call))
    schema = Schema(Kind.REGULAR, tuple(_columns(binder, call, query, place)))
    return Relation(schema, order=RowOrder.STABLE, query=query)


def _columns(binder: Binding, call: Call, query: Select, place: Place | None) -> Iterator[ColumnType]:
    """Yield the columns of a call: integers if it counts between integers, else the types that the engine reports."""
    if call.function in _COUNTING and 0 < len(call.arguments) <= _MOST_BOUNDS:
        numbers = [_integer(one) for one in call.arguments]
        if None not in numbers and 0 not in numbers[2:]:
            yield ColumnType(call.function, BIGINT.text)
            return
    try:
        described = binder.env.engine.describe(query)
    except EngineError as error:
        raise BindError(error.message, place, hint=error.hint) from None
    for name, kind in described:
        yield ColumnType(name, kind)


def _integer(value: Expression) -> int | None:
    """Return an integer of 64 bits, None for any other expression."""
    sign, value = (-1, value.operand) if isinstance(value, Unary) and value.operator == "-" else (1, value)
    if not isinstance(value, Number) or not value.text.isdecimal():
        return None
    number = sign * int(value.text)
    return number if -(2**63) <= number < 2**63 else None


def _value(argument: ast.Argument, context: ClauseContext) -> Expression:
    match argument:
        case ast.ValueArgument():
            bound = expressions.bind(argument.expr, context)
            if bound.unit != NO_UNIT:
                raise BindError("a table function of the engine takes no units", argument.place)
            return bound.value
        case ast.ListArgument():
            return List(tuple(_value(item, context) for item in argument.items))
        case _:
            raise BindError(
                "a table function of the engine takes literals and lists",
                argument.place,
                hint="unnest, range, generate_series, json_each and json_tree take columns",
            )
