"""Read a trace's calls with filters from the column store by kernels, without the engine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from dctv.calls.rules import CallFilters
from dctv.cli.call_trees.options import filters_of
from dctv.cli.call_trees.queries import FUNCTIONS, CallSource
from dctv.errors import UsageError
from dctv.record import record, replace

if TYPE_CHECKING:
    from argparse import Namespace
    from pathlib import Path

    from dctv._kernels import Missed
    from dctv.session import Session


@record
class StoredCalls:
    """The inputs of a kernel that reads a stored table of calls."""

    path: Path
    rules: CallFilters
    tids: list[int]
    functions: list[Any]
    """Name, module, size and file of functions, if they are needed."""
    by_module: bool
    by_arguments: bool
    missed: Missed
    """Collects words of the filters that match nothing."""

    def warn_unmatched(self) -> None:
        """Warn of words that match nothing, once all calls have been read."""
        if not self.missed.words:
            return
        from dctv.console.narration import warn
        from dctv.functions.span.call_filters import remark_of

        warn([(remark_of(self.missed) or "", 1)])


def read_directly(args: Namespace, path: Path, start: int) -> StoredCalls | None:
    """Return a kernel's inputs for a file, without functions; None if the filters depend on later calls."""
    from dctv import _kernels

    try:
        rules = filters_of(args, start)
    except UsageError:
        return None  # the engine's error shows where
    if not rules.at_begin:
        return None
    by_module = rules.by_module or rules.counts
    return StoredCalls(path, rules, args.tid or [], [], by_module, rules.by_arguments, _kernels.Missed())


def stored_calls(session: Session, args: Namespace, source: CallSource, *, size: bool = False) -> StoredCalls | None:
    """Return a kernel's inputs; None if the engine must read: without a store, or if filters depend on later calls."""
    calls = None if source.file is None else read_directly(args, source.file, source.start)
    if calls is None or not (size or calls.rules.by_size or calls.rules.by_file):
        return calls
    functions = session.sql(FUNCTIONS.format(source.mount)).fetchall()
    return replace(calls, functions=[row for row in functions if row[0] is not None and row[1] is not None])
