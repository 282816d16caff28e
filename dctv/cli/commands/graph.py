"""`dctv graph`: print the call graph with sums, like `uftrace graph`."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.call_trees.options import add_filter_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.errors import UsageError, nearest

_FIELDS = ("total", "self", "addr", *(f"{a}-{b}" for a in ("total", "self") for b in ("avg", "max", "min")))
_TASK_FIELDS = ("total", "self", "tid")
_LONG = {"total-time": "total", "self-time": "self", "address": "addr"}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv graph`."""
    parser.add_argument("traces", nargs=1, type=only_path, metavar="TRACE", help="a file, folder or pattern")
    parser.add_argument("function", nargs="?", metavar="FUNC", help="only what this function calls, and what called it")
    parser.add_argument("--task", action="store_true", help="print which threads created which, and how long they ran")
    parser.add_argument(
        "-f",
        "--output-fields",
        dest="fields",
        metavar="FIELD[,FIELD]",
        type=_fields,
        help=f"columns: {', '.join(_FIELDS)}; none, all; +FIELD adds to total; with --task {', '.join(_TASK_FIELDS)}",
    )
    parser.add_argument("--no-event", action="store_true", help="leave out the times when threads were off the CPU")
    parser.add_argument("--no-libcall", action="store_true", help="leave out library calls")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_filter_options(parser)
    add_session_options(parser)
    add_index_options(parser)


def _fields(text: str) -> tuple[str, ...]:
    if text in ("none", "all"):
        return () if text == "none" else _FIELDS
    names = [_LONG.get(name, name) for name in text.removeprefix("+").split(",")]
    for name in names:
        if name not in _FIELDS and name not in _TASK_FIELDS:
            near = nearest(name, list(_FIELDS))
            raise ArgumentTypeError(f"unknown field `{name}`, " + (f"did you mean `{near}`?" if near else "see --help"))
    selected = {*names, *(("total",) if text.startswith("+") else ())}
    return tuple(one for one in (*_FIELDS, "tid") if one in selected)


def run(args: Namespace) -> int:
    """Mount, filter, sum, print; return the exit code."""
    from dctv.cli.call_trees.graph import FIELDS, TASK_FIELDS, write_graph, write_tasks
    from dctv.cli.call_trees.legible import shown
    from dctv.cli.call_trees.queries import TRACE, resolved, source_of
    from dctv.cli.task import TaskResources, carry_out

    if args.task and args.function is not None:
        raise UsageError(f"--task prints threads, expected no function with it, found `{args.function}`")
    field_names = TASK_FIELDS if args.task else FIELDS
    names = (tuple(TASK_FIELDS) if args.task else ("total",)) if args.fields is None else args.fields
    for name in names:
        if name not in field_names:
            raise UsageError(f"expected one of the fields {', '.join(field_names)}, found `{name}`")
    columns = [field_names[name] for name in names]
    if args.function is not None:
        args.function = args.function.encode("utf-8", "replace").decode()

    def work(desk: TaskResources) -> int:
        source = source_of(desk.session)
        own = resolved(desk.session, source, args)
        write = write_tasks if args.task else write_graph
        with shown(args, desk.sink.stream) as out:
            write(desk.session, own, source, columns, out)
        return OK

    return carry_out(args, [(TRACE, args.traces)], work, args.output)


GRAPH = Command("graph", "print the call graph, with totals", configure, run)
