"""`dctv info`: print the metadata of a trace, or its threads, like `uftrace info`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv info`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    parser.add_argument("--task", action="store_true", help="print its threads instead")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_session_options(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount and print; return the exit code."""
    from dctv.cli.call_trees.info import write_info, write_tasks
    from dctv.cli.call_trees.legible import shown
    from dctv.cli.call_trees.lookups import properties_of
    from dctv.cli.call_trees.queries import TRACE, source_of
    from dctv.cli.call_trees.recording import recording_of
    from dctv.cli.task import TaskResources, carry_out

    def work(desk: TaskResources) -> int:
        source, recording = source_of(desk.session), recording_of(args.traces)
        with shown(args, desk.sink.stream) as out:
            if args.task:
                write_tasks(desk.session, source, recording, out)
            else:
                write_info(desk.session, source, recording, properties_of(desk.session), out)
        return OK

    return carry_out(args, [(TRACE, args.traces)], work, args.output)


INFO = Command("info", "print the metadata of a trace, or its threads", configure, run)
