"""Make the timeline of a mounted trace from the tracks of the standard library's providers."""

from __future__ import annotations

from dctv.catalog.mount import Mount
from dctv.contracts.histories import Work
from dctv.contracts.lazy import Lazy
from dctv.errors import Interrupted
from dctv.run.context import ExecutionContext
from dctv.run.library_version import version_of
from dctv.run.providers import Providers
from dctv.run.recursion import deep_recursion
from dctv.run.tracks import TIMELINE, show
from dctv.timeline.gathering import Gathering
from dctv.timeline.indexed import Indexed, index
from dctv.timeline.space import Space
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline

_SHARED = ("_built.timeline_owners", "_built.threads")
"""Views of threads: a few rows, for which all events are read. Those of tracks may have millions of rows."""


def offer(mount: Mount, context: ExecutionContext) -> None:
    """Put the timeline of a mount into the namespace; it is made when it is first read."""
    timeline = Lazy(lambda: _made(mount, context), context.log)
    show(context.catalog, mount.parts, timeline, "the tracks of the trace's timeline, as a tree")


def _made(mount: Mount, context: ExecutionContext) -> Timeline:
    name, version = ".".join(mount.parts), version_of(mount, context)
    if mount.history_store is None or version is None:
        return Timeline(_indexed(mount, context), name)
    work = Work(
        TIMELINE,
        version,
        lambda path, identity: write(path, identity, _indexed(mount, context)),
        lambda path, identity: Timeline(read(path, identity), name),
        lambda: context.progress.report(f"{name}.{TIMELINE}: waiting for another process that makes it", 0, 0),
        context.log,
        kind=TIMELINE,
        holds="tracks",
    )
    kept: Timeline | None = mount.history_store.load_or_build(work)
    return Timeline(_indexed(mount, context), name) if kept is None else kept


def _indexed(mount: Mount, context: ExecutionContext) -> list[Indexed]:
    sources = []
    space = Space(context.engine.spill_folder())
    try:
        with deep_recursion():
            providers = Providers(TIMELINE, mount, context, _SHARED)
            for module, plan in providers.bound():
                name = ".".join((*mount.parts, *module.parts))
                gathering = Gathering(".".join(module.parts), mount.trace.last_ts, space)
                done = 0
                for batch in providers.result(module.parts, plan).batches():
                    gathering.add(batch)
                    done += batch.num_rows
                    context.progress.report(f"{name}: {done:,} rows", 0, 0)
                sources.append(index(gathering.gathered(), space))
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    return sources
