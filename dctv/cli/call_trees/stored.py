"""A trace in the column store and options of filters to what kernels read of it without the engine."""

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
    """What is read of a stored table of calls."""

    path: Path
    rules: CallFilters
    tids: list[int]
    functions: list[Any]
    """Name, module, size and file of functions, where they matter."""
    by_module: bool
    by_arguments: bool
    missed: Missed
    """Is told which words of the filters name nothing."""

    def tell_missed(self) -> None:
        """Warn of words that name nothing, once all calls have been read."""
        if not self.missed.words:
            return
        from dctv.console.narration import warn
        from dctv.functions.span.call_filters import remark_of

        warn([(remark_of(self.missed) or "", 1)])


def read_directly(args: Namespace, path: Path, start: int) -> StoredCalls | None:
    """Return what a kernel reads of a file, but for functions; None if it is known late what is shown."""
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
    """Return what a kernel reads; None if the engine must: without a store, or if it is known late what is shown."""
    calls = None if source.file is None else read_directly(args, source.file, source.start)
    if calls is None or not (size or calls.rules.by_size or calls.rules.by_file):
        return calls
    functions = session.sql(FUNCTIONS.format(source.mount)).fetchall()
    return replace(calls, functions=[row for row in functions if row[0] is not None and row[1] is not None])
