"""`dctv report`: adds up the calls of a trace by function or thread, as `uftrace report` does."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.options import add_filter_options
from dctv.cli.command import Command
from dctv.console.verdict import OK
from dctv.errors import nearest

_FIELDS = (
    "total",
    "self",
    "call",
    "size",
    *(f"{a}-{b}" for a in ("total", "self") for b in ("avg", "min", "max", "stdv")),
)
_KEYS = ("total", "self", "call", "avg", "min", "max", "stdv", "size", "func")
_USUAL = ("total", "self", "call")


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv report`."""
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="files, folders or patterns: together one trace")
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--avg-total", action="store_true", help="average, shortest, longest and deviation of calls")
    choice.add_argument("--avg-self", action="store_true", help="likewise, without the calls within")
    choice.add_argument("--task", action="store_true", help="add up by thread")
    parser.add_argument(
        "-f",
        "--output-fields",
        dest="fields",
        type=_fields,
        metavar="FIELD[,FIELD]",
        help=f"{', '.join(_FIELDS)}; +FIELD adds",
    )
    parser.add_argument("-s", "--sort", type=_list(_KEYS, "key"), metavar="KEY[,KEY]", help=", ".join(_KEYS))
    parser.add_argument("--no-libcall", action="store_true", help="leave out calls of libraries")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="write here, and only if all goes well")
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _list(known: Sequence[str], what: str) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        for name in text.split(","):
            if name not in known:
                near = nearest(name, list(known))
                hint = f"did you mean `{near}`?" if near else "see --help"
                raise ArgumentTypeError(f"unknown {what} `{name}`, {hint}")
        return tuple(text.split(","))

    return read


def _fields(text: str) -> tuple[str, ...]:
    names = _list(_FIELDS, "field")(text.removeprefix("+"))
    return (*_USUAL, *(name for name in names if name not in _USUAL)) if text.startswith("+") else names


def run(args: Namespace) -> int:
    """Mount, filter, add up, print; return the exit code."""
    from dctv.cli.call_trees.light import report_lightly

    average = "self" if args.avg_self else "total" if args.avg_total else None
    if average is not None:
        args.fields = args.fields or tuple(f"{average}-{one}" for one in ("avg", "min", "max", "stdv"))
    args.sort = args.sort or (("avg",) if average is not None else ("total",))
    return OK if report_lightly(args, args.fields or _USUAL) else _report(args)


def _report(args: Namespace) -> int:
    from dctv.cli.call_trees.queries import TRACE, library_calls, source_of
    from dctv.cli.call_trees.report import write_functions, write_threads
    from dctv.cli.errand import Desk, carry_out

    def work(desk: Desk) -> int:
        source = source_of(desk.session)
        if args.no_libcall:
            args.hide = [*(args.hide or ()), *library_calls(desk.session, source, args.match)]
        if args.task:
            write_threads(desk.session, args, source, desk.sink.stream)
        else:
            write_functions(desk.session, args, source, args.fields or _USUAL, desk.sink.stream)
        desk.sink.stream.flush()
        return OK

    return carry_out(args, [(TRACE, args.traces)], work, args.output)


REPORT = Command("report", "add up calls by function or thread", configure, run)
