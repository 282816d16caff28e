"""Mount files of traces in the namespace, with the views of the standard library."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path

from dctv.bind.arguments import bind_argument
from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.bind.library import library_function
from dctv.bind.parameters import stated_option
from dctv.catalog import filtering
from dctv.catalog.alignment import aligned
from dctv.catalog.expected import RAW
from dctv.catalog.files import check_options, find_traces, forced, list_files
from dctv.catalog.mount import Mount, attach, check_name
from dctv.catalog.stdlib import library
from dctv.contracts.reader import LoadContext
from dctv.errors import TraceError
from dctv.index.database import Index
from dctv.index.histories import TraceHistoryStore
from dctv.index.mounting import MountNarrator, find_by_paths, mount_of, with_index
from dctv.index.trace import Trace
from dctv.record import field, record, replace
from dctv.run import mounted_states, timelines
from dctv.run.context import ExecutionContext
from dctv.syntax import ast

_OF_MOUNTS = ("align", "format")
"""Options that all mounts have."""


@record
class Wanted:
    """A trace that is to be mounted."""

    paths: Sequence[str]
    """Files, folders or patterns."""
    name: ast.Path
    options: Mapping[str, object] = field(default_factory=dict)
    """Options of its format, its alignment, and filters of its calls."""
    base: Path | None = None
    """The folder that relative paths start from; None is the current one."""
    likely: str | None = None
    """The format that they had before, if that is known."""


def run(statement: ast.MountTrace, context: ExecutionContext, env: Environment) -> str:
    """Run MOUNT TRACE; return a message."""
    options = {
        name.text: stated_option(name.text, bind_argument(Binder(env), value)) for name, value in statement.options
    }
    try:
        return mount(Wanted([statement.file.text], statement.path, options, env.base), context)
    except TraceError as error:
        raise TraceError(error.message, error.place or statement.file.place, hint=error.hint) from None


def mount(request: Wanted, context: ExecutionContext) -> str:
    """Mount a trace; return a message.

    Raises:
        TraceError: it cannot be read.
        BindError: its name is taken.
    """
    parts = check_name(context.catalog, request.name)
    align = request.options.get("align")
    filters = filtering.arguments({k: v for k, v in request.options.items() if k in filtering.FILTERS})
    made = _read(parts, request, context)
    if align is not None:
        made = aligned(made, align, context.mounts, context.log.add)
    attach(
        context.catalog,
        made,
        library(),
        [context.registries.of_mount(made.offset, made.trace.last_ts)],
        library_function,
    )
    if not context.registries.readers[made.reader].general and not any(
        name.startswith(RAW) for name in made.trace.tables
    ):
        context.log.add(f"found no event in `{made.path}`, which was read as {made.reader}")
    if filters:
        filtering.filter_views(context.catalog, parts, made.reader, library(), filters)
    mounted_states.offer(made, context)
    timelines.offer(made, context)
    context.mounts[parts] = made
    return f"mounted {made.path} as {request.name.text} ({made.reader}, {len(made.trace.tables)} tables)"


def _read(parts: tuple[str, ...], request: Wanted, context: ExecutionContext) -> Mount:
    """Return the mount of a trace: by its index, or read whole."""
    policy = context.policy
    trace, index = _found(request, context)
    # Before the trace is read, so that it notices writes to the files.
    history_store = TraceHistoryStore(trace, policy.index_dir) if policy.when else None
    narrator = MountNarrator(request.name.text, context.progress, context.log)
    indexed = with_index(trace, index, policy, narrator)
    return replace(mount_of(parts, ", ".join(request.paths), trace, indexed), history_store=history_store)


def _found(request: Wanted, context: ExecutionContext) -> tuple[Trace, Index | None]:
    """Return the trace at some paths, and its index if the format came from that."""
    readers = context.registries.readers
    options = {k: v for k, v in request.options.items() if k not in (*_OF_MOUNTS, *filtering.FILTERS)}
    loading = LoadContext(options, context.threads, partial(context.progress.report, request.name.text))
    if "format" in request.options:
        reader = forced(str(request.options["format"]), request.paths, readers, request.base)
        check_options(reader.reader, options)
        return Trace(reader.paths, reader.reader, loading), None
    listed = list_files(request.paths, readers, request.base)
    indexed = find_by_paths(listed, readers, options, context.policy, request.likely)
    if indexed is not None:
        return Trace(listed, indexed[0], loading), indexed[1]
    files = find_traces(request.paths, readers, request.base)
    check_options(files.reader, options)
    return Trace(files.paths, files.reader, loading), None
