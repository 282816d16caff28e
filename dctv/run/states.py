"""State systems and the tables that show them."""

from __future__ import annotations

from functools import partial
from typing import Any

from dctv.catalog.namespace import Catalog, Entry, StoredTable
from dctv.contracts.lazy import Lazy
from dctv.contracts.states import VALUES, DeferredRows, History, States, intervals
from dctv.errors import WarningLog
from dctv.plan.nodes import Scan
from dctv.plan.order import RowOrder
from dctv.run.tracks import show as show_timeline
from dctv.state import escape
from dctv.timeline.of_states import timeline_of_states
from dctv.timeline.timeline import Timeline
from dctv.types.schema import ColumnType, Kind, Schema

_ATTRIBUTES = Schema(
    Kind.REGULAR,
    (
        ColumnType("quark", "INTEGER"),
        ColumnType("parent", "INTEGER"),
        *(ColumnType(name, "VARCHAR") for name in ("name", "path", "type")),
    ),
)


def show(catalog: Catalog, parts: tuple[str, ...], history: History, log: WarningLog) -> None:
    """Put the tables of a state system into the namespace: its intervals by its own name, attributes, timeline."""
    scan = intervals(".".join(parts), States(history))
    catalog.add(parts, StoredTable(lambda: scan, "a state system: the states of its attributes"))
    catalog.add((*parts, "intervals"), StoredTable(lambda: scan, "the states of attributes over time"))
    source = DeferredRows(None, partial(_attributes, history))
    attributes = Scan(_ATTRIBUTES, order=RowOrder.STABLE, name="attributes", source=source)
    catalog.add((*parts, "attributes"), StoredTable(lambda: attributes, "attributes, and their places in the tree"))
    what = "the tracks of a timeline of attributes, as a tree"
    show_timeline(catalog, parts, Lazy(partial(_timeline, ".".join(parts), history), log), what)


def _timeline(name: str, history: History) -> Timeline:
    import pyarrow as pa

    system = history.value()
    names = ("_ts", "_duration", "quark", "path", *(one.name for one in VALUES))
    stream = system.spans(range(system.attribute_count), names)
    with pa.RecordBatchReader.from_stream(stream) as reader:
        return timeline_of_states(reader.read_all().drop_columns("path"), system.path, name)


def _attributes(history: History) -> Any:
    import pyarrow as pa

    system = history.value()
    quarks = range(system.attribute_count)
    parents = [system.parent(quark) for quark in quarks]
    data = {
        "quark": pa.array(quarks, pa.int32()),
        "parent": pa.array([None if parent < 0 else parent for parent in parents], pa.int32()),
        "name": pa.array([system.name(quark) for quark in quarks], pa.string()),
        "path": pa.array([escape(system.path(quark)) for quark in quarks], pa.string()),
        "type": pa.array([system.kind(quark) for quark in quarks], pa.string()),
    }
    return pa.table(data)


def source_of(entry: Entry) -> States | None:
    """Return the states of an entry of the namespace; None if it is not a state system."""
    plan = entry.plan() if isinstance(entry, StoredTable) else None
    return plan.source if isinstance(plan, Scan) and isinstance(plan.source, States) else None
