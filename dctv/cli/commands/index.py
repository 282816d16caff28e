"""`dctv index`: builds the index and the column store of traces, so that queries need not read them again."""

from __future__ import annotations

from argparse import ArgumentParser, ArgumentTypeError, Namespace
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.arguments import add_session_options
from dctv.cli.command import Command
from dctv.cli.sizes import size_text
from dctv.console.verdict import FAILED, OK, PARTIAL

if TYPE_CHECKING:
    from dctv.cli.errand import Desk
    from dctv.index.order import Order, Outcome


def configure(parser: ArgumentParser) -> None:
    """Add the arguments of `dctv index`."""
    parser.add_argument("traces", nargs="+", metavar="TRACE", help="file, folder or pattern")
    parser.add_argument(
        "--dimensions", type=_names, default=(), metavar="A,B", help="index these too: args.size is the argument `size`"
    )
    parser.add_argument(
        "--false-positive-rate", type=_rate, default=0.01, metavar="P", help="of Bloom filters (default: 0.01)"
    )
    parser.add_argument(
        "--expected-entries",
        type=_count,
        default=1024,
        metavar="N",
        help="values that a Bloom filter has room for at least (default: 1024)",
    )
    parser.add_argument("--no-store", action="store_true", help="build no column store")
    parser.add_argument("--index-dir", type=Path, metavar="DIR", help="keep it here, not in the cache")
    parser.add_argument("--force", action="store_true", help="build anew whatever is there")
    parser.add_argument(
        "--check", action="store_true", help="compare the index with the trace (exit code 1 if it differs)"
    )
    add_session_options(parser)


def run(args: Namespace) -> int:
    """Build or check; return the exit code."""
    from dctv.cli.errand import carry_out
    from dctv.index.build import Settings
    from dctv.index.order import Order

    settings = Settings(args.dimensions, args.expected_entries, args.false_positive_rate, not args.no_store)
    order = Order(settings, args.index_dir, args.force)

    def work(desk: Desk) -> int:
        code = OK
        for trace in args.traces:
            one = _check(trace, order, desk) if args.check else _build(trace, order, desk, allow=args.allow_partial)
            code = max(code, one)
            desk.check()
        return code

    return carry_out(args, [], work)


def _build(trace: str, order: Order, desk: Desk, *, allow: bool) -> int:
    from dctv.console.narration import say

    outcome = desk.session.index(trace, order)
    desk.bar.clear()
    for note in outcome.notes:
        say(f"warning: {note}; it is built anew")
    for name in outcome.empty:
        say(f"warning: no event has a value of `{name}`")
    for reason in outcome.incomplete:
        say(f"{'warning' if allow else 'error'}: {reason}")
    desk.sink.stream.write(f"{_told(trace, outcome)}\n".encode())
    desk.sink.stream.flush()
    return PARTIAL if outcome.incomplete and not allow else OK


def _told(trace: str, outcome: Outcome) -> str:
    from dctv.writers.cells import visible

    parts = [
        f"{outcome.events:,} events in {outcome.chunks:,} chunks",
        f"{size_text(outcome.text_bytes)} of text",
        f"index {size_text(outcome.index_bytes)}",
        "no column store" if outcome.store_bytes is None else f"column store {size_text(outcome.store_bytes)}",
        "was there" if outcome.seconds is None else f"built in {outcome.seconds:.1f} s",
    ]
    return f"{visible(trace)}: {', '.join(parts)}"


def _check(trace: str, order: Order, desk: Desk) -> int:
    from dctv.writers.cells import visible

    found = desk.session.check_index(trace, order)
    desk.bar.clear()
    lines = [f"{trace}: {line}" for line in found] or [f"{trace}: the index agrees with the trace"]
    for line in lines:
        desk.sink.stream.write(f"{visible(line)}\n".encode())
    desk.sink.stream.flush()
    return FAILED if found else OK


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
    if not 1e-9 <= rate < 1:
        raise ArgumentTypeError(f"found `{text}`, expected a number between 0 and 1")
    return rate


def _count(text: str) -> int:
    if not text.isdecimal() or not 1 <= int(text) <= 10**9:
        raise ArgumentTypeError(f"found `{text}`, expected a number from 1")
    return int(text)


INDEX = Command("index", "index traces, so that queries need not read them again", configure, run)
