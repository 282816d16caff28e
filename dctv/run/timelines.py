"""A mounted trace to its timeline, made of the tracks that the standard library's providers give."""

from __future__ import annotations

from collections.abc import Callable

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog
from dctv.contracts.histories import Work
from dctv.errors import Interrupted
from dctv.run.providers import bound, version_of
from dctv.run.state_systems import Means
from dctv.run.tracks import TIMELINE, show
from dctv.timeline.gathering import Gathering
from dctv.timeline.indexed import Indexed, index
from dctv.timeline.space import Space
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline


def offer(catalog: Catalog, mount: Mount, means: Callable[[], Means]) -> None:
    """Put the timeline of a mount into the namespace; it is made when it is first read."""
    show(catalog, mount.parts, lambda: _made(mount, means()), "the tracks of the trace's timeline, as a tree")


def _made(mount: Mount, means: Means) -> Timeline:
    name, version = ".".join(mount.parts), version_of(mount, means)
    if mount.shelf is None or version is None:
        return Timeline(_indexed(mount, means), name)
    work = Work(
        TIMELINE,
        version,
        lambda path, identity: write(path, identity, _indexed(mount, means)),
        lambda path, identity: Timeline(read(path, identity), name),
        lambda: means.report(f"{name}.{TIMELINE}: waiting for another process that makes it", 0, 0),
        means.note,
        kind=TIMELINE,
        holds="tracks",
    )
    kept: Timeline | None = mount.shelf.kept(work)
    return Timeline(_indexed(mount, means), name) if kept is None else kept


def _indexed(mount: Mount, means: Means) -> list[Indexed]:
    sources = []
    space = Space(means.spill_folder)
    try:
        with means.deep():
            for module, plan in bound(mount, TIMELINE, means):
                name = ".".join((*mount.parts, *module.parts))
                gathering = Gathering(".".join(module.parts), mount.trace.last_ts, space)
                done = 0
                for batch in means.run(plan).batches():
                    gathering.add(batch)
                    done += batch.num_rows
                    means.report(f"{name}: {done:,} rows", 0, 0)
                sources.append(index(gathering.gathered(), space))
    except KeyboardInterrupt:
        raise Interrupted("interrupted") from None
    return sources
