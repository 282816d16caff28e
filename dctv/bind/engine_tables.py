"""Binds calls of the engine's own table functions, such as range(10) and unnest([1, 2])."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlglot import exp

from dctv.bind import expressions
from dctv.bind.context import Context, Leaves
from dctv.bind.scope import Scope
from dctv.errors import BindError, EngineError
from dctv.plan.nodes import Relation
from dctv.plan.sql import identifier
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT

if TYPE_CHECKING:
    from dctv.bind.binder import Binder


def bind_table_function(binder: Binder, node: ast.TableCall) -> Relation:
    """Bind a call of a table function of the engine; its arguments are plain values."""
    context = binder.context(Scope([]), Leaves(), clause="an argument", aggregates_allowed=False)
    values = [_value(argument, context) for argument in node.arguments]
    for name, argument in node.keywords:
        values.append(exp.PropertyEQ(this=identifier(name.text), expression=_value(argument, context)))
    call = exp.Anonymous(this=node.path.text.lower(), expressions=values)
    tree = exp.Select(expressions=[exp.Star()]).from_(exp.Table(this=call))
    try:
        described = binder.env.engine.describe(tree.sql(dialect="duckdb"))
    except EngineError as error:
        raise BindError(error.message, node.place, hint=error.hint) from None
    schema = Schema(Kind.REGULAR, tuple(ColumnType(name, kind) for name, kind in described))
    return Relation(schema, ordered=False, query=tree, keeps_order=True)


def _value(argument: ast.Argument, context: Context) -> exp.Expr:
    match argument:
        case ast.ValueArgument():
            bound = expressions.bind(argument.expr, context)
            if bound.unit != NO_UNIT:
                raise BindError("a table function of the engine takes no units", argument.place)
            return bound.sql
        case ast.ListArgument():
            return exp.Array(expressions=[_value(item, context) for item in argument.items])
        case _:
            raise BindError("a table function of the engine takes literals and lists", argument.place)
