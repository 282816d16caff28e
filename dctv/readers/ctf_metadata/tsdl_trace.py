"""Parse the metadata of a CTF 1.8 trace into classes of streams and events."""

from __future__ import annotations

import re
from collections.abc import Callable

from dctv.readers.ctf_metadata.classes import (
    Array,
    CtfClock,
    EventClass,
    FieldClass,
    Integer,
    MetadataError,
    StreamClass,
    StructField,
    TextField,
    TraceClass,
    Variant,
)
from dctv.readers.ctf_metadata.tsdl import Form, parse_tsdl
from dctv.readers.ctf_metadata.tsdl_types import Types, Value, attributes
from dctv.record import replace

_ORDERS = {"le": True, "be": False, "network": False}
_DEFAULT_CLOCK = "default"

_HEADER_ROLES = {
    "magic": "packet-magic-number",
    "uuid": "metadata-stream-uuid",
    "stream_id": "data-stream-class-id",
    "stream_instance_id": "data-stream-id",
}
_CONTEXT_ROLES = {
    "packet_size": "packet-total-length",
    "content_size": "packet-content-length",
    "packet_seq_num": "packet-sequence-number",
    "events_discarded": "discarded-event-record-counter-snapshot",
    "timestamp_begin": "default-clock-timestamp",
    "timestamp_end": "packet-end-default-clock-timestamp",
    "cpu_id": "cpu-id",
}
_TIMES = {"default-clock-timestamp", "packet-end-default-clock-timestamp"}


def read_tsdl(text: str) -> TraceClass:
    """Parse TSDL metadata.

    Raises:
        MetadataError: it is invalid or not supported.
    """
    tree = parse_tsdl(text)
    trace = TraceClass("1.8")
    blocks = [item for item in tree.children if item.data == "block"]
    given = [attributes(item) for item in blocks if item.children[0] == "trace"]
    if not given:
        raise MetadataError("the metadata have no `trace` block")
    _check_trace(trace, given[0])
    types = Types(trace, little=_ORDERS[_native(given[0])])
    visitor = _Blocks(trace, types)
    for item in tree.children:
        if item.data != "block":
            types.declare(item)
            continue
        visitor.take(str(item.children[0]), item)
    visitor.finish()
    return trace


def _native(given: dict[str, Value]) -> str:
    order = str(given.get("byte_order", ("", "missing"))[1])
    if order not in _ORDERS:
        raise MetadataError(f"the byte order of the trace must be `le` or `be`, but it is `{order}`")
    return order


def _check_trace(trace: TraceClass, given: dict[str, Value]) -> None:
    version = tuple(given.get(name, ("", "missing"))[1] for name in ("major", "minor"))
    if version != (1, 8):
        raise MetadataError(f"the metadata have version {version[0]}.{version[1]}, but only 1.8 and 2 are supported")
    if "uuid" in given:
        digits = str(given["uuid"][1]).replace("-", "")
        if not re.fullmatch("[0-9a-fA-F]{32}", digits):
            raise MetadataError(f"`{given['uuid'][1]}` is not a UUID")
        trace.uuid = bytes.fromhex(digits)


class _Blocks:
    """The blocks of the metadata collected so far."""

    def __init__(self, trace: TraceClass, types: Types) -> None:
        self._trace = trace
        self._types = types
        self._events: list[tuple[int | None, EventClass]] = []

    def take(self, kind: str, block: Form) -> None:
        """Add a block."""
        take: Callable[[Form], None] | None = getattr(self, f"_take_{kind}", None)
        if take is not None:
            take(block)

    def finish(self) -> None:
        """Assign the events to their streams, and find the fields that hold times."""
        trace = self._trace
        if not trace.streams and self._events:
            trace.streams[0] = StreamClass(0)
        for number, event in self._events:
            stream = trace.streams.get(next(iter(trace.streams)) if number is None else number)
            if stream is None:
                raise MetadataError(
                    f"the event `{event.name}` belongs to stream {number}, which the metadata do not declare"
                )
            if number is None and len(trace.streams) > 1:
                raise MetadataError(f"the event `{event.name}` does not name its stream")
            if event.number in stream.events:
                raise MetadataError(f"two events of stream {stream.number} have the number {event.number}")
            stream.events[event.number] = event
        if trace.header is not None:
            trace.header = _with_roles(trace.header, _HEADER_ROLES, "")
        clock = next(iter(trace.clocks)) if len(trace.clocks) == 1 else "" if trace.clocks else _DEFAULT_CLOCK
        for stream in trace.streams.values():
            self._finish_stream(stream, clock)

    def _finish_stream(self, stream: StreamClass, clock: str) -> None:
        if stream.header is not None:
            stream.header = _with_roles(
                stream.header, {"id": "event-record-class-id", "timestamp": "default-clock-timestamp"}, clock
            )
            stream.clock = _clock_of(stream.header)
        if stream.packet_context is not None:
            stream.packet_context = _with_roles(stream.packet_context, _CONTEXT_ROLES, clock)
            stream.clock = stream.clock or _clock_of(stream.packet_context)
        if stream.clock and stream.clock not in self._trace.clocks:
            if stream.clock != _DEFAULT_CLOCK or self._trace.clocks:
                raise MetadataError(f"no clock is called `{stream.clock}`")
            self._trace.clocks[_DEFAULT_CLOCK] = CtfClock(_DEFAULT_CLOCK)

    def _declared(self, block: Form) -> dict[str, StructField]:
        """Return the structures of a block by path: `event.header`."""
        types = self._types.inner()
        found = {}
        for entry in block.children[1:]:
            if entry.data == "declares":
                path = ".".join(entry.children[0].children)
                if path in {"packet.header", "event.header", "packet.context", "event.context", "context", "fields"}:
                    found[path] = types.struct_of(entry.children[1], path)
                else:
                    self._trace.note("unknown attribute in the metadata", f"`{path}` of {block.children[0]}")
            else:
                types.declare(entry)
        return found

    def _unknown(self, attributes_: dict[str, Value], allowed: set[str], where: str) -> None:
        for name in attributes_.keys() - allowed:
            self._trace.note("unknown attribute in the metadata", f"`{name}` of {where}")

    def _take_trace(self, block: Form) -> None:
        self._trace.header = self._declared(block).get("packet.header", self._trace.header)
        self._unknown(attributes(block), {"major", "minor", "uuid", "byte_order"}, "trace")

    def _take_env(self, block: Form) -> None:
        self._trace.environment.update({name: value for name, (_, value) in attributes(block).items()})

    def _take_clock(self, block: Form) -> None:
        given = attributes(block)
        name = str(given.get("name", ("", _DEFAULT_CLOCK))[1])
        numbers = {key: _signed(given, key) for key in ("freq", "offset", "offset_s")}
        frequency = numbers["freq"] if "freq" in given else 1_000_000_000
        if frequency <= 0:
            raise MetadataError(f"the clock `{name}` has a frequency of {frequency} Hz")
        absolute = str(given.get("absolute", ("", "false"))[1]).lower() in {"true", "1"}
        properties: dict[str, str] = {
            key: str(given[key][1]) for key in ("description", "precision", "uuid") if key in given
        }
        # Tracers record an offset from 1970 and leave `absolute` false.
        unix = absolute or bool(numbers["offset"] or numbers["offset_s"])
        self._trace.clocks[name] = CtfClock(name, frequency, numbers["offset_s"], numbers["offset"], unix, properties)
        allowed = {"name", "uuid", "description", "freq", "precision", "offset_s", "offset", "absolute"}
        self._unknown(given, allowed, "clock")

    def _take_stream(self, block: Form) -> None:
        given = attributes(block)
        number = _signed(given, "id")
        if number in self._trace.streams:
            raise MetadataError(f"two streams have the number {number}")
        found = self._declared(block)
        self._trace.streams[number] = StreamClass(
            number, found.get("packet.context"), found.get("event.header"), found.get("event.context")
        )
        self._unknown(given, {"id"}, "stream")

    def _take_event(self, block: Form) -> None:
        given = attributes(block)
        number = _signed(given, "id")
        name = str(given.get("name", ("", ""))[1]) or f"event_{number}"
        found = self._declared(block)
        event = EventClass(number, name, found.get("context"), found.get("fields"))
        self._events.append((_signed(given, "stream_id") if "stream_id" in given else None, event))
        self._unknown(given, {"id", "name", "stream_id", "loglevel", "model.emf.uri"}, "event")


def _signed(given: dict[str, Value], name: str) -> int:
    kind, value = given.get(name, ("number", 0))
    if kind != "number":
        raise MetadataError(f"`{name}` must be a number, not `{value}`")
    return int(value)


def _with_roles(struct: StructField, roles: dict[str, str], clock: str) -> StructField:
    """Return a structure with roles for fields of certain names, at any depth."""
    return replace(struct, members=tuple((a, b, _with_role(one, a, roles, clock)) for a, b, one in struct.members))


def _with_role(what: FieldClass, name: str, roles: dict[str, str], clock: str) -> FieldClass:
    if isinstance(what, StructField):
        return _with_roles(what, roles, clock)
    if isinstance(what, Variant):
        options = tuple((a, _with_role(one, a, roles, clock), ranges) for a, one, ranges in what.options)
        return replace(what, options=options)
    role = roles.get(name)
    if isinstance(what, Array) and role == "metadata-stream-uuid":
        return TextField(length=16, blob=True, roles=(role,)) if what.length == 16 else what
    if isinstance(what, Integer):
        found = {role} if role else set()
        if role in _TIMES and not what.clock and clock:
            what = replace(what, clock=clock)
        if what.clock and role != "packet-end-default-clock-timestamp":
            found.add("default-clock-timestamp")
        elif not what.clock:
            found -= _TIMES
        return replace(what, roles=tuple(sorted(found)))
    return what


def _clock_of(what: FieldClass) -> str:
    """Return the clock of the times in a structure."""
    if isinstance(what, Integer):
        return what.clock
    if isinstance(what, StructField):
        return next(filter(None, (_clock_of(one) for _, _, one in what.members)), "")
    if isinstance(what, Variant):
        return next(filter(None, (_clock_of(one) for _, one, _ in what.options)), "")
    return ""
