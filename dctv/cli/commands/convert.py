"""`dctv convert`: write a trace, or the rows of a query, for viewers and other tools."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, cast

from dctv.cli.arguments import add_index_options, add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from dctv.cli.task import TaskResources

SUFFIXES = {
    ".json": "chrome-json",
    ".pftrace": "perfetto",
    ".perfetto-trace": "perfetto",
    ".parquet": "parquet",
}


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv convert`."""
    parser.add_argument(
        "trace", type=only_path, metavar="IN", help="a trace: a file, a folder or a pattern; in queries it is `t`"
    )
    parser.add_argument(
        "output", type=Path, metavar="OUT", help="a file; for Parquet also a folder, with one file per table"
    )
    parser.add_argument(
        "--format",
        choices=sorted({*SUFFIXES.values()}),
        help="format of OUT (default: by its ending: .json, .json.gz, .pftrace, .parquet; a folder is Parquet)",
    )
    parser.add_argument(
        "-q", "--query", metavar="SQL", help="write these rows: slices if they have `_duration`, counters if `value`"
    )
    add_session_options(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount and write; return the exit code."""
    from dctv.cli.task import carry_out

    form = _format(args.format, args.output)
    if form == "parquet" and args.query is None and not args.output.suffix:
        return carry_out(args, [("t", args.trace)], lambda desk: _folder(desk, args.output))
    return carry_out(args, [("t", args.trace)], _work(form, args.query, args.output), args.output)


def _format(named: str | None, output: Path) -> str:
    if named is not None:
        return named
    name = output.name.removesuffix(".gz")
    found = next((form for suffix, form in SUFFIXES.items() if name.endswith(suffix)), None)
    if found is None and (output.is_dir() or not output.suffix):
        return "parquet"
    if found is None:
        suffixes = ", ".join(SUFFIXES)
        raise UsageError(f"the name `{output}` does not determine a format, expected --format or one of {suffixes}")
    return found


def _folder(desk: TaskResources, folder: Path) -> int:
    from dctv.export.parquet import write_folder

    write_folder(desk.session, "t", folder, desk.check)
    return OK


def _work(form: str, query: str | None, output: Path) -> Callable[[TaskResources], int]:
    def work(desk: TaskResources) -> int:
        stream: BinaryIO = desk.sink.stream
        if output.suffix != ".gz":
            _write(desk, form, query, stream)
            return OK
        with gzip.GzipFile(fileobj=stream, mode="wb", compresslevel=4, mtime=0) as packed:
            _write(desk, form, query, cast("BinaryIO", packed))
        return OK

    return work


def _write(desk: TaskResources, form: str, query: str | None, out: BinaryIO) -> None:
    from dctv.console.narration import print_stderr
    from dctv.export import arrows, chrome, losses, perfetto
    from dctv.export.timeline import of_mount, of_query
    from dctv.writers import parquet

    session = desk.session
    if form == "parquet":
        parquet.write(session.sql(query or "SELECT * FROM t.events"), out)
        return
    to: arrows.Form = "chrome-json" if form == "chrome-json" else "perfetto"
    write = chrome.write if to == "chrome-json" else perfetto.write
    timeline = of_mount(session, to) if query is None else of_query(session, query)
    write(timeline, out)
    desk.bar.clear()
    for loss in losses.of_mount(session, timeline, to) if query is None else losses.of_query(timeline, to):
        print_stderr(f"warning: {loss}")


CONVERT = Command("convert", "write a trace for viewers and other tools", configure, run)
