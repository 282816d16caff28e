"""`dctv tables`: lists what traces offer to query."""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from dctv.cli.arguments import add_session_options, judge_partial, only_mounts, open_session
from dctv.cli.command import Command
from dctv.console.attended import Check, attended, end_process
from dctv.console.listing import Listing
from dctv.console.progress import ProgressBar
from dctv.console.sink import stdout_sink
from dctv.errors import UsageError
from dctv.writers.table import TABLE


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv tables`."""
    parser.add_argument("mounts", nargs="*", metavar="NAME=PATH", help="traces to mount")
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Mount and list; return the exit code."""
    mounts = only_mounts(args.mounts)
    if not mounts:
        raise UsageError("found no trace, expected NAME=PATH")
    bar = ProgressBar()
    with stdout_sink(bar.clear) as sink:
        session = open_session(args, bar.update)

        def work(check: Check) -> None:
            for name, path in mounts:
                session.mount(path, name)
                check()
            infos = sorted(session.tables(), key=lambda info: info.name)
            rows = [(info.name, info.kind, info.doc.split("\n", 1)[0]) for info in infos]
            TABLE.write(Listing(("name", "kind", "about"), rows), sink.stream)

        try:
            attended(work, session.interrupt, end_process)
            return judge_partial(session, allow=args.allow_partial)
        finally:
            bar.clear()
            session.close()


TABLES = Command("tables", "list the tables of traces", configure, run)
