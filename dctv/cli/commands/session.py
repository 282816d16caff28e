"""`dctv session`: start, stop and list processes that keep traces mounted for later commands."""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS
from typing import TYPE_CHECKING

from dctv.cli.arguments import (
    add_file_option,
    add_index_options,
    add_manifest_option,
    add_session_options,
)
from dctv.cli.command import Command
from dctv.cli.mounts import TRACES, parse_mounts
from dctv.cli.sizes import seconds
from dctv.console.verdict import OK
from dctv.errors import UsageError
from dctv.home import expanded

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv session`."""
    parser.add_argument(
        "what", choices=["start", "stop", "list"], help="start a session, end one, or list those that run"
    )
    parser.add_argument(
        "words", nargs="*", metavar="NAME | PATH | NAME=PATH", help=f"name of the session; start: {TRACES}"
    )
    parser.add_argument(
        "--idle",
        type=seconds,
        default=1800.0,
        metavar="TIME",
        help="start: end it after this time without a command (default: 30min)",
    )
    parser.add_argument(
        "--foreground", action="store_true", help="start: keep it in this process, until Ctrl-C or `dctv session stop`"
    )
    parser.add_argument("--ready", action="store_true", help=SUPPRESS)
    add_manifest_option(parser)
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Start, stop or list; return the exit code."""
    if args.what == "list":
        if args.words:
            raise UsageError(f"found `{args.words[0]}`, expected `dctv session list` alone")
        return _list()
    if not args.words:
        raise UsageError("found no name of a session", hint="dctv session start work t=trace.json")
    name, *traces = args.words
    if args.what == "stop":
        if traces:
            raise UsageError(f"found `{traces[0]}`, expected one name")
        return _stop(name)
    return _start(args, name, traces)


def _start(args: Namespace, name: str, traces: list[str]) -> int:
    from dctv.cli.warm.keeping import run_session, start_session
    from dctv.cli.warm.place import checked
    from dctv.console.narration import print_stderr

    mounts = parse_mounts(traces)
    if not args.foreground:
        return start_session(args.line)
    for remark in mounts.remarks:
        print_stderr(remark)
    return run_session(args, checked(name), [(called, _absolute(path)) for called, path in mounts.traces])


def _absolute(path: str) -> str:
    """Return an absolute form of a path."""
    from dctv.console.files import FLEET, is_fleet

    mark = FLEET if is_fleet(path) else ""
    return mark + os.fspath(expanded(path.removeprefix(mark)).absolute())


def _stop(name: str) -> int:
    from dctv.cli.warm.keeping import stop

    stop(name)
    return OK


def _list() -> int:
    from dctv.cli.sizes import age_text
    from dctv.cli.warm.place import running
    from dctv.visible import visible

    for one in running():
        traces = " ".join(f"{name}={path}" for name, path in one.mounts)
        sys.stdout.write(f"{one.name}  {age_text(one.started)}  {visible(traces) or 'no traces'}\n")
    return OK


SESSION = Command(
    "session",
    "keep traces mounted for many commands",
    configure,
    run,
    ("start work t=trace.json      then: dctv query --session work 'SELECT ...'", "list", "stop work"),
)
