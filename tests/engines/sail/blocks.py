"""Run the blocks of `.test` files in this process and on an engine elsewhere, and describe how they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from dctv.bind.binder import Binder
from dctv.contracts.remote import Remote
from dctv.errors import DctvError, SourceText
from dctv.plan.nodes import Kernel, Plan, Scan
from dctv.rewrite.graph import readers_first
from dctv.run.context import ExecutionContext
from dctv.run.plans import environment, optimized, result_of
from dctv.run.recursion import deep_recursion
from dctv.run.remote.source import RemoteRows
from dctv.run.result import Result
from dctv.session import Session
from dctv.syntax import ast
from dctv.syntax.parse import parse
from tests.sqltest import BLOCK, ROOT
from tests.ways import _chosen, rows_of

_AGAIN = "a different attempt has already produced job output"
"""What Sail says if it took a task for lost and began it anew, which it does at times with workers of its own."""
_ATTEMPTS = 3
_HERE = re.compile(r"; it (?:ran|runs) here.*")


def every_query(_: Plan, __: ExecutionContext) -> bool:
    """Choose all queries."""
    return True


def with_spans(plan: Plan, _: ExecutionContext) -> bool:
    """Choose queries with span operators."""
    return any(isinstance(node, Kernel) for node in readers_first(plan))


@dataclass
class Tally:
    """What became of the queries of some files: of those that are chosen, on one engine, in one way."""

    remote: Remote
    way: str = "kernel"
    """How to carry out span operators."""
    chosen: Callable[[Plan, ExecutionContext], bool] = every_query
    elsewhere: int = 0
    """Queries that the engine carried out as a whole."""
    shared: int = 0
    """Queries of which it carried out a part."""
    reasons: Counter[str] = field(default_factory=Counter)
    """Why others, or parts of them, were carried out here."""
    differing: dict[str, str] = field(default_factory=dict)
    """By block: both results."""

    def lines(self) -> Iterator[str]:
        """Yield what people want to know of them."""
        yield f"queries with span_engine = {self.way}: {self.elsewhere} as a whole, {self.shared} in part"
        yield from (f"  {count} times: {reason}" for reason, count in self.reasons.most_common())
        yield from (f"{block}\n{text}" for block, text in self.differing.items())

    def check(self, least: int) -> None:
        """Demand equal results, and that the engine carried out so many queries, as a whole or in part."""
        assert not self.differing, "\n".join(self.lines())
        assert self.elsewhere + self.shared >= least, "\n".join(self.lines())


def run_files(files: Sequence[Path], *tallies: Tally) -> None:
    """Run the queries of some files in this process, and then as each tally says."""
    for path in files:
        _run_file(path, tallies)


def _run_file(path: Path, tallies: Sequence[Tally]) -> None:
    with Session(index=False) as session:
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            if block["name"] is not None:
                session.mount(str(ROOT / block["path"]), block["name"])
            elif block["kind"] == "query":
                _run_block(session, block["sql"], path, tallies)


def _run_block(session: Session, sql: str, path: Path, tallies: Sequence[Tally]) -> None:
    statements = parse(SourceText("<query>", sql))
    for statement, outcome in zip(statements, session.execute(sql), strict=True):
        if isinstance(outcome, Result):
            expected = _rows(outcome)
            if isinstance(statement, ast.SelectStatement):
                for tally in tallies:
                    _compare(session, statement, expected, f"{path.stem}: {' '.join(sql.split())}", tally)


def _rows(result: Result) -> list[str]:
    """Return the rows; divisions by zero are not counted elsewhere."""
    return [line for line in rows_of(result) if not line.startswith("warning: ")]


@contextmanager
def on_engine(session: Session, remote: Remote) -> Iterator[None]:
    """Let a session use an engine for a while."""
    chosen = session._context.chosen_engine
    chosen.remote = remote
    try:
        yield
    finally:
        chosen.remote = None


def _compare(session: Session, statement: ast.SelectStatement, expected: list[str], block: str, tally: Tally) -> None:
    context = session._context
    context.log.clear()
    with _chosen(session, span_engine=tally.way), deep_recursion(), on_engine(session, tally.remote):
        plan = Binder(environment(context)).plan(statement.select)
        if not tally.chosen(plan, context):
            return
        used = any(_is_elsewhere(one) for one in readers_first(optimized(plan, context)))
        try:
            found = _attempted(plan, context)
        except DctvError as error:
            tally.differing[block] = f"here: {expected!r}\nthere: {error}"
            return
    reasons = {_general(_HERE.sub("", message)) for message in context.log.entries if _HERE.search(message)}
    tally.reasons.update(reasons)
    tally.elsewhere += used and not reasons
    tally.shared += used and bool(reasons)
    if not statement.select.order_by:
        expected, found = sorted(expected), sorted(found)
    if expected != found:
        tally.differing[block] = f"here:  {expected!r}\nthere: {found!r}"


def _attempted(plan: Plan, context: ExecutionContext) -> list[str]:
    for attempt in range(_ATTEMPTS):
        context.log.clear()
        try:
            return _rows(result_of(plan, context))
        except DctvError as error:
            if _AGAIN not in error.message or attempt == _ATTEMPTS - 1:
                raise
    raise AssertionError(plan)


def _is_elsewhere(plan: Plan) -> bool:
    return isinstance(plan, Scan) and isinstance(plan.source, RemoteRows)


def _general(message: str) -> str:
    return re.sub(r"'.*'", "'...'", message)
