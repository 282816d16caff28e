"""`dctv tables`: lists what traces offer to query."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.cli.arguments import add_index_options, add_session_options, only_mounts
from dctv.cli.command import Command
from dctv.console.verdict import OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv tables`."""
    parser.add_argument("mounts", nargs="*", metavar="NAME=PATH", help="traces to mount")
    add_session_options(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount and list; return the exit code."""
    from dctv.cli.errand import Desk, carry_out
    from dctv.console.listing import list_tables
    from dctv.writers.table import TABLE

    mounts = only_mounts(args.mounts)
    if not mounts:
        raise UsageError("found no trace, expected NAME=PATH")

    def work(desk: Desk) -> int:
        TABLE.write(list_tables(desk.session), desk.sink.stream)
        return OK

    return carry_out(args, mounts, work)


TABLES = Command("tables", "list the tables of traces", configure, run)
