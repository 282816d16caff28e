"""`dctv repl`: an interactive prompt; if stdin is a pipe, read statements from it."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_file_option, add_index_options, add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import TRACES, WORD, parse_mounts

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv repl`."""
    parser.add_argument("mounts", nargs="*", metavar=WORD, help=TRACES)
    parser.add_argument("--no-config", action="store_true", help="read no configuration file")
    # Users who type may connect to an engine, unlike texts that others wrote.
    parser.set_defaults(allow_engines=True)
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount, then run the prompt until the end of input; return the exit code."""
    from dctv.cli.task import announced, open_session
    from dctv.console.progress import ProgressBar
    from dctv.repl.conversation import Conversation
    from dctv.repl.loops import converse

    mounts = announced(args, parse_mounts(args.mounts))
    bar = ProgressBar()
    session = open_session(args, bar)
    talk = Conversation(session, bar, sys.stdin.isatty(), args.allow_partial)
    try:
        return converse(talk, mounts, configured=not args.no_config)
    finally:
        bar.clear()
        talk.destination.close()
        if talk.serving is not None:
            talk.serving.stop()
        session.close()


REPL = Command("repl", "run queries at an interactive prompt", configure, run)
