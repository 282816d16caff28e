"""A trace in the column store and options of filters to what kernels read of it without the engine."""

from __future__ import annotations

from argparse import Namespace
from typing import TYPE_CHECKING, Any

from dctv.calls.rules import Filters
from dctv.cli.call_trees.options import filters_of
from dctv.cli.call_trees.queries import FUNCTIONS, Source
from dctv.errors import UsageError
from dctv.record import record

if TYPE_CHECKING:
    from pathlib import Path

    from dctv.session import Session


@record
class StoredCalls:
    """What is read of a stored table of calls."""

    path: Path
    rules: Filters
    tids: list[int]
    functions: list[Any]
    """Name, module, size and file of functions, where they matter."""
    by_module: bool
    by_arguments: bool


def stored_calls(session: Session, args: Namespace, source: Source, *, size: bool = False) -> StoredCalls | None:
    """Return what a kernel reads; None if the engine must: without a store, or if it is known late what is shown."""
    if source.file is None:
        return None
    try:
        rules = filters_of(args, source.start)
    except UsageError:
        return None  # the engine's error shows where
    if not rules.at_begin:
        return None
    wanted = size or rules.by_size or rules.by_file
    functions = session.sql(FUNCTIONS).fetchall() if wanted else []
    return StoredCalls(
        source.file,
        rules,
        args.tid or [],
        [row for row in functions if row[0] is not None and row[1] is not None],
        rules.by_module or rules.counts,
        rules.by_arguments,
    )
