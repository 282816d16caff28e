"""`dctv explain`: shows how a query would run, or did run."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dctv.cli.arguments import add_session_options, judge_partial, open_session, parameters, split_mounts
from dctv.cli.command import Command
from dctv.console.attended import Check, attended, end_process
from dctv.console.narration import warn
from dctv.console.progress import ProgressBar
from dctv.console.sink import stdout_sink
from dctv.errors import UsageError
from dctv.session import Result
from dctv.writers.table import TABLE


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv explain`."""
    parser.add_argument("words", nargs="+", metavar="SQL | NAME=PATH", help="one query; traces to mount")
    parser.add_argument("--analyze", action="store_true", help="run the query and show rows and times too")
    parser.add_argument(
        "--param", action="append", default=[], metavar="K=V", help="value of :K, or of ?K for a number"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Mount and explain; return the exit code."""
    words, mounts = split_mounts(args.words)
    if len(words) != 1:
        raise UsageError(f"found {len(words)} queries, expected one", hint="quote the SQL as a whole")
    params = parameters(args.param)
    text = f"EXPLAIN {'ANALYZE ' if args.analyze else ''}{words[0]}"
    bar = ProgressBar()
    with stdout_sink(bar.clear) as sink:
        session = open_session(args, bar.update)

        def work(check: Check) -> None:
            for name, path in mounts:
                session.mount(path, name)
            for outcome in session.execute(text, params):
                if isinstance(outcome, Result):
                    TABLE.write(outcome, sink.stream)
                    warn(outcome.warnings)
                check()

        try:
            attended(work, session.interrupt, end_process)
            return judge_partial(session, allow=args.allow_partial)
        finally:
            bar.clear()
            session.close()


EXPLAIN = Command("explain", "show how a query runs", configure, run)
