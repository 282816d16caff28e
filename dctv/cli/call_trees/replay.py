"""Write calls that pass the filters as the lines of `dctv replay`, as they come."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, BinaryIO

from dctv.calls.language import rules_of
from dctv.calls.rules import CallRule, Match
from dctv.cli.call_trees.queries import CallSource, events_of, open_calls, run_internal, tasks_of, without_events
from dctv.record import record

if TYPE_CHECKING:
    from argparse import Namespace

    from dctv.cli.call_trees.stored import StoredCalls
    from dctv.session import Session

FIELDS = ("duration", "tid", "addr", "time", "delta", "elapsed", "task", "module")
"""Columns before the bar, in order."""


@record
class Style:
    """The style of lines."""

    fields: tuple[str, ...]
    args: bool
    comments: bool
    flat: bool
    task_newline: bool
    colored: bool
    offset: int
    """Levels of indentation per thread column."""
    merge: bool
    rules: tuple[CallRule, ...]
    """Rules for the colours of functions."""
    match: Match
    start: int
    first: int
    """The origin of elapsed times, in ns after the trace's begin."""


def colours(args: Namespace) -> tuple[CallRule, ...]:
    """Return the rules for the colours of functions."""
    rules = [*rules_of("filter", args.filters or (), args.match), *rules_of("trigger", args.triggers or (), args.match)]
    return tuple(rule for rule in rules if rule.trigger.color is not None)


def write_lines(session: Session, query: str, style: Style, out: BinaryIO) -> None:
    """Run a query of calls and write its lines."""
    from dctv import _kernels

    printer = _kernels.Replay(style)
    for batch in run_internal(session, query).reader():
        out.write(printer.push(batch))
    out.write(printer.finish())


def write_stored(
    session: Session, stored: StoredCalls, source: CallSource, style: Style, out: BinaryIO, *, events: bool
) -> None:
    """Read a stored table of calls and write its lines, interleaved with those of events."""
    from dctv import _kernels

    named = "task" in style.fields
    tasks = session.sql(tasks_of(source)).fetchall() if named else []
    query = events_of(source if events else without_events(source), tasks=named, tids=stored.tids)
    with session.kernel() as cancel:
        printer = _kernels.StoredReplay(style, str(stored.path), stored, tasks=tasks, cancel=cancel)
        for batch in () if query is None else run_internal(session, query).reader():
            printer.add(batch)
            while lines := printer.lines(last=False):
                out.write(lines)
        while lines := printer.lines(last=True):
            out.write(lines)
    stored.warn_unmatched()


def write_remaining(session: Session, source: CallSource, args: Namespace, out: BinaryIO) -> None:
    """Write the calls that were unfinished at the end of the recording, or of the time range."""
    left = session.sql(open_calls(source, args)).fetchall()
    if not left:
        return
    out.write(b"\nuftrace stopped tracing with remaining functions\n" + b"=" * 48 + b"\n")
    for tid, calls in groupby(left, key=lambda row: row[0]):
        lines = [f"task: {tid}", *(f"[{depth}] {name}" for _, depth, name in calls), "", ""]
        out.write("\n".join(lines).encode())
