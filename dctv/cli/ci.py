"""Options for unattended runs: conditions of failure, time limits, reports."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError
from pathlib import Path

from dctv.cli.arguments import add_time_option, positive
from dctv.cli.sizes import seconds

ALL, LAST = "all", "last"


def add_result_options(parser: ArgumentParser) -> None:
    """Add conditions on results, and what to do after errors."""
    parser.add_argument("--limit", type=positive, metavar="N", help="write at most the first N rows of each result")
    parser.add_argument(
        "--result",
        type=_wanted,
        default=ALL,
        metavar="all|last|N",
        help="write all results (default), only the last one, or only the Nth; others are not computed",
    )
    add_time_option(parser)
    parser.add_argument("--fail-on-rows", action="store_true", help="exit with 1 if any result has rows")
    parser.add_argument("--fail-if-empty", action="store_true", help="exit with 1 if any result has no rows")
    parser.add_argument(
        "--on-error",
        choices=["stop", "continue"],
        default="stop",
        help="after an error, stop (default) or continue with the next statement; the worst error sets the exit code",
    )
    parser.add_argument(
        "--stats",
        choices=["json"],
        help="end stderr with a line of JSON: exit code, seconds, rows, assertions, errors, versions",
    )


def _wanted(text: str) -> int | str:
    if text in {ALL, LAST}:
        return text
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"found `{text}`, expected all, last or a number from 1")
    return int(text)


def add_report_options(parser: ArgumentParser, *, each: str = "") -> None:
    """Add reports of failures, and the time limit for `each` unit."""
    parser.add_argument(
        "--junit", type=Path, metavar="FILE", help="report every ASSERT and EXPECT as a JUnit test case in this file"
    )
    parser.add_argument("--github", action="store_true", help="annotate the lines of errors in GitHub")
    parser.add_argument(
        "--timeout",
        type=seconds,
        metavar="TIME",
        help=f"stop {each or 'everything'} after this time, such as 90s (exit code 124)",
    )
    parser.add_argument("--quiet", action="store_true", help="print errors only: no warnings, remarks or progress")
