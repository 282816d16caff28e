"""Find when time 0 of a table's column `_ts` was by the wall clock, for one trace or for each row's trace."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from dctv.bind.library_views import BoundView
from dctv.catalog.mount import WALL_CLOCK
from dctv.catalog.namespace import Catalog, View, WallClock
from dctv.errors import BindError, Place
from dctv.plan.expressions import And, Binary, Cast, Column
from dctv.plan.fleets import TRACE, FleetSource
from dctv.plan.node import Query
from dctv.plan.nodes import Kernel, Plan, Relation, Scan, physical_names
from dctv.plan.queries import Compound, Derived, FromItem, Select, TableName
from dctv.types.schema import TS, Kind

_HINT = "t.wall_clock(_ts) is the time of the wall clock for a trace `t`"
_Tables = Mapping[str, Plan | Query]
"""What names of tables mean inside of a query."""
_Homes = Mapping[int, tuple[str, ...]]
"""Of which mounts the views of the standard library are, by the identity of their plans."""


def start_of(plan: Plan, catalog: Catalog, place: Place | None) -> int:
    """Return the ns since 1970 of time 0 of the traces that a table's `_ts` is of.

    Raises:
        BindError: it is not clear which traces these are, or they do not tell when they began.
    """
    clocks = _clocks(_kept_times(plan, catalog, place)[0], catalog, place)
    for name, clock in clocks.items():
        if clock.starts is not None:
            hint = f"{name}.wall_clock(_ts) is the time of the wall clock for each of them"
            raise BindError(
                f"`_ts` belongs to the traces of `{name}`, which began at different times", place, hint=hint
            )
    return _same_start(clocks, place)


def time_zero(plan: Plan, catalog: Catalog) -> int | Mapping[str, int]:
    """Return the ns since 1970 of time 0 of `_ts`; for many traces, by their names in the column `_trace`.

    Raises:
        BindError: as above, or no column tells the trace of a time.
    """
    tables, apart = _kept_times(plan, catalog, None)
    clocks = _clocks(tables, catalog, None)
    many = {name: clock.starts for name, clock in clocks.items() if clock.starts is not None}
    if not many:
        return _same_start(clocks, None)
    if len(clocks) > 1:
        listed = " and ".join(f"`{name}`" for name in sorted(clocks))
        raise BindError(f"`_ts` belongs to traces of {listed}", None)
    ((name, starts),) = many.items()
    count = plan.schema.names.count(TRACE)
    if not apart or count != 1:
        why = f"{count} columns are called `{TRACE}`" if count > 1 else f"no column `{TRACE}` beside it tells which"
        raise BindError(f"`_ts` belongs to the traces of `{name}`, and {why}", None)
    return starts.of


def _same_start(clocks: Mapping[str, WallClock], place: Place | None) -> int:
    starts = {clock.start for clock in clocks.values() if clock.start is not None}
    if len(starts) > 1:
        listed = " and ".join(f"`{name}`" for name in sorted(clocks))
        raise BindError(f"`_ts` belongs to the traces {listed}, which began at different times", place, hint=_HINT)
    return starts.pop()


def _kept_times(plan: Plan, catalog: Catalog, place: Place | None) -> tuple[list[str], bool]:
    """Return the names of the tables that `_ts` is of, and whether `_trace` is that of the same rows."""
    bound: Iterable[BoundView] = catalog.bound.values()
    homes = {id(one.plan): one.entry.home for one in bound if isinstance(one.entry, View) and one.entry.home}
    try:
        tables, apart = _timed(plan, homes)
    except _Computed:
        message = "`_ts` is computed here, so it is not known which trace it is a time of"
        raise BindError(message, place, hint=_HINT) from None
    names = [
        [".".join((*homes[id(table)], "_"))] if id(table) in homes else [one.name for one in _scans(table)]
        for table in tables
    ]
    return [name for of_table in names for name in of_table], apart


def _clocks(tables: Sequence[str], catalog: Catalog, place: Place | None) -> Mapping[str, WallClock]:
    """Return the mounts that tables are of, with their clocks."""
    clocks: dict[str, WallClock] = {}
    for name in tables:
        found = _clock(name, catalog)
        if found is None:
            raise BindError(f"`_ts` belongs to the table `{name}`, which is not part of a trace", place, hint=_HINT)
        clocks.setdefault(*found)
    if not clocks:
        raise BindError("cannot tell which trace `_ts` belongs to", place, hint=_HINT)
    for name, clock in clocks.items():
        unknown = clock.unknown(name, place)
        if unknown is not None:
            raise unknown
    return clocks


def _clock(scan: str, catalog: Catalog) -> tuple[str, WallClock] | None:
    """Return the mount that a stored table is of, and its clock."""
    parts = tuple(scan.split("."))
    for count in range(len(parts) - 1, 0, -1):
        entry = catalog.find((*parts[:count], WALL_CLOCK))
        if entry is not None and isinstance(entry[0], WallClock):
            return ".".join(parts[:count]), entry[0]
    return None


class _Computed(Exception):
    """A column is not that of a table of a trace, as it was."""


def _scans(whole: Plan) -> Iterator[Scan]:
    """Yield the stored tables with times that a plan is made of, each once."""
    seen: set[int] = set()
    stack = [whole]
    while stack:
        plan = stack.pop()
        if id(plan) in seen:
            continue
        seen.add(id(plan))
        match plan:
            case Scan(source=FleetSource() as source) if source.rows is not None:
                stack.append(source.rows)
            case Scan() if TS in plan.schema.names:
                yield plan
            case Kernel():
                stack += plan.inputs
            case Relation():
                stack += [leaf for _, leaf in plan.leaves]


_Found = tuple[list[Plan], bool]
"""Tables whose `_ts` a column is, and whether the column `_trace` beside it is of the same rows."""


def _timed(plan: Plan, homes: _Homes) -> _Found:
    """Return the tables whose `_ts` the column of that name of a table is."""
    names = physical_names(plan.schema)
    if isinstance(plan, Scan) and isinstance(plan.source, FleetSource) and plan.source.rows is not None:
        return _timed(plan.source.rows, homes)[0], TRACE in names
    # Views of the standard library keep to the time of their trace, whatever they compute.
    if plan.schema.kind is not Kind.REGULAR:
        return [plan], TRACE in plan.schema.partitions
    if TS in names and (isinstance(plan, Scan) or id(plan) in homes):
        return [plan], TRACE in names
    if TS not in names or not isinstance(plan, Relation):
        raise _Computed
    return _kept(plan.query, names.index(TS), dict(plan.leaves), homes)


def _kept(query: Query, position: int, tables: _Tables, homes: _Homes) -> _Found:
    """Return the tables whose `_ts` a column of a query's result is."""
    if not isinstance(query, Compound | Select) or query.recursive:
        raise _Computed
    tables = {**tables, **{step.name: step.query for step in query.steps if not step.columns}}
    if isinstance(query, Compound):
        parts = [_kept(part, position, tables, homes) for part in query.parts]
        return [plan for found, _ in parts for plan in found], all(apart for _, apart in parts)
    value = query.items[position].value if position < len(query.items) else None
    while isinstance(value, Cast) and value.type == "BIGINT":
        value = value.operand
    if not isinstance(value, Column):
        raise _Computed
    sources = [one for one in query.sources if value.table in (None, one.called)]
    if len(sources) != 1 or sources[0].columns:
        raise _Computed
    found, apart = _kept_in(sources[0], value.name, tables, homes)
    return found, apart and _has_trace(query, value.table)


def _has_trace(query: Select, table: str | None) -> bool:
    """Whether a select has the column `_trace` of one of its sources, or one that is joined to be equal."""
    values = [item.value for item in query.items if item.output == TRACE]
    own = Column(TRACE, table)
    if len(values) != 1:
        return False
    (trace,) = values
    ons = [join.on for join in query.joins if join.kind == "INNER" and join.on is not None]
    tests = [test for on in ons for test in (on.parts if isinstance(on, And) else (on,))]
    return trace == own or any(test in (Binary("=", own, trace), Binary("=", trace, own)) for test in tests)


def _kept_in(source: FromItem, name: str, tables: _Tables, homes: _Homes) -> _Found:
    found = tables.get(source.name) if isinstance(source, TableName) else None
    read = source.query if isinstance(source, Derived) else found
    if isinstance(read, Plan) and name == TS:
        return _timed(read, homes)
    first = read.parts[0] if isinstance(read, Compound) else read
    outputs = [item.output for item in first.items] if isinstance(first, Select) else []
    if not isinstance(read, Query) or name not in outputs:
        raise _Computed
    return _kept(read, outputs.index(name), tables, homes)
