"""`dctv reorganize`: sort the events of traces into files by groups, and verify or undo that."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import FAILED, OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv reorganize`."""
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    parser.add_argument(
        "--group",
        action="append",
        default=[],
        metavar="NAME='FILTER'",
        help="events for which the filter is true go to NAME, or to the first such group; all others go to `rest`",
    )
    parser.add_argument("--format", choices=("text", "parquet"), default="text", help="of the files (default: text)")
    parser.add_argument("-o", "--output", type=Path, metavar="DIR", help="write here; the folder must be empty")
    parser.add_argument("--restore", action="store_true", help="rebuild the originals of the folder TRACE in DIR")
    parser.add_argument(
        "--verify", action="store_true", help="check that the folder TRACE holds every line exactly once"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Write groups, restore or verify; return the exit code."""
    from dctv.cli.task import TaskResources, carry_out

    if args.restore and args.verify:
        raise UsageError("found --restore and --verify, expected one of them")
    if args.restore or args.verify:
        if len(args.traces) != 1 or args.group:
            raise UsageError("--restore and --verify take one folder and no groups")
    elif not args.group:
        raise UsageError("found no --group", hint="write --group NAME='FILTER' once for each group")
    if not args.verify and args.output is None:
        raise UsageError("found no -o", hint="name a folder to write to")
    work = _verify if args.verify else _restore if args.restore else _reorganize

    def errand(desk: TaskResources) -> int:
        code, lines = work(args, desk)
        desk.sink.stream.write("".join(f"{line}\n" for line in lines).encode())
        return code

    return carry_out(args, [], errand)


def _reorganize(args: Namespace, desk: object) -> tuple[int, list[str]]:
    from dctv.cli.task import TaskResources
    from dctv.console.narration import warn
    from dctv.provenance.groups import ReorganizeRequest

    assert isinstance(desk, TaskResources)
    order = ReorganizeRequest(_groups(args.group), args.output, parquet=args.format == "parquet")
    written, warnings = desk.session.reorganize(args.traces, order)
    desk.bar.clear()
    warn(warnings)
    return OK, [f"{one.path}: {one.events} events in {one.lines} lines" for one in written]


def _groups(texts: list[str]) -> dict[str, str]:
    groups: dict[str, str] = {}
    for text in texts:
        name, equals, predicate = text.partition("=")
        if not equals or not predicate.strip():
            raise UsageError(f"found `--group {text}`, expected NAME='FILTER'")
        if name in groups:
            raise UsageError(f"the group `{name}` is given twice")
        groups[name] = predicate
    return groups


def _restore(args: Namespace, desk: object) -> tuple[int, list[str]]:
    from dctv.cli.task import TaskResources
    from dctv.provenance.restore import restore

    assert isinstance(desk, TaskResources)
    paths = restore(Path(args.traces[0]), args.output, lambda done, total: desk.bar.update("restoring", done, total))
    return OK, [str(path) for path in paths]


def _verify(args: Namespace, desk: object) -> tuple[int, list[str]]:
    from dctv.cli.task import TaskResources
    from dctv.provenance.restore import verify

    assert isinstance(desk, TaskResources)
    found = verify(Path(args.traces[0]), lambda done, total: desk.bar.update("verifying", done, total))
    if found.problems:
        return FAILED, [*found.problems]
    return OK, [f"{found.sources} sources, {found.lines} lines, {found.events} events: every line is there once"]


REORGANIZE = Command("reorganize", "sort the events of traces into files, by group", configure, run)
