"""`dctv view`: print the events of a trace that match a filter, as the original records or in any format."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import dctv.writers
from dctv.cli.arguments import add_index_options, add_session_options, add_time_option, positive
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.console.verdict import OK
from dctv.contracts.registry import scan
from dctv.contracts.writer import ResultRows, Writer
from dctv.errors import UsageError

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

RECORDS = "ndjson"
SUFFIXES = (".ndjson", ".jsonl", ".pfw")
"""Suffixes of `-o FILE` that select records; `--format jsonl` writes columns instead."""


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv view`."""
    formats = sorted([RECORDS, *scan(dctv.writers, Writer)])
    parser.add_argument(
        "traces",
        nargs="+",
        type=only_path,
        metavar="TRACE",
        help="files, folders or patterns, combined into one trace",
    )
    parser.add_argument("--where", metavar="FILTER", help="""such as 'cat == "POSIX" and dur > 1ms'""")
    parser.add_argument(
        "--format",
        choices=formats,
        help="ndjson: the events as records, one a line; the others have the columns of `events` "
        "(default: by -o, else ndjson)",
    )
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="write to this file, and only if everything succeeds"
    )
    add_time_option(parser)
    parser.add_argument("--limit", type=positive, metavar="N", help="stop after the first N in order of time")
    add_session_options(parser)
    add_index_options(parser)


def run(args: Namespace) -> int:
    """Mount, filter, write; return the exit code."""
    from dctv.cli.task import TaskResources, carry_out
    from dctv.console.narration import warn
    from dctv.console.wall_times import TRACE, checked, in_zone

    writer, zone = _writer(args.format, args.output), checked(args.time)
    if writer is None and zone != TRACE:
        raise UsageError(
            "records keep the times of the trace", hint="use --time with another format, such as --format table"
        )

    def work(desk: TaskResources) -> int:
        found = desk.session.matches("trace", args.where)
        result = found.records(args.limit) if writer is None else found.rows(args.limit)
        if writer is None:
            desk.sink.stream.write("".join(f"{line}\n" for line in found.head).encode())
            write_records(result, desk.sink.stream)
        else:
            writer.write(in_zone(result, zone), desk.sink.stream)
        desk.sink.stream.flush()
        desk.bar.clear()
        warn(result.warnings)
        return OK

    return carry_out(args, [("trace", args.traces)], work, args.output)


def write_records(rows: ResultRows, out: BinaryIO) -> None:
    """Write the JSON texts of a result's only column, one per line."""
    from dctv.writers.cells import harmless_json

    for (texts,) in rows.chunks():
        lines = "".join(f"{text}\n" for text in texts)
        out.write(harmless_json(lines).encode())


def _writer(name: str | None, output: Path | None) -> Writer | None:
    """Return the writer, None for records."""
    formats = scan(dctv.writers, Writer)
    if name is not None:
        return formats.get(name)
    if output is None or output.suffix.lower() in SUFFIXES or not output.suffix:
        return None
    for writer in formats.values():
        if output.suffix.lower() in writer.suffixes:
            return writer
    suffixes = ", ".join([*SUFFIXES, *(s for writer in formats.values() for s in writer.suffixes if s not in SUFFIXES)])
    raise UsageError(f"the name `{output}` does not determine a format, expected --format or one of {suffixes}")


VIEW = Command("view", "print the events that match a filter", configure, run)
