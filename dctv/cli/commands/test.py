"""`dctv test`: run SQL files and compare their output with the files of expected results beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from dctv.cli.arguments import (
    MOUNT,
    add_file_option,
    add_index_options,
    add_manifest_option,
    add_session_options,
    parameters,
)
from dctv.cli.ci import add_report_options
from dctv.cli.command import Command
from dctv.cli.mounts import parse_mounts
from dctv.console.files import exists

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv test`."""
    parser.add_argument(
        "words",
        nargs="+",
        metavar="FILE | DIR | NAME=PATH",
        help="SQL files, or folders of them; traces to mount for each of them. "
        "report.sql must print what report.expected says, and its ASSERTs and EXPECTs must hold",
    )
    parser.add_argument("--update", action="store_true", help="write what is printed now to the .expected files")
    parser.add_argument("--param", action="append", default=[], metavar="K=V", help="value of :K, such as limit=5ms")
    add_report_options(parser, each="each file")
    add_manifest_option(parser)
    add_session_options(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Run every file; return the exit code."""
    from dctv.cli.expectations import find_tests, run_tests

    named = [word for word in args.words if MOUNT.fullmatch(word) and not exists(word)]
    paths = [word for word in args.words if word not in named]
    return run_tests(args, find_tests(paths), parse_mounts(named).traces, parameters(args.param))


TEST = Command("test", "compare the output of SQL files with what is expected", configure, run)
