"""Build indexes of traces, and the timelines that are kept with them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from dctv.errors import UsageError
from dctv.index.indexer import Indexer
from dctv.record import replace
from dctv.run.context import ExecutionContext
from dctv.run.mounting import Wanted, mount
from dctv.run.tracks import timeline_at
from dctv.syntax import ast

if TYPE_CHECKING:
    from dctv.index.request import IndexOutcome, IndexRequest

_NAME = "trace"
"""The mount name of a trace whose timeline is built."""


def indexer(context: ExecutionContext) -> Indexer:
    """Return the object that builds and compares indexes."""
    readers, folder = context.registries.readers, context.policy.index_dir
    return Indexer(readers, context.threads, folder, context.temp_directory, context.progress)


def index(
    path: str, order: IndexRequest, options: Mapping[str, object], context: ExecutionContext, *, timeline: bool
) -> IndexOutcome:
    """Build the index of a trace, or its missing parts, and its timeline if wanted.

    Raises:
        UsageError: the timeline is to be kept where the session reads no indexes.
        IndexFailed: the index cannot be written, or the trace cannot be indexed.
        TraceError: the trace cannot be read.
    """
    if timeline and not context.policy.when:
        raise UsageError("a session without indexes builds no timelines", hint="open it with an index")
    if timeline and order.index_dir not in (None, context.policy.index_dir):
        message = f"a session makes timelines in its own folder of indexes, found `{order.index_dir}`"
        raise UsageError(message, hint="Session(index_dir=...) names it")
    outcome = indexer(context).index(path, order, options)
    return replace(outcome, timeline=_timeline(path, options, context)) if timeline else outcome


def _timeline(path: str, options: Mapping[str, object], context: ExecutionContext) -> tuple[int, int]:
    """Make a timeline unless it is kept; return the numbers of its tracks with rows and of their rows."""
    apart = replace(context, catalog=context.catalog.restricted_to("dctv"), mounts={})
    try:
        mount(Wanted([path], ast.Path.of(_NAME), options), apart)
        # Messages about the trace are in the outcome of its index.
        context.log.clear()
        rows = [track.rows for track in timeline_at(_NAME, apart.catalog).tracks if track.rows]
        return len(rows), sum(rows)
    finally:
        apart.unmount()
