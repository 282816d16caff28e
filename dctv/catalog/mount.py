"""Add a loaded trace to the namespace: its tables, its properties, and the standard library's views."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cache, lru_cache, partial
from itertools import count

from dctv.catalog.expected import RAW, EventSource, ExpectedEvent, arguments, feeding
from dctv.catalog.namespace import Catalog, Entry, LibraryPart, StoredTable, View, WallClock, how_to_drop
from dctv.catalog.program_data import stored
from dctv.catalog.shifting import clock_of, shifted, unix_start
from dctv.catalog.stdlib import Expected, LibraryModule, StandardLibrary
from dctv.contracts.histories import HistoryStore
from dctv.contracts.reader import EventColumns, LoadedTrace, TraceTable
from dctv.contracts.table_function import TableFunction
from dctv.errors import BindError
from dctv.plan.build import ROW_NUMBER, as_type, columns, concatenated, number, select, sorted_by, typed_nothing
from dctv.plan.expressions import NULL, Cast, Column, Expression, Ordered, Text
from dctv.plan.node import Query
from dctv.plan.nodes import Plan, Relation, Scan, column_types, physical_names
from dctv.plan.order import RowOrder
from dctv.plan.queries import Item, Select
from dctv.plan.rows import of_rows
from dctv.plan.source import TableSource
from dctv.plan.walk import walk
from dctv.record import field, record, replace
from dctv.syntax import ast
from dctv.types.schema import DURATION, TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

Union = Callable[[Sequence[str]], tuple[Select, Mapping[str, str]]]
"""Maps names of raw tables to the query of their events, in order, and its leaves with their tables."""

TABLE = "dctv:table"
"""The column with the place of a table in the trace, by which events of one time are sorted."""
WALL_CLOCK = "wall_clock"
"""The function from times of a trace to wall-clock times."""
EXPECTED = "_events"
"""The namespace of events as the standard library expects them: with all columns, maybe without rows."""
TABLES = "_tables"
"""The namespace of other tables as the standard library expects them."""
PARTS = "_parts"
"""The namespace of the parts that common views of all formats consist of."""
BUILT = "_built"
"""The namespace of views that only other views read."""
HIDDEN = frozenset((EXPECTED, TABLES, PARTS, BUILT))
"""Namespaces that listings omit."""


@record
class Mount:
    """A mounted trace."""

    parts: tuple[str, ...]
    path: str
    reader: str
    trace: LoadedTrace
    sources: Mapping[str, TableSource] = field(default_factory=dict)
    """The sources of tables without data."""
    all_events: Callable[[Union], TableSource | None] = lambda _: None
    """Returns the source of all events in order, if there is a single one; it may use their union."""
    offset: int = 0
    """The shift of times in the trace's data, in ns; `trace` has shifted times already."""
    history_store: HistoryStore | None = None
    """Stores histories of its states."""
    given: dict[str, Callable[[], Plan]] = field(default_factory=dict)
    """Functions that return the plans of its stored tables, by name below the mount; set when it is attached."""
    close: Callable[[], None] = lambda: None
    """Closes open files; only when nothing reads them any more."""
    number: int = field(default_factory=count(1).__next__)
    """No other mount has it; one that takes over the name of another may have the same path."""

    @property
    def incomplete(self) -> list[str]:
        """Reasons why the trace was not read completely."""
        return [f"{d.file}: {d.reason}" for d in self.trace.diagnostics if d.incomplete]


class LazyPlan:
    """A plan that is built on first use; a mount has hundreds, and few are used."""

    __slots__ = ("_made", "_make")

    def __init__(self, make: Callable[[], Plan]) -> None:
        self._make = make
        self._made: Plan | None = None

    def __call__(self) -> Plan:
        """Return the plan, the same one each time."""
        if self._made is None:
            self._made = self._make()
        return self._made


def check_name(catalog: Catalog, path: ast.Path) -> tuple[str, ...]:
    """Return the parts of a mount's name, which must not be in use."""
    parts = tuple(p.text for p in path.parts)
    if not all(parts):
        raise BindError(f"the name `{path.text}` has an empty part", path.place)
    if parts[0].lower() == "dctv":
        raise BindError("the name `dctv` belongs to dctv's own functions", path.place)
    found = catalog.find(parts)
    if found is not None or catalog.space(parts) is not None:
        hint = f"DROP ALL {path.text} frees it" if found is None else how_to_drop(found[0])
        raise BindError(f"the name `{path.text}` is taken", path.place, hint=hint)
    return parts


def attach(
    catalog: Catalog,
    mount: Mount,
    library: StandardLibrary,
    functions: Sequence[TableFunction],
    function_of: Callable[[LibraryModule, tuple[str, ...]], TableFunction],
) -> None:
    """Add the entries of a mounted trace below its name."""
    trace, parts = mount.trace, mount.parts
    plans = {name: _plan(mount, name) for name in trace.tables}
    entries: dict[tuple[str, ...], dict[str, Entry]] = {}
    for name, plan in plans.items():
        place = _dotted(name, trace.tables[name])
        entries.setdefault(place[:-1], {})[place[-1]] = StoredTable(plan)
    for space, new in entries.items():
        catalog.level((*parts, *space)).entries.update(new)
    own = catalog.level(parts).entries
    own.update(
        (name, StoredTable(LazyPlan(partial(table, trace)), doc, there=False)) for name, table, doc in _METADATA_TABLES
    )
    events = LazyPlan(lambda: _events(mount, plans))
    mount.given.update(plans, events=events)
    every = "all events of the trace, with their arguments as JSON"
    any_event = any(table.event is not None for table in trace.tables.values())
    own["events"] = StoredTable(events, every, any_event, None if any_event else "events with a time")
    own.update((function.name, function) for function in functions)
    own[WALL_CLOCK] = WallClock(unix_start(trace.properties), f"it has {clock_of(trace.properties)}")
    raw = {name: table.event for name, table in trace.tables.items()}
    reader = trace.format or mount.reader
    # Sorted: tables come in the order of a trace's first rows, which differs between those of a fleet.
    sources = _sources(library, tuple(sorted(name.removeprefix(RAW) for name in raw if name.startswith(RAW))))
    expected = catalog.level((*parts, EXPECTED)).entries
    for name, event in library.events.items():
        make = LazyPlan(partial(_expected_event, event, sources[name], raw, plans))
        expected[name] = StoredTable(make, "", bool(sources[name]), name)
    tables = catalog.level((*parts, TABLES)).entries
    for name, one in library.tables.items():
        found = plans.get(name)
        tables[name] = StoredTable(_expected(one, found), "", found is not None, name)
    for place, shared in _library_entries(library, parts, reader, function_of).items():
        catalog.level((*parts, *place)).entries.update(shared)


@lru_cache(256)
def _sources(library: StandardLibrary, raw: tuple[str, ...]) -> Mapping[str, tuple[str, ...]]:
    return feeding(library.events, raw)


@lru_cache(16)
def _library_entries(
    library: StandardLibrary,
    home: tuple[str, ...],
    reader: str,
    function_of: Callable[[LibraryModule, tuple[str, ...]], TableFunction],
) -> Mapping[tuple[str, ...], Mapping[str, Entry]]:
    """Return the library entries below a mount by level: all traces of a format share them."""
    found: dict[tuple[str, ...], dict[str, Entry]] = {}
    for name, schema in library.parts.items():
        views = tuple(_view(module, home) for module in library.sources[name] if module.covers(reader))
        found.setdefault((PARTS,), {})[name] = LibraryPart(schema, library.unique.get(name, ()), views, reader)
    for module in library.modules:
        if module.covers(reader):
            entry = (
                function_of(module, home)
                if module.parameters
                else _view(module, home, warns_if_empty=module.parts[0] not in HIDDEN)
            )
            found.setdefault(module.parts[:-1], {})[module.parts[-1]] = entry
    return found


def _view(module: LibraryModule, home: tuple[str, ...], *, warns_if_empty: bool = False) -> View:
    name = ".".join((*home, *module.parts))
    return View(
        module.select,
        home=home,
        doc=module.summary,
        warns_if_empty=warns_if_empty,
        name=name,
        key=module.key,
        materialized=module.materialized,
    )


def table_plan(catalog: Catalog, mount: Mount, name: str) -> Plan | None:
    """Return the plan of a stored table of a mounted trace, or None if it was dropped."""
    found = catalog.find((*mount.parts, *_dotted(name, mount.trace.tables[name])))
    return found[0].plan() if found is not None and isinstance(found[0], StoredTable) else None


def as_attached(catalog: Catalog, mount: Mount, library: StandardLibrary) -> bool:
    """Whether everything below a mount is as attached, so that its views are those of the library."""
    reader, parts = mount.trace.format or mount.reader, mount.parts

    def entry(*names: str) -> Entry | None:
        found = catalog.find((*parts, *names))
        return None if found is None else found[0]

    views = library.views(reader)
    tables = {_dotted(name, table): mount.given[name] for name, table in mount.trace.tables.items()}
    tables["events",] = mount.given["events"]
    # Only a view reads the table, and takes its name.
    tables = {names: plan for names, plan in tables.items() if names not in {module.parts for module in views}}
    return (
        all(isinstance(one := entry(*view.parts), View) and one.select == view.select for view in views)
        and all(isinstance(one := entry(*names), StoredTable) and one.plan is plan for names, plan in tables.items())
        and all(isinstance(entry(PARTS, name), LibraryPart) for name in library.parts)
        and all(getattr(entry(EXPECTED, name), "event", None) == name for name in library.events)
        and all(getattr(entry(TABLES, name), "event", None) == name for name in library.tables)
    )


def _dotted(name: str, table: TraceTable) -> tuple[str, ...]:
    """Split a table's name: an event's own name may contain dots."""
    if table.event is not None or name.startswith("raw_events."):
        return tuple(name.split(".", 1))
    return tuple(name.split("."))


def _plan(mount: Mount, name: str) -> Callable[[], Plan]:
    """Return a function that returns a table's plan, the same one each time."""

    def plan() -> Plan:
        one = mount.trace.tables[name]
        if name in mount.sources:
            found: Plan = _scan(mount, name)
        else:
            full = ".".join((*mount.parts, name))
            found = stored(full, one.schema, one.data) if one.rows is None else of_rows(one.schema, one.rows())
        return shifted(_typed(found, one.casts), mount.offset)

    return LazyPlan(plan)


def _scan(mount: Mount, name: str) -> Scan:
    """Return the scan of a table without data, as it is stored."""
    schema = mount.trace.tables[name].schema
    order = RowOrder.TIME if schema.kind.time_columns else RowOrder.STABLE
    return Scan(schema, order, ".".join((*mount.parts, name)), mount.sources[name])


def _typed(plan: Plan, casts: Mapping[str, str]) -> Plan:
    """Return a plan with columns cast from texts or JSON to the types of their values."""
    if not casts:
        return plan
    columns = tuple(replace(one, type=casts.get(one.name, one.type)) for one in plan.schema.columns)
    items = []
    for one, name in zip(plan.schema.columns, physical_names(plan.schema), strict=True):
        value: Expression = Cast(Column(name), "JSON") if one.type == "JSON" and one.name in casts else Column(name)
        items.append(Item(Cast(value, casts[one.name]) if one.name in casts else value, name))
    query = select(*items, source="texts")
    return Relation(replace(plan.schema, columns=columns), plan.order, query, (("texts", plan),))


def _expected_event(
    event: ExpectedEvent,
    sources: Sequence[str],
    raw: Mapping[str, EventColumns | None],
    plans: Mapping[str, Callable[[], Plan]],
) -> Plan:
    return event.plan([EventSource(own, raw[f"{RAW}{own}"], plans[f"{RAW}{own}"]) for own in sources])


def _expected(event: Expected, plan: Callable[[], Plan] | None) -> Callable[[], Plan]:
    return LazyPlan(lambda: event.plan(None if plan is None else plan()))


def _last_ts(trace: LoadedTrace) -> Plan:
    return of_rows(Schema(Kind.EVENT, (ColumnType(TS, "BIGINT", parse_unit("ns")),)), [[trace.last_ts]])


def _properties(trace: LoadedTrace) -> Plan:
    schema = Schema(Kind.REGULAR, (ColumnType("key", "VARCHAR"), ColumnType("value", "VARCHAR")))
    return of_rows(schema, sorted(trace.properties.items()))


def _diagnostics(trace: LoadedTrace) -> Plan:
    text = "VARCHAR"
    schema = Schema(
        Kind.REGULAR,
        (
            ColumnType("file", text),
            ColumnType("reason", text),
            ColumnType("count", "BIGINT"),
            ColumnType("example", text),
            ColumnType("incomplete", "BOOLEAN"),
        ),
    )
    return of_rows(schema, [[d.file, d.reason, d.count, d.example, d.incomplete] for d in trace.diagnostics])


_METADATA_TABLES: tuple[tuple[str, Callable[[LoadedTrace], Plan], str], ...] = (
    ("last_ts", _last_ts, "the largest time in the trace"),
    ("properties", _properties, "facts about the trace as a whole"),
    ("diagnostics", _diagnostics, "what was skipped, repaired or lost, with counts"),
)
METADATA = tuple(name for name, _, _ in _METADATA_TABLES)
"""The names of the tables of a trace's metadata, which are known rows."""


def events_schema() -> Schema:
    """Return the schema of `events`."""
    ns = parse_unit("ns")
    return Schema(
        Kind.EVENT,
        (
            ColumnType(TS, "BIGINT", ns),
            ColumnType(DURATION, "BIGINT", ns),
            ColumnType("name", "VARCHAR"),
            ColumnType("category", "VARCHAR"),
            ColumnType("pid", "BIGINT"),
            ColumnType("tid", "BIGINT"),
            ColumnType("args", "JSON"),
        ),
    )


def _events(mount: Mount, plans: Mapping[str, Callable[[], Plan]]) -> Plan:
    """Return the plan of `events`: the union of the raw tables, in order of time."""
    schema, raw = events_schema(), [name for name, table in mount.trace.tables.items() if table.event is not None]

    def union(plan_of: Callable[[str], Plan]) -> Relation:
        query, tables = union_of(mount.trace, raw)
        leaves = tuple((leaf, plan_of(name)) for leaf, name in tables.items())
        return Relation(schema, order=RowOrder.TIME, query=query, leaves=leaves)

    source = mount.all_events(lambda names: union_of(mount.trace, names))
    if source is None:
        return union(lambda name: plans[name]())
    as_stored = cache(lambda: union(partial(_scan, mount)))
    return shifted(Scan(schema, RowOrder.TIME, ".".join((*mount.parts, "events")), source, as_stored), mount.offset)


def union_of(trace: LoadedTrace, names: Sequence[str]) -> tuple[Select, Mapping[str, str]]:
    """Return the query of the events of some raw tables, in order, and its leaves with their tables.

    Events of one time come in the order of the tables.
    """
    schema = events_schema()
    selects: list[Select] = []
    leaves: dict[str, str] = {}
    for place, name in enumerate(names):
        leaf = f"raw{place}"
        leaves[leaf] = name
        selects.append(_as_events(trace.tables[name], leaf, schema, place))
    if not selects:
        return typed_nothing(schema), {}
    every = select(*columns(schema.names), source=concatenated(selects))
    order = () if len(selects) == 1 else columns((TS, TABLE, "dctv:row"))
    return sorted_by(every, *order), leaves


def is_in_order_of_tables(query: Query) -> bool:
    """Whether a query sorts by the order of tables in a trace, which differs between traces that have the same ones."""
    return any(isinstance(node, Ordered) and node.operand == Column(TABLE) for node in walk(query))


def _as_events(table: TraceTable, leaf: str, schema: Schema, place: int) -> Select:
    event = table.event
    assert event is not None
    values: dict[str, Expression] = {
        "name": Text(event.name) if event.named_by is None else Column(event.named_by),
        "args": arguments(event.args, table.schema),
        TS: Column(TS),
    }
    for target, source in (
        ("category", event.category),
        ("pid", event.pid),
        ("tid", event.tid),
        (DURATION, event.duration),
    ):
        values[target] = NULL if source is None else Column(source)
    types = column_types(table.schema)
    items = [Item(as_type(values[c.name], c.type, types), c.name) for c in schema.columns]
    return select(*items, Item(number(place), TABLE), Item(ROW_NUMBER, "dctv:row"), source=leaf)
