"""Statements to what comes of them: results of selects, and changes of the session by the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.errors import BindError, DctvError
from dctv.run import choosing, explaining, listing, mounting, naming, state_systems
from dctv.run.context import ExecutionContext
from dctv.run.plans import evaluated, result_of
from dctv.run.result import Asserted, Done, Outcome
from dctv.syntax import ast
from dctv.syntax.print import to_sql


def run(statement: ast.Statement, context: ExecutionContext, known: Environment) -> Outcome:
    """Run one statement of a text, of which this is known."""
    try:
        return _run(statement, context, known)
    except RecursionError:
        raise BindError("the statement is nested too deeply", statement.place) from None


def _run(statement: ast.Statement, context: ExecutionContext, known: Environment) -> Outcome:
    match statement:
        case ast.SelectStatement():
            return result_of(Binder(known).plan(statement.select), context)
        case ast.Explain():
            return explaining.explained(statement, context, known)
        case ast.Assert():
            return _assert(statement, context, known)
        case ast.Describe():
            return listing.describe(statement, context, known)
        case ast.ShowTables():
            return listing.show(statement, context)
        case _:
            return _change(statement, context, known)


def _change(statement: ast.Change, context: ExecutionContext, known: Environment) -> Done:
    match statement:
        case ast.CreateStateSystem() | ast.DropStateSystem():
            return state_systems.change(statement, context, known)
        case ast.Set():
            return choosing.choose(statement, context, known)
        case ast.MountTrace():
            return Done(mounting.run(statement, context, known))
        case ast.CreateView():
            return naming.create_view(statement, known)
        case ast.DropView():
            return naming.drop_view(statement, context.catalog)
        case ast.DropAll():
            return naming.drop_all(statement, context)


def faults(statements: Sequence[ast.Statement], known: Environment) -> Iterator[DctvError]:
    """Yield what is wrong with the selects of statements; after one that changes names, nobody can tell."""
    for statement in statements:
        match statement:
            case ast.SelectStatement(select=select) | ast.CreateView(select=select):
                try:
                    Binder(known).plan(select)
                except DctvError as error:
                    yield error
        if not isinstance(statement, ast.SelectStatement):
            return


def _assert(statement: ast.Assert, context: ExecutionContext, known: Environment) -> Asserted:
    message = "" if statement.message is None else str(evaluated(statement.message, context, known))
    text = to_sql(statement.expr)
    if isinstance(statement.expr, ast.ScalarSelect):
        limited = ast.Select(statement.expr.select, limit=ast.Number("1"), place=statement.place)
        rows = result_of(Binder(known).plan(limited), context).fetchall()
        return Asserted(text, not rows, message or "the select returned rows", statement.place)
    value = evaluated(statement.expr, context, known)
    if value is not None and not isinstance(value, bool):
        raise BindError("ASSERT takes a condition", statement.expr.place)
    verdict = "NULL" if value is None else "false"
    return Asserted(text, value is True, message or f"`{text}` is {verdict}", statement.place)
