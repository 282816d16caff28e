"""MOUNT TRACES: the traces that a pattern matches, as one name whose tables have the rows of all of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path

from dctv.bind.arguments import bind_argument
from dctv.bind.binder import Binder
from dctv.bind.context import Environment
from dctv.bind.library import library_function
from dctv.bind.parameters import stated_option
from dctv.catalog.mount import HIDDEN, WALL_CLOCK, check_name
from dctv.catalog.namespace import StoredTable, WallClock
from dctv.catalog.shifting import unix_start
from dctv.catalog.stdlib import library
from dctv.contracts.table_function import Argument, PlanBuilder, TableFunction
from dctv.errors import TraceError, UsageError
from dctv.plan.expressions import TraceStarts
from dctv.plan.nodes import Plan
from dctv.plan.rows import of_rows
from dctv.record import record, replace
from dctv.run.context import ExecutionContext, MountedFleet
from dctv.run.fleet import state_tables
from dctv.run.fleet.fleet import Fleet
from dctv.run.fleet.grouped_messages import listed, together
from dctv.run.fleet.manifest import read_manifest
from dctv.run.fleet.members import TRACE, FleetMember, members, size_of
from dctv.run.fleet.metadata import MemberMetadata, MountSettings, metadata_of
from dctv.run.fleet.metadata_cache import memory_of
from dctv.run.fleet.missing_tables import lacking_in
from dctv.run.trace_workers import TraceWork
from dctv.syntax import ast
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.units import parse_unit

_MANIFEST = "manifest"
_REFUSED = ("align",)
"""Options of mounts that mean nothing for many traces."""


@record
class WantedFleet:
    """Traces that are to be mounted as one."""

    pattern: str
    name: ast.Path
    options: Mapping[str, object]
    base: Path | None = None
    """The folder that relative paths start from; None is the current one."""


def run(statement: ast.MountTraces, context: ExecutionContext, known: Environment) -> str:
    """Run MOUNT TRACES; return a message."""
    options = {
        name.text: stated_option(name.text, bind_argument(Binder(known), value)) for name, value in statement.options
    }
    try:
        return mount_fleet(WantedFleet(statement.file.text, statement.path, options, known.base), context)
    except TraceError as error:
        raise TraceError(error.message, error.place or statement.file.place, hint=error.hint) from None


def mount_fleet(wanted: WantedFleet, context: ExecutionContext) -> str:
    """Mount traces as one; return a message.

    Raises:
        TraceError: there are none, or none can be read.
        BindError: the name is taken.
    """
    parts = check_name(context.catalog, wanted.name)
    for option in _REFUSED:
        if option in wanted.options:
            raise UsageError(f"MOUNT TRACES has no option `{option}`: each trace keeps its own time 0")
    given = wanted.options.get(_MANIFEST)
    manifest = None if given is None else read_manifest(str(given), wanted.base)
    every = members(wanted.pattern, wanted.base, manifest)
    if manifest is not None:
        unknown = manifest.unknown({one.name: one.path for one in every})
        if unknown:
            context.log.add(f"`{manifest.path}` has rows of traces that are not there: {listed(unknown)}", len(unknown))
    way = MountSettings(wanted.name.text, {name: value for name, value in wanted.options.items() if name != _MANIFEST})
    metadata = _known(wanted, every, way, context)
    readable = [one for one in every if not metadata[one.name].error]
    if not readable:
        first = every[0].name
        raise TraceError(f"no trace of `{wanted.pattern}` can be read; the first, {first}: {metadata[first].error}")
    manifest_columns = () if manifest is None else tuple(manifest.columns)
    fleet = Fleet(way, readable, metadata, manifest_columns, context)
    _attach(fleet, every, parts, context)
    for text, _ in together((one.name, text, 1) for one in every for text in metadata[one.name].warnings):
        context.log.add(text)
    incomplete = tuple(_incomplete(every, metadata))
    lacking = partial(lacking_in, fleet)
    context.fleets[parts] = MountedFleet(wanted.pattern, len(readable), incomplete, lacking, fleet.examples.kept)
    return f"mounted {len(readable)} of {len(every)} traces as {wanted.name.text}"


def _known(
    wanted: WantedFleet, every: Sequence[FleetMember], way: MountSettings, context: ExecutionContext
) -> Mapping[str, MemberMetadata]:
    """Return the metadata of the traces: cached where they are unchanged, else read now."""
    folder = context.policy.folder()
    if folder is None:
        return _metadata(every, way, context)
    memory = memory_of(wanted.pattern, wanted.base, way, folder)
    known = memory.recall(every, indexed=context.policy.when is True)
    new = [one for one in every if one.name not in known]
    metadata = {**known, **_metadata(new, way, context)}
    if new:
        memory.keep(every, metadata)
    return metadata


def _metadata(every: Sequence[FleetMember], way: MountSettings, context: ExecutionContext) -> dict[str, MemberMetadata]:
    """Collect the metadata of every trace, and build the indexes that are wanted."""
    found: dict[str, MemberMetadata] = {}
    workers = context.workers
    sizes = [size_of(one) for one in every]
    if workers.is_wanted(len(every), len(every), sum(sizes)):
        work = [(member, way) for member in every]
        looked: Iterable[MemberMetadata] = workers.results(
            TraceWork(metadata_of), work, context.share, context.progress, sizes
        )
    else:
        looked = (metadata_of(context, member, way) for member in every)
    for member, one in zip(every, looked, strict=True):
        found[member.name] = one
        context.progress.report(f"{len(found)} of {len(every)} traces", len(found), len(every))
    return found


def _attach(fleet: Fleet, every: Sequence[FleetMember], parts: tuple[str, ...], context: ExecutionContext) -> None:
    """Add the tables and views of the traces to the namespace."""
    for names, doc in _names(fleet).items():
        plan = partial(fleet.table, names, ".".join(names))
        context.catalog.add((*parts, *names), StoredTable(plan, doc))
    for names, function in _functions(fleet).items():
        context.catalog.add((*parts, *names), function)
    context.catalog.add((*parts, WALL_CLOCK), WallClock(None, "", _starts(fleet)))
    for name, (make, doc) in _METADATA_TABLES.items():
        context.catalog.add((*parts, name), StoredTable(cache(partial(make, fleet, every)), doc, there=False))


def _functions(fleet: Fleet) -> dict[tuple[str, ...], TableFunction]:
    """Return the functions that any of the traces has: they run in each trace that has them."""
    formats = dict.fromkeys(fleet.metadata[one.name].format for one in fleet.members)
    own = fleet.context.registries.of_mount(0, 0)
    found: dict[tuple[str, ...], TableFunction] = {(own.name,): own}
    for module in library().modules:
        if module.parameters and any(map(module.covers, formats)):
            found[module.parts] = library_function(module, ())
    return {names: replace(one, bind=partial(_called, fleet, names)) for names, one in found.items()}


def _called(fleet: Fleet, names: tuple[str, ...], arguments: Mapping[str, Argument], _: PlanBuilder) -> Plan:
    return fleet.call(names, arguments)


def _starts(fleet: Fleet) -> TraceStarts:
    """Return when each trace began, of those that record it."""
    found = {one.name: unix_start(fleet.metadata[one.name].properties) for one in fleet.members}
    return TraceStarts({name: start for name, start in found.items() if start is not None})


def _names(fleet: Fleet) -> dict[tuple[str, ...], str]:
    """Return the tables and views that any of the traces has, with their documentation."""
    found: dict[tuple[str, ...], str] = {("events",): "all events of all traces, with their arguments as JSON"}
    formats = dict.fromkeys(fleet.metadata[one.name].format for one in fleet.members)
    for member in fleet.members:
        for name in fleet.metadata[member.name].tables:
            raw = name.startswith("raw_events.")
            found.setdefault(tuple(name.split(".", 1) if raw else name.split(".")), "")
    for module in library().modules:
        if not module.parameters and module.parts[0] not in HIDDEN and any(map(module.covers, formats)):
            found[module.parts] = module.summary
    return {**found, **state_tables.tables()}


def _incomplete(every: Sequence[FleetMember], metadata: Mapping[str, MemberMetadata]) -> Iterator[str]:
    """Yield why traces cannot be read, or not whole."""
    for member in every:
        one = metadata[member.name]
        if one.error:
            yield f"{member.name}: {one.error}"
        yield from (f"{d.file}: {d.reason}" for d in one.diagnostics if d.incomplete)


def _diagnostics(fleet: Fleet, every: Sequence[FleetMember]) -> Plan:
    text = "VARCHAR"
    columns = [ColumnType(name, text) for name in ("file", "reason")]
    columns += [ColumnType("count", "BIGINT"), ColumnType("example", text), ColumnType("incomplete", "BOOLEAN")]
    rows: list[list[str | int | bool | None]] = []
    for member in every:
        one = fleet.metadata[member.name]
        if one.error:
            rows.append([member.name, member.path, one.error, 1, "", True])
        rows += [[member.name, d.file, d.reason, d.count, d.example, d.incomplete] for d in one.diagnostics]
    return of_rows(Schema(Kind.REGULAR, (TRACE, *columns)), rows)


def _properties(fleet: Fleet, every: Sequence[FleetMember]) -> Plan:
    columns = (TRACE, ColumnType("key", "VARCHAR"), ColumnType("value", "VARCHAR"))
    rows = [[one.name, *pair] for one in every for pair in sorted(fleet.metadata[one.name].properties.items())]
    return of_rows(Schema(Kind.REGULAR, columns), rows)


def _last_ts(fleet: Fleet, _: Sequence[FleetMember]) -> Plan:
    schema = Schema(Kind.EVENT, (ColumnType(TS, "BIGINT", parse_unit("ns")), TRACE), (TRACE.name,))
    rows = sorted((fleet.metadata[one.name].last_ts, one.name) for one in fleet.members)
    return of_rows(schema, [list(row) for row in rows])


def _traces(fleet: Fleet, every: Sequence[FleetMember]) -> Plan:
    ns = parse_unit("ns")
    columns = [ColumnType("format", "VARCHAR"), ColumnType("start", "TIMESTAMP_NS"), ColumnType("length", "BIGINT", ns)]
    columns.append(ColumnType("error", "VARCHAR"))
    taken = {TRACE.name, *(one.name for one in columns)}
    manifest_columns = [one for one in fleet.manifest_columns if one.name.lower() not in taken]
    rows: list[list[str | int | float | bool | None]] = []
    for member in every:
        one = fleet.metadata[member.name]
        known = [None, None, None, one.error] if one.error else [one.format, _start(one), one.last_ts, None]
        rows.append([member.name, *known, *(member.cell(column) for column in manifest_columns)])
    return of_rows(Schema(Kind.REGULAR, (TRACE, *columns, *manifest_columns)), rows)


def _start(metadata: MemberMetadata) -> str | None:
    """Return the wall-clock start of a trace, None if unknown."""
    start = unix_start(metadata.properties)
    if start is None:
        return None
    seconds, ns = divmod(start, 10**9)
    return f"{datetime.fromtimestamp(seconds, UTC):%Y-%m-%d %H:%M:%S}.{ns:09}"


_METADATA_TABLES: Mapping[str, tuple[Callable[[Fleet, Sequence[FleetMember]], Plan], str]] = {
    "traces": (_traces, "the traces, and what the manifest says of them"),
    "last_ts": (_last_ts, "the largest time in each trace"),
    "properties": (_properties, "facts about each trace as a whole"),
    "diagnostics": (_diagnostics, "what was skipped, repaired or lost of each trace, with counts"),
}
