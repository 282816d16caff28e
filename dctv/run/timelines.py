"""A mounted trace to its timeline, made of the tracks that the standard library's providers give."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from threading import RLock
from typing import Any

from dctv.catalog.mount import Mount
from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.histories import Work
from dctv.contracts.states import Computed
from dctv.errors import Interrupted, UsageError
from dctv.plan.nodes import Scan
from dctv.record import record
from dctv.run.providers import bound, version_of
from dctv.run.state_systems import Means
from dctv.timeline.gathering import Gathering
from dctv.timeline.indexed import Indexed, index
from dctv.timeline.space import Space
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit

TIMELINE = "timeline"
"""Where providers are in the standard library, and what the timeline of a mount is called."""
_NS = parse_unit("ns")
_TEXT = ("name", "kind", "unit", "source")
_TRACKS = Schema(
    Kind.REGULAR,
    (
        ColumnType("track", "BIGINT"),
        ColumnType("parent", "BIGINT"),
        ColumnType("depth", "BIGINT"),
        *(ColumnType(name, "VARCHAR") for name in _TEXT),
        ColumnType("lanes", "BIGINT"),
        ColumnType("rows", "BIGINT"),
        ColumnType("first", "BIGINT", _NS),
        ColumnType("last", "BIGINT", _NS),
    ),
)


class Lazy:
    """A timeline that is made when somebody first needs it; several threads may."""

    def __init__(self, make: Callable[[], Timeline]) -> None:
        self._make = make
        self._lock = RLock()
        self._timeline: Timeline | None = None

    def timeline(self) -> Timeline:
        """Return it, made if it is not there."""
        with self._lock:
            if self._timeline is None:
                self._timeline = self._make()
            return self._timeline


@record(eq=False)
class Tracks(Computed):
    """The rows of a table of tracks."""

    timeline: Callable[[], Timeline] = Timeline


def offer(catalog: Catalog, mount: Mount, means: Callable[[], Means]) -> None:
    """Put the timeline of a mount into the namespace; it is made when it is first read."""
    lazy = Lazy(lambda: _made(mount, means()))
    source = Tracks(None, partial(_table, lazy), timeline=lazy.timeline)
    scan = Scan(_TRACKS, ordered=False, name=TIMELINE, source=source)
    catalog.add((*mount.parts, TIMELINE), StoredTable(lambda: scan, "the tracks of the trace's timeline, as a tree"))


def timeline_of_mount(name: str, catalog: Catalog) -> Timeline:
    """Return the timeline of a mounted trace, made if it is not there.

    Raises:
        UsageError: no trace is mounted by this name.
    """
    found = catalog.find((*name.split("."), TIMELINE))
    plan = found[0].plan() if found is not None and isinstance(found[0], StoredTable) else None
    source = plan.source if isinstance(plan, Scan) else None
    if not isinstance(source, Tracks):
        raise UsageError(f"no trace is mounted as `{name}`")
    return source.timeline()


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


def _table(lazy: Lazy) -> Any:
    import pyarrow as pa

    tracks = lazy.timeline().tracks
    columns: dict[str, list[object]] = {
        "track": [one.id for one in tracks],
        "parent": [one.parent for one in tracks],
        "depth": [one.depth for one in tracks],
        "name": [one.name for one in tracks],
        "kind": [one.kind.value for one in tracks],
        "unit": [one.unit for one in tracks],
        "source": [one.source or None for one in tracks],
        "lanes": [one.lanes for one in tracks],
        "rows": [one.rows for one in tracks],
        "first": [one.first for one in tracks],
        "last": [one.last for one in tracks],
    }
    types = {name: pa.string() if name in _TEXT else pa.int64() for name in columns}
    return pa.table({name: pa.array(values, types[name]) for name, values in columns.items()})
