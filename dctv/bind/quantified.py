"""Bind comparisons with ANY and ALL of the rows of a query, or of the elements of a list."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from dctv.bind import nested, operators
from dctv.bind.asked_types import typed_beside_units
from dctv.bind.bound import Bound
from dctv.bind.context import ClauseContext
from dctv.errors import BindError
from dctv.plan.build import select
from dctv.plan.expressions import Binary, Column, InQuery
from dctv.plan.queries import Derived, Item
from dctv.syntax import ast
from dctv.syntax.build.compared import with_each_row

_ROW = "dctv:compared"
"""The name of the query's column."""
_OPERATORS = ("=", "!=", "<", "<=", ">", ">=")
"""Operators that the engine has with ANY and ALL."""


def quantified(expr: ast.Quantified, context: ClauseContext, bind: Callable[[ast.Expr, ClauseContext], Bound]) -> Bound:
    """Bind a comparison; those that the engine lacks are made of aggregates.

    Raises:
        BindError: the query has several columns, or the sides cannot be compared.
        UnitError: their units differ.
    """
    if expr.op not in _OPERATORS or isinstance(expr.operand, ast.Row):
        return bind(with_each_row(expr), context)
    left = nested.compared(expr.operand, context, bind)
    query = context.subqueries.inline(expr.select, context.scope, context.leaves)
    if len(query.outs) != 1:
        raise BindError(f"the subquery of {expr.op} has 1 column, found {len(query.outs)}", expr.place)
    out = query.outs[0]
    row = Bound(Column(_ROW), out.unit, expr.place, type=out.type if query.sure else None)
    written = ast.Binary(cast("ast.BinaryOp", expr.op), expr.operand, expr.operand, place=expr.place)
    left, row = typed_beside_units([left, row], context)
    test = operators.binary(written, left, row, context.env.catalog)
    assert isinstance(test.value, Binary)
    rows = query.query
    if test.value.right != row.value:
        # They are converted to the unit of the operand.
        rows = select(Item(test.value.right, _ROW), source=Derived(rows, "rows", (_ROW,)))
    found = InQuery(test.value.left, rows, expr.op, expr.every)
    return Bound(found, place=expr.place, parts=test.parts[:1], type=test.type, serial=query.serial)
