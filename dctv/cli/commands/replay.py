"""`dctv replay`: print the calls of a trace, nested, with their durations, like `uftrace replay`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.options import add_filter_options, is_filtered, since_first_call
from dctv.cli.call_trees.replay import FIELDS
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.cli.terminal import add_terminal_options, look
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv replay`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    parser.add_argument(
        "-f",
        "--output-fields",
        dest="fields",
        type=_fields,
        metavar="FIELD[,FIELD]",
        help=f"columns: {', '.join(FIELDS)}; none; +FIELD adds to duration,tid",
    )
    parser.add_argument("--no-args", action="store_true", help="leave out arguments and results")
    parser.add_argument("--no-comment", action="store_true", help="leave out the names behind closing braces")
    parser.add_argument("--no-event", action="store_true", help="leave out events")
    parser.add_argument("--no-libcall", action="store_true", help="leave out library calls")
    parser.add_argument("--flat", action="store_true", help="a line for each begin and end, for programs to read")
    parser.add_argument("--task-newline", action="store_true", help="an empty line where the thread changes")
    parser.add_argument("--no-merge", action="store_true", help="two lines for each call, even with nothing in it")
    parser.add_argument("--column-view", action="store_true", help="a column for each thread")
    parser.add_argument(
        "--column-offset", type=_offset, default=8, metavar="N", help="levels between these columns (default: 8)"
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_terminal_options(parser)
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _fields(text: str) -> tuple[str, ...]:
    if text == "none":
        return ()
    names = text.removeprefix("+").split(",")
    for name in names:
        if name not in FIELDS:
            near = nearest(name, list(FIELDS))
            raise ArgumentTypeError(f"unknown field `{name}`, " + (f"did you mean `{near}`?" if near else "see --help"))
    chosen = {*(("duration", "tid") if text.startswith("+") else ()), *names}
    return tuple(name for name in FIELDS if name in chosen)


def _offset(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 3:
        raise ArgumentTypeError(f"expected a number from 0 to 999, found `{text}`")
    return int(text)


def run(args: Namespace) -> int:
    """Mount, filter, print; return the exit code."""
    from dctv.cli.call_trees.legible import shown
    from dctv.cli.call_trees.queries import TRACE, first_call, resolved, shown_calls, source_of, without_events
    from dctv.cli.call_trees.replay import Style, colours, write_lines, write_remaining, write_stored
    from dctv.cli.call_trees.stored import stored_calls
    from dctv.cli.task import TaskResources, carry_out

    if args.flat and (args.no_libcall or is_filtered(args)):
        raise UsageError("--flat prints what was recorded, expected no filters with it")

    args = look(args)

    def work(desk: TaskResources) -> int:
        source = source_of(desk.session)
        own = resolved(desk.session, source, args)
        fields = _default(args) if args.fields is None else args.fields
        style = Style(
            fields=fields,
            args=not args.no_args,
            comments=not args.no_comment,
            flat=args.flat,
            task_newline=args.task_newline,
            colored=args.coloured,
            offset=args.column_offset if args.column_view else 0,
            merge=not args.no_merge,
            rules=colours(args),
            match=args.match,
            start=source.start,
            first=first_call(desk.session, source) if "elapsed" in fields else 0,
        )
        stored = stored_calls(desk.session, own, source)
        with shown(args, desk.sink.stream) as out:
            if stored is not None and stored.rules.in_order:
                write_stored(desk.session, stored, source, style, out, events=not args.no_event)
            else:
                chosen = without_events(source) if args.no_event else source
                query = shown_calls(own, chosen, tasks="task" in fields, events=True)
                write_lines(desk.session, query, style, out)
            write_remaining(desk.session, source, own, out)
        return OK

    return carry_out(args, [(TRACE, args.traces)], work, args.output)


def _default(args: Namespace) -> tuple[str, ...]:
    """Return the default columns, with times if a time range was given."""
    if args.time_range is None:
        return ("duration", "tid")
    return ("elapsed" if since_first_call(args) else "time", "duration", "tid")


REPLAY = Command("replay", "print nested calls with their durations", configure, run)
