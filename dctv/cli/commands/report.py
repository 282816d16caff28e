"""`dctv report`: sum the calls of a trace by function or thread, like `uftrace report`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Callable, Sequence
from pathlib import Path

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.differences import DIFFERENCE, POLICIES, DifferencePolicy, policy_of
from dctv.cli.call_trees.options import add_filter_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.cli.terminal import add_terminal_options, look
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest

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
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    choice = parser.add_mutually_exclusive_group()
    choice.add_argument("--avg-total", action="store_true", help="average, shortest, longest and deviation of calls")
    choice.add_argument("--avg-self", action="store_true", help="likewise, without the calls inside them")
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
    parser.add_argument("--diff", metavar="OTHER", help="show how another trace differs")
    parser.add_argument(
        "--diff-policy",
        type=policy_of,
        default=DifferencePolicy(),
        metavar="WORD[,WORD]",
        help=f"{', '.join(POLICIES)} (default: abs,no-percent,compact)",
    )
    parser.add_argument(
        "--sort-column",
        type=int,
        choices=(0, 1, DIFFERENCE),
        default=DIFFERENCE,
        help="sort by what the trace has, the other one, or the difference (default)",
    )
    parser.add_argument("--no-libcall", action="store_true", help="leave out library calls")
    parser.add_argument("--no-event", action="store_true", help="leave out the times when threads were off the CPU")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_terminal_options(parser)
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _list(allowed: Sequence[str], what: str) -> Callable[[str], tuple[str, ...]]:
    def read(text: str) -> tuple[str, ...]:
        for name in text.split(","):
            if name not in allowed:
                near = nearest(name, list(allowed))
                hint = f"did you mean `{near}`?" if near else "see --help"
                raise ArgumentTypeError(f"unknown {what} `{name}`, {hint}")
        return tuple(text.split(","))

    return read


def _fields(text: str) -> tuple[str, ...]:
    names = _list(_FIELDS, "field")(text.removeprefix("+"))
    return (*_USUAL, *(name for name in names if name not in _USUAL)) if text.startswith("+") else names


def run(args: Namespace) -> int:
    """Mount, filter, sum, print; return the exit code."""
    from dctv.cli.call_trees.light import report_lightly

    if args.task and args.diff is not None:
        raise UsageError("--diff compares functions, expected no --task with it")
    average = "self" if args.avg_self else "total" if args.avg_total else None
    if average is not None:
        args.fields = args.fields or tuple(f"{average}-{one}" for one in ("avg", "min", "max", "stdv"))
    args.sort = args.sort or (("avg",) if average is not None else ("total",))
    args = look(args)
    return OK if report_lightly(args, args.fields or _USUAL) else _report(args)


def _report(args: Namespace) -> int:
    from dctv.cli.call_trees.differences import write_differences
    from dctv.cli.call_trees.legible import shown
    from dctv.cli.call_trees.queries import OTHER, TRACE, resolved, source_of
    from dctv.cli.call_trees.report import write_functions, write_threads
    from dctv.cli.task import TaskResources, carry_out

    def work(desk: TaskResources) -> int:
        source, fields = source_of(desk.session), args.fields or _USUAL
        own = resolved(desk.session, source, args)
        with shown(args, desk.sink.stream) as out:
            if args.task:
                write_threads(desk.session, own, source, out)
            elif args.diff is not None:
                write_differences(desk.session, args, (source, source_of(desk.session, OTHER)), fields, out)
            else:
                write_functions(desk.session, own, source, fields, out)
        return OK

    mounts = [(TRACE, args.traces), *([(OTHER, [args.diff])] if args.diff is not None else [])]
    return carry_out(args, mounts, work, args.output)


REPORT = Command("report", "add up calls by function or thread", configure, run)
