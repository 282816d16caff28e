"""Ways to carry out a statement that change no result: spans by queries of the engine, no rules, scans without luck."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from dctv.bind.binder import Binder
from dctv.errors import DctvError
from dctv.run import execute
from dctv.run.plans import environment, result_of
from dctv.run.recursion import deep_recursion
from dctv.run.result import Asserted, Result
from dctv.session import Session
from dctv.syntax import ast
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


WAYS: dict[str, tuple[Callable[[Session], AbstractContextManager[None]], Callable[[Outcome], Outcome]]] = {
    "span_engine = relational": (lambda session: _chosen(session, span_engine="relational"), _any_order),
    "rewrite = off": (lambda session: _chosen(session, rewrite="off"), lambda outcome: outcome),
    "scans that leave out all they may": (lambda _: strict(), lambda outcome: outcome),
}


def rows_of(result: Result) -> list[str]:
    """Return the rows and warnings of a result, which can be read again."""
    chunks = list(result.chunks())
    vars(result)["chunks"] = lambda: iter(chunks)
    rows = [repr(row) for chunk in chunks for row in zip(*chunk, strict=True)]
    return rows + [f"warning: {warning}" for warning in result.warnings]


def differing(session: Session, statement: ast.Statement, expected: Outcome) -> Iterator[str]:
    """Yield what came out of a statement in ways that change what came out; it is bound once for all of them."""
    context = session._context
    known = environment(context)
    run: Callable[[], Outcome]
    context.log.entries.clear()
    if isinstance(statement, ast.SelectStatement):
        select = statement.select
        try:
            with deep_recursion():
                plan = Binder(known).plan(select)
        except DctvError:
            return

        def run() -> Outcome:
            return rows_of(result_of(plan, context))

    elif isinstance(statement, ast.Assert):

        def run() -> Outcome:
            return [str(execute.run(statement, context, known))]

    else:
        return
    told = dict(context.log.entries)
    for name, (way, comparable) in WAYS.items():
        context.log.entries.clear()
        context.log.entries.update(told)  # what binding warned of
        with way(session), deep_recursion():
            found = _tried(run)
        if comparable(found) != comparable(expected):
            yield f"with {name} came {found!r}, else {expected!r}"


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
