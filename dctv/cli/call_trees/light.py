"""Report on a recording from its column store, without session, parser and engine, which are slow to load.

All special cases go to the session: a trace without a good index, an incomplete one, and options that require more than
the stored calls.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from dctv.cli.call_trees.legible import shown
from dctv.cli.call_trees.options import since_first_call
from dctv.cli.call_trees.queries import SCHEDULE, measures
from dctv.cli.call_trees.report import shows_sizes, write_sums
from dctv.cli.call_trees.stored import StoredCalls, read_directly
from dctv.console.attended import Check, attended, end_process
from dctv.console.sink import stdout_sink
from dctv.errors import DctvError, EngineError, Interrupted

if TYPE_CHECKING:
    from argparse import Namespace

    from dctv.index.database import Index


def report_lightly(args: Namespace, fields: Sequence[str]) -> bool:
    """Write a row for each function, if no session is required; return whether it was written."""
    from dctv import _kernels

    options = (
        args.no_index,
        args.index,
        args.task,
        args.no_libcall,
        args.output,
        args.diff,
        args.threads,
        args.memory_limit,
    )
    paged = args.paged and os.isatty(1)
    if paged or since_first_call(args) or any(options) or shows_sizes(args, fields):
        return False
    with _recorded(args) as calls:
        if calls is None or calls.rules.by_size or calls.rules.by_file or calls.rules.backtraces:
            return False
        cancel = _kernels.Cancel()
        sums = _kernels.CallSums(measured=measures(args))

        def work(_: Check) -> None:
            sums.read(str(calls.path), calls, cancel=cancel)

        try:
            attended(work, cancel.set, end_process)
        except ValueError as error:
            raise Interrupted("interrupted") if cancel.is_set() else EngineError(str(error)) from None
        with stdout_sink(lambda: None) as sink, shown(args, sink.stream) as out:
            write_sums(sums, args, fields, out)
        calls.warn_unmatched()
    return True


@contextmanager
def _recorded(args: Namespace) -> Iterator[StoredCalls | None]:
    """Find the calls of a command's traces, if these are one recording."""
    from dctv.catalog.files import list_files
    from dctv.contracts.reader_errors import guarded
    from dctv.index.finding import find
    from dctv.index.location import configured_folder, subject
    from dctv.readers.uftrace import READER

    try:
        paths = list_files(args.traces, {READER.name: guarded(READER)}, None)
        index = find(subject(paths, READER.name, {}), configured_folder(args.index_dir), lambda _: None)
    except DctvError:
        index = None  # the session reports the error
    try:
        yield None if index is None else _calls(args, index)
    finally:
        if index is not None:
            index.close()


def _calls(args: Namespace, index: Index) -> StoredCalls | None:
    from dctv.readers.uftrace import READER

    file = None if index.store is None else index.store.get("raw_events.call")
    rest = None if READER.chunks is None else READER.chunks.rest(index.metadata)
    scheduled = (
        index.store is not None and f"raw_events.{SCHEDULE}" in index.store and not (args.no_event and measures(args))
    )
    if file is None or rest is None or scheduled or any(one.incomplete for one in rest.diagnostics):
        return None
    try:
        index.verify(file)
    except DctvError:
        return None  # the session reports the error
    start = str(rest.properties.get("start_ns", ""))
    return read_directly(args, file.path, int(start) if start.isdigit() else 0)
