"""Make lazy results of names and bound plans: nothing runs until they are read."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.bind.library_views import BoundView, UnboundView
from dctv.bind.parameters import Params, numbered
from dctv.bind.trace_times import time_zero
from dctv.plan.nodes import Plan, Scan
from dctv.plan.rows import of_rows
from dctv.record import record
from dctv.rewrite.cut_fleets import per_trace
from dctv.rewrite.graph import readers_first
from dctv.rewrite.rewrite import rewrite
from dctv.run.carrying import around_kernels, as_relation
from dctv.run.context import ExecutionContext
from dctv.run.materialized import with_rows
from dctv.run.metering import Metering
from dctv.run.reading import Reading
from dctv.run.result import Result
from dctv.run.sharing import merged
from dctv.run.stream import in_final_order
from dctv.syntax import ast
from dctv.types.schema import ColumnType, Kind, Schema


def environment(context: ExecutionContext, params: Params | None = None, base: Path | None = None) -> Environment:
    """Return the environment for binding a text; its relative paths start from `base`."""
    registries, evaluate = context.registries, partial(_values, context)

    def file_table(node: ast.TableFile, env: Environment) -> Plan:
        return registries.file_table(node, env, context)

    rules, operators, values = registries.rules, registries.operators, numbered(params)
    return Environment(
        context.catalog,
        context.engine,
        rules,
        operators,
        values,
        context.log,
        evaluate,
        file_table,
        (lambda plan: per_trace(plan, operators)) if context.fleets else None,
        _library_view,
        base,
    )


def _library_view(view: UnboundView) -> BoundView:
    from dctv.run.view_templates import VIEWS  # loads what queries without traces do without

    return VIEWS.bound(view)


def table_of(name: str, context: ExecutionContext) -> Plan:
    """Return the plan of a table or view by its dotted name.

    Raises:
        BindError: there is no such table.
    """
    return Binder(environment(context)).table(ast.TableName(ast.Path.of(name)))


def result_of(plan: Plan, context: ExecutionContext, *, here: bool = False) -> Result:
    """Return the result of a bound plan; `here` if no other engine is worth asking."""
    start = partial(time_zero, plan, context.catalog)
    return optimized_result(optimized(plan, context, here=here), plan.schema, context, start)


def optimized_result(
    plan: Plan,
    schema: Schema,
    context: ExecutionContext,
    start: Callable[[], int | Mapping[str, int]] | None = None,
    *,
    apart: bool = True,
) -> Result:
    """Return the result of an optimized plan, which may tell columns of one name apart, as `schema` does not.

    `start` returns when its traces began, to show times by the clock. It is read in a thread `apart` from the one that
    waits for it and handles Ctrl-C, or in that one.
    """
    metering = Metering() if context.settings.metered else None
    return Result(schema, Reading(as_relation(plan), context, metering), context, start, apart=apart)


def rows_of(names: Mapping[str, str], rows: list[list[Any]], context: ExecutionContext) -> Result:
    """Return a result of rows that are known already; columns by name with their types."""
    schema = Schema(Kind.REGULAR, tuple(ColumnType(n, t) for n, t in names.items()))
    return result_of(of_rows(schema, rows), context, here=True)


@record
class ExpressionValue:
    """The value of an expression."""

    value: object
    column: ColumnType
    """Its type and unit."""


def evaluated(exprs: Sequence[ast.Expr], context: ExecutionContext, env: Environment) -> list[ExpressionValue]:
    """Run expressions that read no table; return their values."""
    place = exprs[0].place
    core = ast.Core(tuple(ast.ResultColumn(expr, place=expr.place) for expr in exprs), place=place)
    plan = Binder(env).plan(ast.Select(core, place=place))
    result = _computed(plan, context)
    (row,) = result.fetchall()
    return [ExpressionValue(value, column) for value, column in zip(row, result.schema.columns, strict=True)]


def optimized(plan: Plan, context: ExecutionContext, *, here: bool = False, runs: bool = True) -> Plan:
    """Optimize a bound plan for the engine that the session has chosen, to run or to show it."""
    remote = None if here else context.chosen_engine.remote
    if remote is None:
        plan = with_rows(plan, context, partial(result_of, here=True), runs=runs)
    cheaper = rewrite(plan, context.settings, context.registries.operators)
    if remote is None:
        return merged(around_kernels(in_final_order(cheaper)))
    from dctv.run.remote.placing import placed  # imports the indexes, which a plan that runs here does not need

    return merged(in_final_order(placed(merged(around_kernels(cheaper)), remote, context)))


def _values(context: ExecutionContext, plan: Plan) -> list[object]:
    return [row[0] for row in _computed(plan, context).fetchall()]


def _computed(plan: Plan, context: ExecutionContext) -> Result:
    """Return the result of a plan; to compute one that reads nothing, no other engine is worth asking."""
    return result_of(plan, context, here=not any(isinstance(one, Scan) for one in readers_first(plan)))
