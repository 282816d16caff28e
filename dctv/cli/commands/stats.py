"""`dctv stats`: prints what a trace amounts to, from its index where there is one."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_session_options
from dctv.cli.command import Command
from dctv.cli.formats import FOR_PEOPLE, add_format_option, writer_of
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.contracts.writer import Writer
from dctv.errors import IndexUnusable, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.cli.errand import Desk
    from dctv.index.summary import Summary

SECTIONS = ("times", "durations", "histogram", "categories", "names", "processes")
"""What there is to print, in this order."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv stats`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, which make one trace together",
    )
    parser.add_argument(
        "--exact",
        action="store_true",
        help="read all events for exact quantiles; those of an index are within 1%%: ~p50",
    )
    parser.add_argument(
        "--section", action="append", choices=SECTIONS, help="print only this table; may be repeated (default: all)"
    )
    add_format_option(parser)
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    parser.add_argument("--no-index", action="store_true", help="read the trace even if there is an index")
    parser.add_argument(
        "--index-dir", type=Path, metavar="DIR", help="look for indexes here (default: DCTV_INDEX_DIR, else the cache)"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Summarize and print; return the exit code."""
    from dctv.cli.errand import carry_out, judge

    writer = writer_of(args.format, args.output)
    wanted = [name for name in SECTIONS if args.section is None or name in args.section]
    if len(wanted) > 1 and not writer.many:
        raise UsageError(f"a file of format `{writer.name}` holds one result", hint="choose one --section")

    def work(desk: Desk) -> int:
        summary, partial = _summary(args, desk)
        _write(summary, wanted, writer, desk)
        return judge(partial, OK, allow=args.allow_partial)

    return carry_out(args, [], work, args.output)


def _summary(args: Namespace, desk: Desk) -> tuple[Summary, list[str]]:
    """Return a summary, and what kept the trace from being read whole if the session does not know it."""
    from dctv.cli.measure import indexed, measured
    from dctv.console.narration import say

    if not args.exact and not args.no_index:
        try:
            known = indexed(args.traces, args.index_dir, lambda reason: say(f"warning: {reason}"))
        except IndexUnusable as error:
            say(f"warning: {error.message}")
            known = None
        if known is not None:
            return known.summary, known.incomplete
    desk.session.mount(args.traces, "trace")
    desk.check()
    return measured(desk.session), []


def _write(summary: Summary, wanted: list[str], writer: Writer, desk: Desk) -> None:
    from dctv.cli.figures import section
    from dctv.console.narration import say

    desk.bar.clear()
    if summary.processes is None and "processes" in wanted:
        wanted = [name for name in wanted if name != "processes"]
        say("note: the index does not tell the events of each process, --exact counts them")
    for number, name in enumerate(wanted):
        if number:
            desk.sink.separate(writer.between)
        writer.write(section(name, summary, readable=writer.name in FOR_PEOPLE), desk.sink.stream)
        desk.sink.stream.flush()


STATS = Command("stats", "summarize a trace: times, counts, durations", configure, run)
