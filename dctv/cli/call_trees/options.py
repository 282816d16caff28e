"""Convert filter options, which are those of uftrace, to arguments of `dctv.shown_calls`."""

from __future__ import annotations

import argparse
from argparse import Action, ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from dctv.calls.language import ARGUMENTS, decimal_time_of, rules_of, time_of
from dctv.calls.rules import DEPTH, MATCHES, CallFilters
from dctv.cli.arguments import positive
from dctv.errors import UsageError
from dctv.patterns import pattern

_STAMP = pattern(r"([0-9]{1,9})(?:\.([0-9]{1,9}))?")
_ELAPSED = pattern(r"([0-9]{1,15})(?:\.([0-9]{1,9}))?(ns|us|ms|s|m|h)")
LARGE = 4 << 20
"""Traces of at least this many bytes are indexed by default, since an index makes sums and listings of calls faster,
even the first time, and bounds their memory."""
_LISTS = {"filters": "filters", "triggers": "triggers", "callers": "callers", "hide": "hide", "location": "location"}


class _Notrace(Action):
    """An option that appends a filter with a `!` prefix, to keep the order of both options."""

    def __call__(
        self,
        parser: ArgumentParser,
        namespace: Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        """Take one value."""
        found = list(getattr(namespace, self.dest) or [])
        words = str(values).split(";")
        found.append(";".join(word if word.startswith("!") else f"!{word}" for word in words))
        setattr(namespace, self.dest, found)


def add_filter_options(parser: ArgumentParser) -> None:
    """Add the options that filter calls."""
    parser.set_defaults(large=LARGE)
    add = parser.add_argument_group(
        "filters", "FUNC is a name or a pattern, optionally with actions: 'a', '^x_', 'a@sample=2'"
    )
    add.add_argument(
        "-F",
        "--filter",
        dest="filters",
        action="append",
        metavar="FUNC",
        help="show only this function and all that it calls",
    )
    add.add_argument(
        "-N",
        "--notrace",
        dest="filters",
        action=_Notrace,
        metavar="FUNC",
        help="leave out this function and all that it calls",
    )
    add.add_argument(
        "-T",
        "--trigger",
        dest="triggers",
        action="append",
        metavar="FUNC@ACT",
        help="do this at the function, such as depth=2 or trace_on",
    )
    add.add_argument(
        "-C",
        "--caller-filter",
        dest="callers",
        action="append",
        metavar="FUNC",
        help="show only calls that lead to this function",
    )
    add.add_argument("-H", "--hide", action="append", metavar="FUNC", help="hide this function, but not what it calls")
    add.add_argument(
        "-L",
        "--loc-filter",
        dest="location",
        action="append",
        metavar="FILE",
        help="show only functions from this source file",
    )
    add.add_argument("-D", "--depth", type=positive, default=DEPTH, metavar="N", help="show N levels")
    add.add_argument("-t", "--time-filter", type=_time, default=0, metavar="TIME", help="leave out shorter calls")
    add.add_argument(
        "-Z", "--size-filter", type=_size, default=0, metavar="BYTES", help="leave out calls of smaller functions"
    )
    add.add_argument(
        "-r", "--time-range", type=_range, metavar="FROM~TO", help="absolute times, or times since the beginning: 1ms~"
    )
    add.add_argument("--tid", type=_tids, metavar="TID[,TID]", help="only these threads")
    add.add_argument("--match", choices=MATCHES, default="regex", help="how FUNC matches names (default: regex)")
    add.add_argument(
        "--trace", choices=("on", "off"), default="on", help="off: show nothing until a trigger says trace_on"
    )


def _time(text: str) -> int:
    try:
        return time_of(text)
    except UsageError as error:
        raise ArgumentTypeError(error.message) from None


def _size(text: str) -> int:
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ArgumentTypeError(f"expected a number of bytes, found `{text}`")
    return int(text)


def _tids(text: str) -> list[int]:
    words = text.split(",")
    if not all(word.isascii() and word.isdigit() and len(word) < 19 for word in words):
        raise ArgumentTypeError(f"expected numbers of threads, found `{text}`")
    return [int(word) for word in words]


Ends = tuple[tuple[int, bool] | None, tuple[int, bool] | None]
"""Begin and end of a range: ns, and whether they are relative to the first call."""


def since_first_call(args: Namespace) -> bool:
    """Return whether a time range is relative to the first call."""
    return args.time_range is not None and any(end is not None and end[1] for end in args.time_range)


def _range(text: str) -> Ends:
    first, tilde, last = text.partition("~")
    if not tilde:
        raise ArgumentTypeError(f"expected FROM~TO, found `{text}`")
    return _end(first), _end(last)


def _end(text: str) -> tuple[int, bool] | None:
    if not text:
        return None
    elapsed = _ELAPSED.fullmatch(text)
    if elapsed is not None:
        return decimal_time_of(elapsed[1], elapsed[2] or "", elapsed[3]), True
    stamp = _STAMP.fullmatch(text)
    if stamp is None:
        raise ArgumentTypeError(f"expected a time such as `1430.012` or `5ms`, found `{text}`")
    return int(stamp[1]) * 10**9 + int((stamp[2] or "").ljust(9, "0")), False


def arguments(args: Namespace, start: int) -> Iterator[str]:
    """Yield arguments for `dctv.shown_calls`; `start` is the begin of the trace on its own clock."""
    for name, option in _LISTS.items():
        words = getattr(args, option)
        if words:
            yield f"{name}=>[{', '.join(quoted(word) for word in words)}]"
    yield f"depth=>{args.depth}"
    yield f"time=>{args.time_filter}ns"
    yield f"size=>{args.size_filter}"
    if args.time_range is not None:
        ends = (None if one is None else one[0] - (0 if one[1] else start) for one in args.time_range)
        yield f"range=>[{', '.join('NULL' if one is None else f'{one}ns' for one in ends)}]"
    if args.tid:
        yield f"tid=>[{', '.join(str(tid) for tid in args.tid)}]"
    yield f"match=>{quoted(args.match)}"
    yield f"trace=>{quoted(args.trace)}"


def filters_of(args: Namespace, start: int) -> CallFilters:
    """Return the same filters as `arguments`, for a kernel.

    Raises:
        UsageError: a word of a filter is invalid.
    """
    option_words = [(option, getattr(args, name, None) or ()) for name, option in ARGUMENTS.items()]
    ends = (None, None) if args.time_range is None else args.time_range
    first, last = (None if one is None else one[0] - (0 if one[1] else start) for one in ends)
    return CallFilters(
        tuple(rule for option, words in option_words for rule in rules_of(option, words, args.match)),
        match=args.match,
        depth=args.depth,
        time=args.time_filter,
        size=args.size_filter,
        start=first,
        stop=last,
        enabled=args.trace == "on",
    )


def quoted(text: str) -> str:
    """Write a text as a SQL literal."""
    return "'" + text.replace("'", "''") + "'"


def is_filtered(args: argparse.Namespace) -> bool:
    """Return whether the filters exclude anything."""
    chosen = [getattr(args, option) for option in _LISTS.values()]
    limits = args.time_filter or args.size_filter or args.time_range or args.tid or args.depth != DEPTH
    return bool(any(chosen) or limits or args.trace == "off")
