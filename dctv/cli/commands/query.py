"""`dctv query`: run SQL from the command line, from files or from stdin, for interactive use, scripts and CI."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import (
    add_engine_option,
    add_file_option,
    add_index_options,
    add_manifest_option,
    add_session_options,
    add_warm_option,
    parameters,
)
from dctv.cli.ci import add_report_options, add_result_options
from dctv.cli.command import Command
from dctv.cli.fleet.options import add_each_options
from dctv.cli.formats import add_format_option, writer_of
from dctv.cli.mounts import TRACES, parse_mounts
from dctv.cli.texts import read_texts
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv query`."""
    parser.add_argument(
        "words",
        nargs="*",
        metavar="SQL | PATH | NAME=PATH",
        help=f"one SQL text; {TRACES}",
    )
    parser.add_argument(
        "-c",
        "--command",
        dest="commands",
        action="append",
        default=[],
        metavar="SQL",
        help="run this SQL; may be repeated",
    )
    parser.add_argument(
        "-f", "--file", action="append", default=[], help="run this file, after -c; - is stdin; may be repeated"
    )
    add_format_option(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    parser.add_argument(
        "--param",
        action="append",
        default=[],
        metavar="K=V",
        help="value of :K, such as limit=5ms, or of ?K and $K for a number",
    )
    add_manifest_option(parser)
    add_each_options(parser)
    add_result_options(parser)
    add_report_options(parser)
    add_warm_option(parser)
    add_session_options(parser)
    add_engine_option(parser)
    add_file_option(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount, execute, write; return the exit code."""
    from dctv.cli.batch import batch_of, run_batch
    from dctv.cli.task import announced
    from dctv.console.wall_times import checked

    mounts = parse_mounts(args.words, only=False)
    writer = writer_of(args.format, args.output)
    params = parameters(args.param)
    args.time = checked(args.time)
    texts = read_texts(mounts.others, args.file, args.commands)
    batch = batch_of(args, texts, params, writer)
    if args.each is not None:
        from dctv.cli.fleet.each import run_each

        if batch.goes_on:
            raise UsageError("--on-error continue cannot be combined with --each", hint="ask in several commands")
        return run_each(args, announced(args, mounts), batch)
    for option in ("jobs", "checkpoint"):
        if getattr(args, option) is not None:
            raise UsageError(f"--{option} requires --each")
    return run_batch(args, announced(args, mounts), batch)


QUERY = Command(
    "query",
    "run SQL and print the results",
    configure,
    run,
    (
        't=trace.json "SELECT name, COUNT(*) AS n FROM t.slices GROUP BY name ORDER BY n DESC"',
        "t=trace.json -f report.sql --format csv -o report.csv",
        """runs=@'runs/*.pfw.gz' "SELECT _trace, SUM(_duration) FROM runs.slices GROUP BY _trace\"""",
    ),
)
