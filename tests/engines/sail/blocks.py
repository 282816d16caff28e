"""Runs the blocks of `.test` files on DuckDB and on Sail, and tells how they differ."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from dctv.bind.binder import Binder
from dctv.errors import Source
from dctv.run.plans import environment, result_of
from dctv.run.recursion import deep_recursion
from dctv.run.result import Result
from dctv.session import Session
from dctv.syntax import ast
from dctv.syntax.parse import parse
from tests.engines.sail.regions import on_sail
from tests.engines.sail.served import Sail
from tests.sqltest import BLOCK, ROOT
from tests.ways import _chosen, rows_of


@dataclass
class Tally:
    """What became of the queries of all blocks, one way to carry out their span operators."""

    way: str
    ran: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    """By reason; on Spark there is nothing that means the same."""
    stopped: dict[str, str] = field(default_factory=dict)
    """By block: what Sail says that it cannot."""
    differing: dict[str, str] = field(default_factory=dict)
    """By block: its text for Spark, and both results."""

    def lines(self) -> Iterator[str]:
        """Yield what people want to know of them."""
        counts = f"{self.ran} ran on Sail, {self.refused.total()} were refused, {len(self.stopped)} stopped"
        yield f"queries of .test files, span_engine = {self.way}: {counts}"
        yield from (f"  refused {count} times: {reason}" for reason, count in self.refused.most_common())
        yield from (f"  stopped: {block}: {reason}" for block, reason in self.stopped.items())


def run_files(sail: Sail) -> list[Tally]:
    """Run the queries of all files, each on DuckDB, and in all ways on Sail."""
    tallies = [Tally("kernel"), Tally("relational")]
    for path in sorted((ROOT / "tests").glob("**/*.test")):
        _run_file(path, sail, tallies)
    return tallies


def _run_file(path: Path, sail: Sail, tallies: list[Tally]) -> None:
    with Session(index=False) as session:
        for block in BLOCK.finditer(path.read_text(encoding="utf-8")):
            if block["name"] is not None:
                session.mount(str(ROOT / block["path"]), block["name"])
            elif block["kind"] == "query":
                _run_block(session, block["sql"], path, sail, tallies)


def _run_block(session: Session, sql: str, path: Path, sail: Sail, tallies: list[Tally]) -> None:
    statements = parse(Source("<query>", sql))
    for statement, outcome in zip(statements, session.execute(sql), strict=True):
        if isinstance(outcome, Result):
            expected = _rows(outcome)
            if isinstance(statement, ast.SelectStatement):
                for tally in tallies:
                    _compare(session, statement, expected, f"{path.stem}: {' '.join(sql.split())}", sail, tally)


def _rows(result: Result) -> list[str]:
    """Return the rows; divisions by zero are not counted on Spark."""
    return [line for line in rows_of(result) if not line.startswith("warning: ")]


def _compare(
    session: Session, statement: ast.SelectStatement, expected: list[str], block: str, sail: Sail, tally: Tally
) -> None:
    with _chosen(session, span_engine=tally.way), deep_recursion(), on_sail(sail) as regions:
        try:
            plan = Binder(environment(session._context)).plan(statement.select)
            found = _rows(result_of(plan, session._context))
        except sail.failures as error:
            if regions.refusals:
                tally.refused[_general(regions.refusals[0].message)] += 1
            else:
                tally.stopped[block] = " ".join(str(error).split())[:200]
            return
    tally.ran += 1
    if not statement.select.order_by:
        expected, found = sorted(expected), sorted(found)
    if expected != found:
        tally.differing[block] = f"{regions.texts[-1]}\nDuckDB: {expected!r}\nSail:   {found!r}"


def _general(message: str) -> str:
    return re.sub(r"'.*'", "'...'", message)
