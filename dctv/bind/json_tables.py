"""Bind json_each and json_tree over a column: their rows for each row of the tables before them."""

from __future__ import annotations

from dctv.bind import expressions
from dctv.bind.binding import Binding
from dctv.bind.bound import need_bare
from dctv.bind.context import BoundColumn, BoundQuery, Leaves
from dctv.bind.members import is_json, shown
from dctv.bind.scope import Scope
from dctv.bind.types import JSON, VARCHAR
from dctv.errors import BindError
from dctv.plan.expressions import Call, Column
from dctv.plan.queries import Item, Select, TableCall
from dctv.signatures.types import Type, plain
from dctv.syntax import ast
from dctv.types.unit import NO_UNIT

_UBIGINT = plain("UBIGINT")
_COLUMNS: dict[str, Type] = {
    "key": VARCHAR,
    "value": JSON,
    "type": VARCHAR,
    "atom": JSON,
    "id": _UBIGINT,
    "parent": _UBIGINT,
    "fullkey": VARCHAR,
    "path": VARCHAR,
}
"""The columns of both, in order, as the engine types them."""


def json_rows(binder: Binding, node: ast.TableCall, scope: Scope, leaves: Leaves) -> BoundQuery:
    """Bind a call whose arguments read columns of a scope.

    Raises:
        BindError: the first argument is not JSON.
    """
    context = binder.context(Scope([], scope), leaves, clause="an argument", aggregates_allowed=False)
    bounds = [expressions.bind(one.expr, context) for one in node.arguments if isinstance(one, ast.ValueArgument)]
    name = node.path.text.lower()
    for one in bounds:
        need_bare(one, f"an argument of `{name}`")
    if bounds and not is_json(bounds[0].type):
        hint = "to_json(x) makes JSON of other values"
        raise BindError(f"`{name}` takes JSON, found {shown(bounds[0].type)}", bounds[0].place, hint=hint)
    inner = leaves.alias(name)
    items = tuple(Item(Column(column, inner), column) for column in _COLUMNS)
    outs = tuple(BoundColumn(column, NO_UNIT, type=kind) for column, kind in _COLUMNS.items())
    query = Select(items, TableCall(Call(name, tuple(one.value for one in bounds)), inner))
    sure = len(bounds) == len(node.arguments) == 1 and bounds[0].type is not None
    return BoundQuery(query, outs, tuple(bounds), sure=sure)
