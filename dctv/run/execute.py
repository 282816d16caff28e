"""Run statements: selects return results, the others change the session."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.errors import BindError, DctvError
from dctv.run import (
    asserting,
    copying,
    explaining,
    listing,
    macros,
    mounting,
    named_types,
    naming,
    setting,
    shown_lists,
    state_systems,
    summarizing,
    tables,
)
from dctv.run.context import ExecutionContext
from dctv.run.fleet import mounting as fleets
from dctv.run.plans import result_of
from dctv.run.result import Done, Outcome, Result
from dctv.syntax import ast, commands
from dctv.syntax.commands import Command, Definition, Statement


def run(statement: Statement, context: ExecutionContext, env: Environment) -> Outcome:
    """Run one statement of a text."""
    try:
        return _run(statement, context, env)
    except RecursionError:
        raise BindError("the statement is nested too deeply", statement.place) from None


def _run(statement: Statement, context: ExecutionContext, env: Environment) -> Outcome:
    match statement:
        case ast.SelectStatement():
            return result_of(Binder(env).plan(statement.select), context)
        case ast.Explain():
            return explaining.explained(statement, context, env)
        case ast.Assert():
            return asserting.checked(statement, context, env)
        case ast.Describe() | ast.Summarize() | ast.ShowTables() | commands.Show():
            return _described(statement, context, env)
        case (
            commands.Expect()
            | commands.CreateTable()
            | commands.DropTable()
            | commands.CreateMacro()
            | commands.DropMacro()
            | commands.CreateType()
            | commands.DropType()
            | commands.Copy()
        ):
            return _command(statement, context, env)
        case _:
            return _change(statement, context, env)


def _described(
    statement: ast.Describe | ast.Summarize | ast.ShowTables | commands.Show,
    context: ExecutionContext,
    env: Environment,
) -> Result:
    match statement:
        case ast.Describe():
            return listing.describe(statement, context, env)
        case ast.Summarize():
            return summarizing.summarize(statement, context, env)
        case ast.ShowTables():
            return listing.show(statement, context)
        case commands.Show():
            return shown_lists.show(statement, context)


def _command(statement: Command, context: ExecutionContext, env: Environment) -> Outcome:
    match statement:
        case commands.Expect():
            return asserting.expected(statement, context, env)
        case commands.CreateTable():
            return tables.create(statement, context, env)
        case commands.DropTable():
            return tables.drop(statement, context.catalog)
        case commands.Copy():
            return copying.copy(statement, context, env)
        case _:
            return _definition(statement, context, env)


def _definition(statement: Definition, context: ExecutionContext, env: Environment) -> Done:
    match statement:
        case commands.CreateMacro():
            return macros.create(statement, env)
        case commands.DropMacro():
            return macros.drop(statement, context.catalog)
        case commands.CreateType():
            return named_types.create(statement, context, env)
        case commands.DropType():
            return named_types.drop(statement, context.catalog)


def _change(statement: ast.Change, context: ExecutionContext, env: Environment) -> Done:
    match statement:
        case ast.CreateStateSystem() | ast.DropStateSystem():
            return state_systems.change(statement, context, env)
        case ast.Set():
            return setting.choose(statement, context, env)
        case ast.MountTrace() | ast.MountTraces():
            return Done(_mount(statement, context, env))
        case ast.CreateView():
            return naming.create_view(statement, env)
        case ast.DropView():
            return naming.drop_view(statement, context.catalog)
        case ast.DropAll():
            return naming.drop_all(statement, context)


def _mount(statement: ast.MountTrace | ast.MountTraces, context: ExecutionContext, env: Environment) -> str:
    if isinstance(statement, ast.MountTraces):
        return fleets.run(statement, context, env)
    return mounting.run(statement, context, env)


def faults(statements: Sequence[Statement], env: Environment) -> Iterator[DctvError]:
    """Yield errors of the selects of statements, up to the first statement that changes names."""
    for statement in statements:
        match statement:
            case (
                ast.SelectStatement(select=select) | ast.CreateView(select=select) | commands.CreateTable(select=select)
            ):
                try:
                    Binder(env).plan(select)
                except DctvError as error:
                    yield error
        if not isinstance(statement, ast.SelectStatement):
            return
