"""`dctv compare`: compare the results of a query for the traces of two sides."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_file_option, add_index_options, add_session_options, positive
from dctv.cli.command import Command
from dctv.cli.comparing.options import add_question, add_running, add_verdict
from dctv.cli.formats import add_format_option
from dctv.console.verdict import OK

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv compare`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="NAME=TRACE | SQL",
        help="two sides, such as A=old.trace B='new/*.trace', the first one is the base; each trace is a run, "
        "called t in the SQL; one SQL text",
    )
    add_question(parser)
    add_verdict(parser)
    add_format_option(parser)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="write to this file once everything is compared, even if --fail-above fails",
    )
    parser.add_argument("--limit", type=positive, metavar="N", help="write the N largest differences of each metric")
    add_running(parser)
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Compare; return the exit code."""
    if args.list_metrics:
        return _list(args)
    from dctv.cli.comparing.request import request_of
    from dctv.cli.comparing.running import run_compare

    return run_compare(args, request_of(args))


def _list(args: Namespace) -> int:
    from dctv.cli.comparing.request import formats_of
    from dctv.cli.comparing.words import parse_sides
    from dctv.comparison.bundled import fitting, metrics
    from dctv.console.listing import Listing, write_listing
    from dctv.console.sink import stdout_sink

    found = fitting(formats_of(parse_sides(args.words).sides)) if args.words else list(metrics().values())
    rows = [(one.name, ", ".join(one.formats), one.doc) for one in found]
    if args.format is not None:
        return write_listing(Listing(("name", "formats", "about"), rows), args.format)
    width = max(len(name) for name, _, _ in rows)
    with stdout_sink(lambda: None) as sink:
        sink.stream.write("".join(f"{name:{width}}  {doc}\n" for name, _, doc in rows).encode())
    return OK


COMPARE = Command("compare", "compare the results of a query for two sets of traces", configure, run)
