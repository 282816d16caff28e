"""Timelines and the tables that show their tracks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.lazy import Lazy
from dctv.contracts.states import DeferredRows
from dctv.errors import UsageError
from dctv.plan.nodes import Scan
from dctv.plan.order import RowOrder
from dctv.record import record
from dctv.run.timeline_rows import show_rows
from dctv.timeline.timeline import Timeline
from dctv.types.schema import ColumnType, Kind, Schema
from dctv.types.units import parse_unit

TIMELINE = "timeline"
"""The namespace of providers in the standard library, and the name of the timeline of a mount or state system."""
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


@record(eq=False)
class Tracks(DeferredRows):
    """The rows of a table of tracks."""

    timeline: Callable[[], Timeline] = Timeline


def show(catalog: Catalog, parts: tuple[str, ...], timeline: Lazy[Timeline], what: str) -> None:
    """Put the tables of a timeline's tracks and rows into the namespace; it is made when one is first read."""
    source = Tracks(None, partial(_table, timeline), timeline=timeline.value)
    scan = Scan(_TRACKS, order=RowOrder.STABLE, name=TIMELINE, source=source)
    catalog.add((*parts, TIMELINE), StoredTable(lambda: scan, what))
    show_rows(catalog, (*parts, TIMELINE), timeline.value)


def timeline_at(name: str, catalog: Catalog) -> Timeline:
    """Return the timeline of a mounted trace or a state system, built if it is missing.

    Raises:
        UsageError: nothing of this name has a timeline.
    """
    found = catalog.find((*name.split("."), TIMELINE))
    plan = found[0].plan() if found is not None and isinstance(found[0], StoredTable) else None
    source = plan.source if isinstance(plan, Scan) else None
    if not isinstance(source, Tracks):
        raise UsageError(f"no trace is mounted and no state system made as `{name}`")
    return source.timeline()


def _table(timeline: Lazy[Timeline]) -> Any:
    import pyarrow as pa

    tracks = timeline.value().tracks
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
