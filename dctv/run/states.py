"""A select of changes to a state system, and the tables that show it."""

from __future__ import annotations

import weakref
from functools import partial
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp

from sqlglot import exp

from dctv.catalog.namespace import Catalog, StoredTable
from dctv.contracts.states import States, intervals
from dctv.errors import BindError, Place
from dctv.plan.nodes import Plan, Relation, Scan, physical_names
from dctv.plan.source import Held
from dctv.plan.sql import aliased, column, subquery, table
from dctv.record import record
from dctv.run.result import Result
from dctv.state import StateSystem, escape
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.units import NO_UNIT, parse_unit

_WHOLE = ("BIGINT", "INTEGER", "SMALLINT", "TINYINT")
_TIME, _PATH, _ACTION, _ROW = "time", "path", "action", "dctv:row"
_ATTRIBUTES = Schema(
    Kind.REGULAR,
    (
        ColumnType("quark", "INTEGER"),
        ColumnType("parent", "INTEGER"),
        *(ColumnType(name, "VARCHAR") for name in ("name", "path", "type")),
    ),
)


class _Folder:
    """A folder that goes when nobody holds it any more."""

    def __init__(self) -> None:
        self.path = Path(mkdtemp(prefix="dctv-states-"))
        weakref.finalize(self, rmtree, self.path, ignore_errors=True)


@record
class _Kept:
    """A state system and the folder of its file."""

    system: StateSystem
    folder: _Folder


def changes_of(plan: Plan, place: Place | None) -> Relation:
    """Return changes in order of time; of those at one time in the order in which the select gives them.

    Raises:
        BindError: a column is missing.
    """
    schema = plan.schema
    names = dict(zip(schema.names, physical_names(schema), strict=True))
    time = next((name for name in (TS, _TIME) if name in names), None)
    if time is None or _PATH not in names:
        missing = _PATH if time is not None else TS
        hint = "changes have `_ts` (or `time`), `path`, perhaps `action`, and values"
        raise BindError(f"the select has no column `{missing}`", place, hint=hint)
    found = next(one for one in schema.columns if one.name == time)
    if found.type not in _WHOLE or found.unit not in (NO_UNIT, parse_unit("ns")):
        told = f"{found.type} {found.unit}".strip()
        raise BindError(f"`{time}` is a whole number of ns, found {told}", place)
    values = [one for one in schema.columns if one.name not in (*schema.kind.time_columns, time, _PATH, _ACTION)]
    kept = [time, _PATH, *([_ACTION] if _ACTION in names else []), *(one.name for one in values)]
    shown = [_TIME, _PATH, *([_ACTION] if _ACTION in names else []), *(f"value{n}" for n, _ in enumerate(values))]
    made = [aliased(column(names[name]), new) for name, new in zip(kept, shown, strict=True)]
    row = aliased(exp.Window(this=exp.Anonymous(this="row_number")), _ROW)
    numbered = exp.Select(expressions=[*made, row]).from_(table("t"))
    tree = exp.Select(expressions=[column(one) for one in shown]).from_(subquery(numbered, "numbered"))
    order = [exp.Ordered(this=column(one), nulls_first=False) for one in (_TIME, _ROW)]
    types = {one.name: one.type for one in schema.columns}
    changes = Schema(Kind.REGULAR, tuple(ColumnType(new, types[name]) for name, new in zip(kept, shown, strict=True)))
    query = tree.order_by(*order, copy=False)
    return Relation(changes, ordered=False, query=query, leaves=(("t", plan),), keeps_order=True)


def build(changes: Result) -> _Kept:
    """Make the changes of a result; the history ends with the last of them."""
    folder = _Folder()
    path = folder.path / "history"
    system, last = None, 0
    for batch in changes.batches():
        if batch.num_rows == 0:
            continue
        times = batch.column(0)
        if system is None:
            system = StateSystem.on_disk(path, min(0, times[0].as_py() or 0))
        system.apply(batch.rename_columns(_columns(batch.schema.names)))
        last = times[-1].as_py()
    if system is None:
        system = StateSystem.on_disk(path)
    system.close(last)
    return _Kept(StateSystem.open(path), folder)


def _columns(names: list[str]) -> list[str]:
    return [_TIME, *names[1:]]


def show(catalog: Catalog, parts: tuple[str, ...], kept: _Kept) -> None:
    """Put the tables of a state system into the namespace: its intervals by its own name, and its attributes."""
    name = ".".join(parts)
    scan = intervals(name, _Source(kept.system, folder=kept.folder))
    catalog.add(parts, StoredTable(lambda: scan, "a state system: the states of its attributes"))
    catalog.add((*parts, "intervals"), StoredTable(lambda: scan, "the states of attributes over time"))
    catalog.add(
        (*parts, "attributes"),
        StoredTable(partial(_attributes, kept.system), "attributes, and their places in the tree"),
    )


@record(eq=False)
class _Source(States):
    """Intervals of a state system that is kept as long as its table is known."""

    folder: _Folder | None = None


def _attributes(system: StateSystem) -> Plan:
    import pyarrow as pa

    quarks = range(system.attribute_count)
    parents = [system.parent(quark) for quark in quarks]
    data = {
        "quark": pa.array(quarks, pa.int32()),
        "parent": pa.array([None if parent < 0 else parent for parent in parents], pa.int32()),
        "name": pa.array([system.name(quark) for quark in quarks], pa.string()),
        "path": pa.array([escape(system.path(quark)) for quark in quarks], pa.string()),
        "type": pa.array([system.kind(quark) for quark in quarks], pa.string()),
    }
    return Scan(_ATTRIBUTES, ordered=False, name="attributes", source=Held(pa.table(data)))


def is_state_system(entry: object) -> bool:
    """Say whether an entry of the namespace is a state system."""
    plan = entry.plan() if isinstance(entry, StoredTable) else None
    return isinstance(plan, Scan) and isinstance(plan.source, States)
