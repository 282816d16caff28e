"""`dctv index`: build the index and the column store of traces, so that queries need not read the traces again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_session_options
from dctv.cli.command import Command
from dctv.cli.mounts import only_path
from dctv.cli.sizes import size_text
from dctv.console.verdict import FAILED, OK, PARTIAL

if TYPE_CHECKING:
    from dctv.index.request import IndexOutcome
    from dctv.progress import ProgressListener
    from dctv.session import Session

_LEAST_RATE = 1e-9
_MOST_ENTRIES = 10**9


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv index`."""
    parser.add_argument("traces", nargs="+", type=only_path, metavar="TRACE", help="file, folder or pattern")
    parser.add_argument(
        "--dimensions",
        type=_names,
        default=(),
        metavar="A,B",
        help="also index these: args.size is the argument `size`",
    )
    parser.add_argument(
        "--false-positive-rate", type=_rate, default=0.01, metavar="P", help="of Bloom filters (default: 0.01)"
    )
    parser.add_argument(
        "--expected-entries",
        type=_count,
        default=1024,
        metavar="N",
        help="minimum number of values that each Bloom filter is sized for (default: 1024)",
    )
    parser.add_argument("--no-store", action="store_true", help="build no column store")
    parser.add_argument("--timeline", action="store_true", help="also build the timeline, for `dctv draw`")
    parser.add_argument(
        "--index-dir", type=Path, metavar="DIR", help="keep the index here (default: DCTV_INDEX_DIR, else the cache)"
    )
    parser.add_argument("--force", action="store_true", help="rebuild the index even if there is one")
    parser.add_argument(
        "--check", action="store_true", help="compare the index with the trace (exit code 1 if it differs)"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Build or check; return the exit code."""
    from dctv.cli.indexing import indexer
    from dctv.console.attended import Check, attended, end_process
    from dctv.console.progress import ProgressBar
    from dctv.console.sink import stdout_sink
    from dctv.index.build import IndexSettings
    from dctv.index.request import IndexRequest

    settings = IndexSettings(args.dimensions, args.expected_entries, args.false_positive_rate, not args.no_store)
    order = IndexRequest(settings, args.index_dir, args.force)
    bar = ProgressBar()
    with stdout_sink(bar.clear) as sink, _session(args, bar.update) as session:
        indexes = indexer(args.threads, args.temp_directory, bar.update)

        def interrupt() -> None:
            indexes.progress.interrupt()
            if session is not None:
                session.interrupt()

        def work(check: Check) -> int:
            code = OK
            for trace in args.traces:
                if args.check:
                    lines, one = _check(trace, indexes.check(trace, order, {}))
                elif session is not None:
                    outcome = session.index(trace, order, timeline=True)
                    bar.clear()
                    lines, one = _built(trace, outcome, session.warnings(), allow=args.allow_partial)
                else:
                    outcome = indexes.index(trace, order, {})
                    bar.clear()
                    lines, one = _built(trace, outcome, (), allow=args.allow_partial)
                code = max(code, one)
                sink.stream.write("".join(f"{line}\n" for line in lines).encode())
                sink.stream.flush()
                check()
            return code

        try:
            return attended(work, interrupt, end_process)
        finally:
            bar.clear()


def _session(args: Namespace, report: ProgressListener) -> AbstractContextManager[Session | None]:
    """Open a session if timelines require it. Its engine and language take longer to load than an index."""
    if args.check or not args.timeline:
        return nullcontext()
    from dctv.session import Session

    limits = {"threads": args.threads, "memory_limit": args.memory_limit, "temp_directory": args.temp_directory}
    return Session(progress=report, index_dir=args.index_dir, warn=False, **limits)


def _built(trace: str, outcome: IndexOutcome, warnings: Sequence[str], *, allow: bool) -> tuple[list[str], int]:
    from dctv.console.narration import print_stderr
    from dctv.visible import visible

    for note in outcome.notes:
        print_stderr(f"warning: {note}; it is rebuilt")
    for name in outcome.empty:
        print_stderr(f"warning: no event has a value of `{name}`")
    for reason in outcome.incomplete:
        print_stderr(f"{'warning' if allow else 'error'}: {reason}")
    for warning in warnings:
        print_stderr(f"warning: {warning}")
    lines = [_summary(trace, outcome)]
    if outcome.timeline is not None:
        tracks, rows = outcome.timeline
        lines.append(f"{visible(trace)}: timeline of {tracks:,} tracks with {rows:,} rows")
    return lines, PARTIAL if outcome.incomplete and not allow else OK


def _summary(trace: str, outcome: IndexOutcome) -> str:
    from dctv.visible import visible

    parts = [
        f"{_quantity(outcome.events, 'event')} in {_quantity(outcome.chunks, 'chunk')}",
        f"{size_text(outcome.read_bytes)} read",
        f"index {size_text(outcome.index_bytes)}",
        "no column store" if outcome.store_bytes is None else f"column store {size_text(outcome.store_bytes)}",
        "was there" if outcome.seconds is None else f"built in {outcome.seconds:.1f} s",
    ]
    return f"{visible(trace)}: {', '.join(parts)}"


def _quantity(count: int, thing: str) -> str:
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def _check(trace: str, found: list[str]) -> tuple[list[str], int]:
    from dctv.visible import visible

    lines = [f"{trace}: {line}" for line in found] or [f"{trace}: the index agrees with the trace"]
    return [visible(line) for line in lines], FAILED if found else OK


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(","))
    if not all(names):
        raise ArgumentTypeError(f"found `{text}`, expected names divided by commas")
    return names


def _rate(text: str) -> float:
    try:
        rate = float(text)
    except ValueError:
        rate = 0.0
    if not _LEAST_RATE <= rate < 1:
        raise ArgumentTypeError(f"found `{text}`, expected a number from {_LEAST_RATE:g}, below 1")
    return rate


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= _MOST_ENTRIES:
        raise ArgumentTypeError(f"found `{text}`, expected a number from 1 to {_MOST_ENTRIES:,}")
    return int(text)


INDEX = Command("index", "index traces, so that queries need not read them again", configure, run)
