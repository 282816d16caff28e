"""`dctv flame`: draw sums of calls, slices or samples by stack as an SVG flame graph with zoom."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.options import add_filter_options
from dctv.cli.command import Command
from dctv.cli.flame.queries import SOURCES, WEIGHTS
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv flame`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    parser.add_argument(
        "--from", dest="origin", choices=SOURCES, help="what frames are made of (default: what the trace has)"
    )
    parser.add_argument(
        "--weight", choices=WEIGHTS, help="what a sample counts as (default: count; period if they have no times)"
    )
    parser.add_argument(
        "--event",
        dest="events",
        action="append",
        metavar="EVENT",
        help="take only samples of this event, as `samples.samples` names it; may be repeated",
    )
    parser.add_argument(
        "--diff", metavar="OTHER", help="compare with another trace: red took longer here, blue took longer there"
    )
    parser.add_argument("--inverted", action="store_true", help="outermost functions at the top")
    parser.add_argument("--reverse", action="store_true", help="add up from the innermost functions")
    parser.add_argument(
        "--min-width",
        type=_width,
        default=0.1,
        metavar="UNITS",
        help="leave out frames narrower than this, of 1180 (default: 0.1)",
    )
    parser.add_argument("--title", metavar="TEXT", help="heading (default: the name of the trace)")
    parser.add_argument("--no-libcall", action="store_true", help="leave out library calls")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _width(text: str) -> float:
    try:
        found = float(text)
    except ValueError:
        found = -1.0
    if not 0 <= found <= 100:
        raise ArgumentTypeError(f"expected a number from 0 to 100, found `{text}`")
    return found


def run(args: Namespace) -> int:
    """Mount, filter, sum, draw; return the exit code."""
    from dctv.cli.call_trees.queries import OTHER, TRACE
    from dctv.cli.flame.drawing import draw
    from dctv.cli.task import TaskResources, carry_out

    def work(desk: TaskResources) -> int:
        for piece in draw(desk.session, args):
            desk.sink.stream.write(piece.encode())
        desk.sink.stream.flush()
        return OK

    mounts = [(TRACE, args.traces), *([(OTHER, [args.diff])] if args.diff is not None else [])]
    return carry_out(args, mounts, work, args.output)


FLAME = Command("flame", "draw calls, slices or samples as a flame graph (SVG)", configure, run)
