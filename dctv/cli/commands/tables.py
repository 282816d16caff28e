"""`dctv tables`: list the tables and functions of traces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_index_options, add_manifest_option, add_session_options, add_warm_option
from dctv.cli.command import Command
from dctv.cli.formats import add_format_option, writer_of
from dctv.cli.mounts import TRACES, WORD, parse_mounts
from dctv.console.verdict import OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv tables`."""
    parser.add_argument("mounts", nargs="*", metavar=WORD, help=TRACES)
    parser.add_argument(
        "--like",
        metavar="PATTERN",
        default="",
        help="only names that begin like this, such as t.sched, or match a pattern, such as '*wake*'",
    )
    parser.add_argument("--all", action="store_true", help="also list tables whose events the trace lacks")
    add_format_option(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_manifest_option(parser)
    add_warm_option(parser)
    add_session_options(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount and list; return the exit code."""
    from dctv.cli.task import TaskResources, announced, carry_out
    from dctv.console.listing import list_tables
    from dctv.console.narration import print_stderr

    writer = writer_of(args.format, args.output)
    if not args.mounts and args.session is None:
        raise UsageError("found no trace to mount", hint="give its path, or NAME=PATH: dctv tables t=trace.json")

    def work(desk: TaskResources) -> int:
        listed = list_tables(desk.session, args.like, everything=args.all)
        writer.write(listed.listing, desk.sink.stream)
        desk.sink.stream.flush()
        if listed.hidden:
            print_stderr(listed.remark("--all"))
        return OK

    return carry_out(args, announced(args, parse_mounts(args.mounts)), work, args.output)


TABLES = Command("tables", "list the tables of traces", configure, run, ("t=trace.json", "t=trace.json --like t.io"))
