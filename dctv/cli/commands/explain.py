"""`dctv explain`: show how a query would run, or did run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.cli.arguments import (
    add_file_option,
    add_index_options,
    add_manifest_option,
    add_session_options,
    add_warm_option,
    parameters,
)
from dctv.cli.command import Command
from dctv.cli.mounts import parse_mounts
from dctv.console.verdict import OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv explain`."""
    parser.add_argument("words", nargs="+", metavar="SQL | PATH | NAME=PATH", help="one query; traces to mount")
    manner = parser.add_mutually_exclusive_group()
    manner.add_argument("--analyze", action="store_true", help="run the query and show rows and times too")
    manner.add_argument("--sql", action="store_true", help="show the SQL that the engine runs")
    parser.add_argument("--param", action="append", default=[], metavar="K=V", help="value of :K, such as limit=5ms")
    add_manifest_option(parser)
    add_warm_option(parser)
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount and explain; return the exit code."""
    from dctv.cli.task import TaskResources, announced, carry_out
    from dctv.console.narration import warn
    from dctv.run.result import Result
    from dctv.writers.table import TABLE

    mounts = parse_mounts(args.words, only=False)
    words = mounts.others
    if len(words) != 1:
        raise UsageError(f"found {len(words)} queries, expected one", hint="quote the SQL as a whole")
    params = parameters(args.param)
    text = f"EXPLAIN {'ANALYZE ' if args.analyze else '(SQL) ' if args.sql else ''}{words[0]}"

    def work(desk: TaskResources) -> int:
        for outcome in desk.session.execute(text, params):
            if isinstance(outcome, Result):
                TABLE.write(outcome, desk.sink.stream)
                warn(outcome.warnings)
            desk.check()
        return OK

    return carry_out(args, announced(args, mounts), work)


EXPLAIN = Command("explain", "show how a query runs", configure, run)
