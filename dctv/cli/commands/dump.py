"""`dctv dump`: write calls as records or for other tools, like `uftrace dump`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dctv.calls.language import time_of
from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.options import add_filter_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.errors import UsageError

_FORMATS = {
    "raw": "every begin and end, thread by thread; for uftrace directories, everything in them (default)",
    "chrome": "JSON for chrome://tracing and Perfetto's viewer",
    "flame-graph": "stacks and how often a sampler would have seen them, for flame graphs",
    "graphviz": "a graph of call counts, for dot",
    "mermaid": "the same, as a page",
}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv dump`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    choice = parser.add_argument_group("formats", "one of")
    for name, title in _FORMATS.items():
        choice.add_argument(f"--{name}", dest="formats", action="append_const", const=name, help=title)
    choice.add_argument(
        "--format", dest="formats", action="append", choices=tuple(_FORMATS), metavar="FORMAT", help="one of these"
    )
    parser.add_argument(
        "--sample-time",
        type=_time,
        metavar="TIME",
        help="with --flame-graph: how long a sample stands for; 0 counts calls (default: 1us, more if longer than 1s)",
    )
    parser.add_argument("--no-args", action="store_true", help="leave out arguments and results")
    parser.add_argument("--no-event", action="store_true", help="leave out events")
    parser.add_argument("--no-libcall", action="store_true", help="leave out library calls")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _time(text: str) -> int:
    try:
        return time_of(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def run(args: Namespace) -> int:
    """Mount, filter, write; return the exit code."""
    from dctv.cli.call_trees.dump import FORMATS
    from dctv.cli.call_trees.legible import shown
    from dctv.cli.call_trees.queries import TRACE, resolved, source_of
    from dctv.cli.task import TaskResources, carry_out

    chosen = list(dict.fromkeys(args.formats or ["raw"]))
    if len(chosen) > 1:
        raise UsageError(f"expected one format, found {' and '.join(f'`{name}`' for name in chosen)}")
    if args.sample_time is not None and chosen != ["flame-graph"]:
        raise UsageError(f"--sample-time requires --flame-graph, found `{chosen[0]}`")

    def work(desk: TaskResources) -> int:
        source = source_of(desk.session)
        own = resolved(desk.session, source, args)
        with shown(args, desk.sink.stream) as out:
            FORMATS[chosen[0]](desk.session, own, source, out)
        return OK

    return carry_out(args, [(TRACE, args.traces)], work, args.output)


DUMP = Command("dump", "write calls for other tools: records, Chrome, flame graphs, graphviz", configure, run)
