"""Assign the fields of events to columns, with unique names, and thread and processor in columns of their own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dctv.readers.ctf_metadata.classes import SCOPES, EventClass, StreamClass, TraceClass
from dctv.readers.ctf_metadata.layout import NONE, FieldLeaf, FieldScope, Program
from dctv.readers.ftrace_events.fields import UNITS
from dctv.record import record
from dctv.types.schema import TS

_RESERVED = (TS, "cpu", "common_comm", "common_pid", "common_tgid", "common_flags", "line", "trace", "dur", "cat")
_THREAD = (("common_pid", "int", ("tid", "vtid")), ("common_tgid", "int", ("pid", "vpid")))
_SWITCH = "sched_switch"
_KERNEL = {"common_pid", "common_flags"}
"""Fields that perf copies from the kernel, with the meaning of the columns of the same names."""

Column = tuple[str, str, str]
"""Name, type, unit."""


@record
class TablePlan:
    """The columns of a table, and the fields of each scope that fill them."""

    name: str
    columns: tuple[Column, ...]
    fills: tuple[tuple[int, ...], ...]
    """For each scope (header, context of all events, context, payload), the column of each field."""
    also: tuple[tuple[int, ...], ...]
    """A second column for each field, or `NONE`."""
    cpu: bool
    """Whether a column has the packet's processor."""
    inferred: bool
    """Whether the thread is the one that the scheduler last switched to on the processor."""
    constants: tuple[tuple[int, int | str], ...]
    """Columns with the same value in all rows."""


def table_name(event: EventClass, *, perf: bool) -> str:
    """Return the table name of an event: tracepoints of the kernel lose their subsystem."""
    return event.name.rpartition(":")[2] or event.name if perf else event.name


def of_perf(trace: TraceClass) -> bool:
    """Whether a trace was converted from perf.data."""
    return trace.environment.get("tracer_name") == "perf"


def follows_switches(trace: TraceClass) -> bool:
    """Whether scheduler switches give the thread of events that do not record it."""
    names = {event.name for stream in trace.streams.values() for event in stream.events.values()}
    return trace.environment.get("domain") == "kernel" and _SWITCH in names and not of_perf(trace)


@record
class TraceSettings:
    """Properties of the trace that the columns of an event depend on."""

    trace: TraceClass
    cpu: bool
    """Whether packets record the processor."""
    several: bool
    """Whether several traces are mounted as one."""
    label: str
    """The name of this trace."""


def plan(event: EventClass, scopes: Sequence[FieldScope], around: TraceSettings, program: Program) -> TablePlan:
    """Plan the columns of an event: those of header, contexts and payload."""
    trace, perf = around.trace, of_perf(around.trace)
    name = table_name(event, perf=perf)
    sources = _sources(name, scopes, around)
    shared = {leaf.name for leaf in scopes[3].leaves if perf and leaf.name in _KERNEL and leaf.kind == "int"}
    inferred = "common_pid" not in sources and not shared and around.cpu and follows_switches(trace)
    constants = _constants(trace, sources)
    fixed = {**dict.fromkeys((*sources, *constants, *shared)), **({"cpu": None} if around.cpu else {})}
    if inferred:
        fixed |= {"common_pid": None, "common_comm": None}
    columns: list[Column] = [(TS, "int", "ns")]
    common = ("cpu", "common_comm", "common_pid", "common_tgid")
    columns += [(one, "text" if one == "common_comm" else "int", "") for one in common if one in fixed]
    columns.append(("line", "int", ""))
    if around.several:
        columns.append(("trace", "text", ""))
        constants["trace"] = around.label
    places = {column: place for place, (column, _, _) in enumerate(columns)}
    fills = _named(name, scopes, columns, places, shared)
    also = tuple(
        tuple(next((places[column] for column, one in sources.items() if one is leaf), NONE) for leaf in scope.leaves)
        for scope in scopes
    )
    if name == _SWITCH and follows_switches(trace):
        _keep_switches(scopes[3], program)
    return TablePlan(
        name, tuple(columns), fills, also, "cpu" in fixed and "cpu" not in sources, inferred,
        tuple((places[column], value) for column, value in constants.items()),
    )  # fmt: skip


def _sources(name: str, scopes: Sequence[FieldScope], around: TraceSettings) -> dict[str, FieldLeaf]:
    """Return the fields that hold the thread and the processor, by column."""
    found: dict[str, FieldLeaf] = {}
    contexts = {leaf.name: leaf for scope in scopes[1:3] for leaf in scope.leaves}
    payload = {leaf.name: leaf for leaf in scopes[3].leaves}
    for column, kind, names in (*_THREAD, ("common_comm", "text", ("procname",))):
        leaf = next((contexts[one] for one in names if one in contexts and contexts[one].kind == kind), None)
        if leaf is not None:
            found[column] = leaf
    if of_perf(around.trace):
        fields = (("cpu", "perf_cpu"), ("common_pid", "perf_tid"), ("common_tgid", "perf_pid"))
        found.update({column: payload[one] for column, one in fields if one in payload and payload[one].kind == "int"})
    elif name == _SWITCH and "common_pid" not in found and follows_switches(around.trace):
        switched = (("common_pid", "prev_tid"), ("common_comm", "prev_comm"))
        found.update({column: payload[one] for column, one in switched if one in payload})
    return found


def _constants(trace: TraceClass, sources: Mapping[str, FieldLeaf]) -> dict[str, int | str]:
    """Return columns from the environment about a trace's only process."""
    constants: dict[str, int | str] = {}
    pid, comm = trace.environment.get("vpid"), trace.environment.get("procname")
    if isinstance(pid, int) and "common_tgid" not in sources:
        constants["common_tgid"] = pid
    if isinstance(comm, str) and "common_comm" not in sources:
        constants["common_comm"] = comm
    return constants


def _named(
    table: str, scopes: Sequence[FieldScope], columns: list[Column], places: dict[str, int], shared: set[str]
) -> tuple[tuple[int, ...], ...]:
    """Add a column for each field; of equal names, the payload's stays unchanged."""
    taken = {name.lower() for name in _RESERVED}
    names: dict[int, dict[int, str]] = {}
    for scope, prefix in ((3, "field_"), (2, "context_"), (1, "context_"), (0, "header_")):
        names[scope] = {}
        for place, leaf in enumerate(scopes[scope].leaves):
            name = leaf.name or "value"
            if name not in shared:
                while name.lower() in taken:
                    name = f"{prefix}{name}"
                taken.add(name.lower())
            names[scope][place] = name
    fills = []
    for number, one in enumerate(scopes):
        fill = []
        for place, leaf in enumerate(one.leaves):
            name = names[number][place]
            if name not in places:
                places[name] = len(columns)
                columns.append((name, leaf.kind, _unit(table, name, leaf.kind)))
            fill.append(places[name])
        fills.append(tuple(fill))
    return tuple(fills)


def _unit(table: str, column: str, kind: str) -> str:
    if kind not in {"int", "uint", "float"}:
        return ""
    ending = column.rpartition("_")[2] if "_" in column else ""
    return UNITS.get((table, column), ending if ending in {"ns", "us", "ms"} else "")


def _keep_switches(payload: FieldScope, program: Program) -> None:
    for leaf in payload.leaves:
        if leaf.name == "next_tid":
            program.slot_of(leaf.node)
        elif leaf.name == "next_comm":
            program.capture(leaf.node)


def switch_slot(payload: FieldScope, program: Program) -> int:
    """Return the slot that holds the thread that is switched to."""
    return next((program.slot_of(leaf.node) for leaf in payload.leaves if leaf.name == "next_tid"), NONE)


def layout(trace: TraceClass, label: str, program: Program, *, several: bool) -> dict[str, Any]:
    """Add a trace's nodes to the program, and return its description for the decoder."""
    program.forget(*SCOPES)
    header = program.scope("packet-header", trace.header)
    streams = [_stream(trace, stream, label, program, several=several) for stream in trace.streams.values()]
    return {"name": label, "uuid": trace.uuid, "header": header.root, "streams": streams}


def _stream(trace: TraceClass, stream: StreamClass, label: str, program: Program, *, several: bool) -> dict[str, Any]:
    program.forget(*SCOPES[1:])
    packet = program.scope("packet-context", stream.packet_context)
    header = program.scope("event-header", stream.header)
    common = program.scope("common-context", stream.context)
    cpu = stream.packet_context is not None and any(name == "cpu_id" for name, _, _ in stream.packet_context.members)
    around = TraceSettings(trace, cpu, several, label)
    events = []
    for event in stream.events.values():
        program.forget(*SCOPES[4:])
        context = program.scope("specific-context", event.context)
        payload = program.scope("payload", event.payload)
        made = plan(event, (header, common, context, payload), around, program)
        follows = made.name == _SWITCH and follows_switches(trace)
        events.append(
            {
                "id": event.number % (1 << 64),
                "table": made.name,
                "context": context.root,
                "payload": payload.root,
                "columns": made.columns,
                "fills": made.fills,
                "also": made.also,
                "cpu": made.cpu,
                "inferred": made.inferred,
                "constants": [(place, str(value), isinstance(value, int)) for place, value in made.constants],
                "switch": switch_slot(payload, program) if follows else NONE,
            }
        )
    clock = trace.clocks.get(stream.clock)
    return {
        "id": stream.number % (1 << 64),
        "packet": packet.root,
        "packet_extra": bool(packet.leaves),
        "header": header.root,
        "shows_header": bool(header.leaves),
        "common": common.root,
        "clock": None if clock is None else (clock.frequency, clock.offset_s, clock.offset),
        "events": events,
    }
