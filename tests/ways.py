"""Ways to carry out a statement that change no result: spans by queries of the engine, no rules, scans without luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from random import Random

from dctv.bind.binder import Binder
from dctv.errors import DctvError
from dctv.plan.nodes import Kernel, Plan, Scan
from dctv.plan.source import RowsInMemory
from dctv.rewrite.graph import readers_first
from dctv.rewrite.rewrite import rewrite
from dctv.run import execute
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, result_of
from dctv.run.recursion import deep_recursion
from dctv.run.result import Asserted, Result
from dctv.session import Session
from dctv.syntax import ast, commands
from dctv.syntax.print import to_sql
from tests.bounds import LEFT_TO_CI
from tests.rewrite.strict import strict

Outcome = list[str] | str
"""Rows or a verdict with warnings, or the message of an error."""


@contextmanager
def _chosen(session: Session, **choices: str) -> Iterator[None]:
    before = {name: getattr(session._context.settings, name) for name in choices}
    for name, choice in choices.items():
        setattr(session._context.settings, name, choice)
    try:
        yield
    finally:
        for name, choice in before.items():
            setattr(session._context.settings, name, choice)


def _any_order(outcome: Outcome) -> Outcome:
    """Return what a query of the engine gives as a sweep does.

    It counts nothing that it passes over, so it does not warn; of the rows that a check lists it names the first.
    """
    if isinstance(outcome, str):
        return outcome.partition("; ")[0]
    return sorted(line for line in outcome if not line.startswith("warning: "))


def has_relational_form(plan: Plan, context: ExecutionContext) -> bool:
    """Return whether a plan has span operators that the engine can carry out."""
    kernels = (node.name for node in readers_first(plan) if isinstance(node, Kernel))
    return any(context.registries.operators[name].relational is not None for name in kernels)


def _is_rewritten(plan: Plan, context: ExecutionContext) -> bool:
    return rewrite(plan, context.settings, context.registries.operators) is not plan


def _reads_tables_in_memory(plan: Plan, _: ExecutionContext) -> bool:
    return any(isinstance(node, Scan) and isinstance(node.source, RowsInMemory) for node in readers_first(plan))


@dataclass(frozen=True)
class Way:
    """How to carry statements out, what of an outcome is the same so, and whether a plan is another one so."""

    taken: Callable[[Session], AbstractContextManager[None]]
    comparable: Callable[[Outcome], Outcome]
    matters: Callable[[Plan, ExecutionContext], bool]


WAYS = {
    "span_engine = relational": Way(
        lambda session: _chosen(session, span_engine="relational"), _any_order, has_relational_form
    ),
    "rewrite = off": Way(lambda session: _chosen(session, rewrite="off"), lambda outcome: outcome, _is_rewritten),
    "scans that leave out all they may": Way(lambda _: strict(), lambda outcome: outcome, _reads_tables_in_memory),
}


def rows_of(result: Result) -> list[str]:
    """Return the rows and warnings of a result, which can be read again."""
    chunks = list(result.chunks())
    vars(result)["chunks"] = lambda: iter(chunks)
    rows = [repr(row) for chunk in chunks for row in zip(*chunk, strict=True)]
    return rows + [f"warning: {warning}" for warning in result.warnings]


def differing(
    session: Session, statement: commands.Statement, expected: Outcome, *, every: bool = not LEFT_TO_CI
) -> Iterator[str]:
    """Yield what came out of a statement in ways that change what came out; it is bound once for all of them.

    A query is not asked in ways in which its plan is the one that was carried out already, and, but for `every`, of the
    others in one, which is the same in every run.
    """
    context = session._context
    known = environment(context)
    run: Callable[[], Outcome]
    ways: Mapping[str, Way] = WAYS
    context.log.clear()
    if isinstance(statement, ast.SelectStatement):
        select = statement.select
        try:
            with deep_recursion():
                plan = Binder(known).plan(select)
        except DctvError:
            return
        ways = {name: way for name, way in WAYS.items() if way.matters(plan, context)}

        def run() -> Outcome:
            return rows_of(result_of(plan, context))

    elif isinstance(statement, ast.Assert | commands.Expect):

        def run() -> Outcome:
            return [str(execute.run(statement, context, known))]

    else:
        return
    if not every:
        ways = _one_of(ways, to_sql(statement))
    messages = dict(context.log.entries)
    for name, way in ways.items():
        context.log.clear()
        context.log.entries.update(messages)  # what binding warned of
        with way.taken(session), deep_recursion():
            found = _tried(run)
        if way.comparable(found) != way.comparable(expected):
            yield f"with {name} came {found!r}, else {expected!r}"


def _one_of(ways: Mapping[str, Way], text: str) -> Mapping[str, Way]:
    """Return one way at most: the text of a statement says which."""
    return dict(Random(text).sample(list(ways.items()), min(len(ways), 1)))


def _tried(run: Callable[[], Outcome]) -> Outcome:
    try:
        return run()
    except DctvError as error:
        return error.message


def of(outcome: object) -> Outcome:
    """Return an outcome as `differing` expects it."""
    match outcome:
        case Result():
            return rows_of(outcome)
        case Asserted():
            return [str(outcome)]
        case _:
            return []
