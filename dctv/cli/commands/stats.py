"""`dctv stats`: print a summary of a trace, from its index if there is one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_session_options, add_time_option
from dctv.cli.command import Command
from dctv.cli.formats import FOR_PEOPLE, add_format_option, writer_of
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.contracts.writer import Writer
from dctv.errors import IndexUnusable, UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.cli.measure import TraceMeasure
    from dctv.cli.task import TaskResources
    from dctv.index.summary import Summary

SECTIONS = ("times", "durations", "histogram", "categories", "names", "processes")
"""The sections in order."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv stats`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
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
    add_time_option(parser)
    parser.add_argument("--no-index", action="store_true", help="read the trace even if there is an index")
    parser.add_argument(
        "--index-dir", type=Path, metavar="DIR", help="look for indexes here (default: DCTV_INDEX_DIR, else the cache)"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Summarize and print; return the exit code."""
    from dctv.cli.task import carry_out, judge
    from dctv.console.wall_times import checked

    writer = writer_of(args.format, args.output)
    args.time = checked(args.time)
    sections = [name for name in SECTIONS if args.section is None or name in args.section]
    if len(sections) > 1 and not writer.many:
        raise UsageError(f"a file of format `{writer.name}` holds one result", hint="choose one --section")

    def work(desk: TaskResources) -> int:
        found = _found(args, desk)
        _write(found.summary, sections, writer, desk, _clock(args.time, found.properties))
        return judge(found.incomplete, OK, allow=args.allow_partial)

    return carry_out(args, [], work, args.output)


def _clock(zone: str, properties: Mapping[str, str]) -> Callable[[int], str] | None:
    """Return a formatter of the trace's times for a zone; None if they are shown unchanged."""
    from dctv.catalog.shifting import clock_of, unix_start
    from dctv.console.narration import print_stderr
    from dctv.console.wall_times import TRACE, Texts

    if zone == TRACE:
        return None
    start = unix_start(properties)
    if start is None:
        print_stderr(f"warning: the trace does not record when it began: it has {clock_of(properties)}")
        return None
    later, texts = start - int(properties["start_ns"]), Texts(zone)
    return lambda time: texts.text(time + later)


def _found(args: Namespace, desk: TaskResources) -> TraceMeasure:
    """Return a summary, with the reasons for an incomplete trace if the session does not know them."""
    from dctv.cli.measure import TraceMeasure, indexed, measured
    from dctv.console.narration import print_stderr

    if not args.exact and not args.no_index:
        try:
            index = indexed(args.traces, args.index_dir, lambda reason: print_stderr(f"warning: {reason}"))
        except IndexUnusable as error:
            print_stderr(f"warning: {error.message}")
            index = None
        if index is not None:
            return index
    desk.session.mount(args.traces, "trace")
    desk.check()
    return TraceMeasure(measured(desk.session), [], desk.session.properties("trace"))


def _write(
    summary: Summary, sections: list[str], writer: Writer, desk: TaskResources, clock: Callable[[int], str] | None
) -> None:
    from dctv.cli.figures import section
    from dctv.console.narration import print_stderr

    desk.bar.clear()
    if summary.processes is None and "processes" in sections:
        sections = [name for name in sections if name != "processes"]
        print_stderr("note: the index does not count the events of each process; --exact does")
    for number, name in enumerate(sections):
        if number:
            desk.sink.separate(writer.between)
        writer.write(section(name, summary, readable=writer.name in FOR_PEOPLE, clock=clock), desk.sink.stream)
        desk.sink.stream.flush()


STATS = Command("stats", "summarize a trace: times, counts, durations", configure, run)
