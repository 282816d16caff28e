"""`dctv ui`: serve a page for the browser that shows traces and runs queries."""

from __future__ import annotations

import sys
from argparse import ArgumentTypeError
from time import sleep
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_file_option, add_index_options, add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import WORD, parse_mounts
from dctv.console.verdict import OK

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.cli.texts import SqlText
    from dctv.console.attended import Check
    from dctv.console.progress import ProgressBar
    from dctv.session import Session
    from dctv.web.service import Service

_MOST_PORT = 65_535


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv ui`."""
    parser.add_argument("words", nargs="*", metavar=WORD, help="traces to show; more can be dropped on the page")
    parser.add_argument(
        "-f", "--file", action="append", default=[], metavar="FILE", help="run this SQL first: views, or a report"
    )
    parser.add_argument("--port", type=_port, default=0, metavar="N", help="(default: one that is free)")
    parser.add_argument("--no-open", action="store_true", help="only print the address, open no browser")
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def _port(text: str) -> int:
    if not text.isdecimal() or len(text) > 5 or int(text) > _MOST_PORT:
        raise ArgumentTypeError(f"found `{text}`, expected a number from 0 to {_MOST_PORT}")
    return int(text)


def run(args: Namespace) -> int:
    """Serve until Ctrl-C, the normal end; return the exit code."""
    from dctv.cli.task import open_session
    from dctv.cli.texts import read_texts
    from dctv.console.narration import print_stderr
    from dctv.console.progress import ProgressBar
    from dctv.errors import Interrupted, Terminated

    mounts = parse_mounts(args.words).traces
    texts = read_texts([], args.file) if args.file else []
    bar = ProgressBar()
    session = open_session(args, bar)
    try:
        with session.serve(port=args.port) as serving:
            # Before pages learn the address: files dropped on them later are mounted under other names.
            serving.service.expect(mounts)
            _announce(serving.address, opens=not args.no_open)
            _serve(session, serving.service, bar, [name for name, _ in mounts], texts)
    except Terminated:
        raise
    except Interrupted:
        bar.clear()
        print_stderr("stopped")
    finally:
        bar.clear()
        session.close()
    return OK


def _announce(address: str, *, opens: bool) -> None:
    from dctv.console.narration import print_stderr
    from dctv.web import page
    from dctv.web.browser import open_browser

    if not page.is_built():
        print_stderr(f"warning: {page.MISSING}")
        print_stderr(f"hint: {page.WAY_OUT}")
    sys.stdout.write(f"{address}\n")
    sys.stdout.flush()
    if sys.stdout.isatty():
        print_stderr("Ctrl-C stops it.")
    if opens:
        open_browser(address)


def _serve(session: Session, service: Service, bar: ProgressBar, names: list[str], texts: list[SqlText]) -> None:
    from dctv.console.attended import attended, end_process

    def work(check: Check) -> None:
        _prepare(session, service, bar, names, check)
        for text in texts:
            check()
            _report(service, text, bar)
        while True:
            check()
            sleep(_LOOK)

    attended(work, session.interrupt, end_process)


def _prepare(session: Session, service: Service, bar: ProgressBar, names: list[str], check: Check) -> None:
    """Mount the given traces; a failure is reported here and on the page, and does not affect other traces."""
    from dctv.cli.task import note_warnings
    from dctv.console.narration import complain, print_stderr

    for name in names:
        check()
        error = service.mount(name)
        bar.clear()
        if error is not None:
            complain(error)
        else:
            note_warnings(session, bar)
    for reason in session.incomplete():
        print_stderr(f"warning: {reason}")


def _report(service: Service, text: SqlText, bar: ProgressBar) -> None:
    from dctv.console.narration import complain

    error = service.run_report(text.name, text.sql, text.base)
    bar.clear()
    if error is not None:
        complain(error)


_LOOK = 0.1
UI = Command("ui", "show traces on a page in the browser", configure, run)
