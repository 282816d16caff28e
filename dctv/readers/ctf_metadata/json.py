"""Parse the metadata of a CTF 2 trace, a sequence of JSON texts, into classes of streams and events."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from dctv.readers.ctf_metadata.classes import (
    CtfClock,
    EventClass,
    Integer,
    MetadataError,
    StreamClass,
    StructField,
    TraceClass,
)
from dctv.readers.ctf_metadata.json_fields import Fields, as_map, number, text_of
from dctv.record import replace

_SEPARATOR = "\x1e"
_UNIX = "unix-epoch"


def read_json(text: str) -> TraceClass:
    """Parse CTF 2 metadata.

    Raises:
        MetadataError: it is invalid or not supported.
    """
    fragments = _Fragments()
    for place, part in enumerate(text.split(_SEPARATOR)):
        if part.strip():
            fragments.take(_loaded(part, place))
    return fragments.finish()


def _loaded(part: str, place: int) -> Mapping[str, Any]:
    try:
        found = json.loads(part)
    except json.JSONDecodeError as error:
        raise MetadataError(f"fragment {place} of the metadata is not JSON: {error.msg.lower()}") from None
    except (RecursionError, ValueError):
        raise MetadataError(
            f"fragment {place} of the metadata cannot be parsed: it is too deep, or a number is too long"
        ) from None
    if not isinstance(found, dict):
        raise MetadataError(f"fragment {place} of the metadata is not a JSON object")
    return found


def _uuid(given: Mapping[str, Any]) -> bytes:
    found = given.get("uuid", given.get("uid", ""))
    if isinstance(found, str):
        digits = found.replace("-", "")
        return (
            bytes.fromhex(digits) if len(digits) == 32 and all(c in "0123456789abcdefABCDEF" for c in digits) else b""
        )
    if not isinstance(found, list) or len(found) != 16 or not all(isinstance(b, int) and 0 <= b < 256 for b in found):
        raise MetadataError("`uuid` must be 16 numbers below 256")
    return bytes(found)


class _Fragments:
    """The fragments of the metadata collected so far."""

    def __init__(self) -> None:
        self._trace = TraceClass("2")
        self._fields = Fields(self._trace)
        self._first = True
        self._clock_names: dict[str, str] = {}

    def take(self, fragment: Mapping[str, Any]) -> None:
        """Add a fragment."""
        kind = text_of(fragment, "type", "")
        if self._first != (kind == "preamble"):
            raise MetadataError("the metadata must begin with one preamble" if self._first else "a second preamble")
        self._first = False
        take = {
            "preamble": self._preamble,
            "field-class-alias": self._alias,
            "trace-class": self._trace_class,
            "clock-class": self._clock,
            "data-stream-class": self._stream,
            "event-record-class": self._event,
        }.get(kind)
        if take is None:
            self._trace.note("unknown fragment in the metadata", f"`{kind}`")
        else:
            take(fragment)

    def finish(self) -> TraceClass:
        """Return the trace class of all fragments."""
        if self._first:
            raise MetadataError("the metadata have no preamble")
        return self._trace

    def _preamble(self, given: Mapping[str, Any]) -> None:
        if given.get("version") != 2:
            raise MetadataError(f"the metadata have version {given.get('version')}, but only 1.8 and 2 are supported")
        if given.get("extensions"):
            names = [name for space in as_map(given, "extensions").values() for name in (space or {})]
            raise MetadataError(f"the metadata require unknown extensions: {', '.join(names)[:100]}")
        self._trace.uuid = _uuid(given)

    def _alias(self, given: Mapping[str, Any]) -> None:
        self._fields.alias(text_of(given, "name", ""), given.get("field-class"))

    def _trace_class(self, given: Mapping[str, Any]) -> None:
        trace = self._trace
        # Packets have the UUID of the metadata; that of the trace counts if the metadata have none.
        trace.uuid = trace.uuid or _uuid(given)
        environment = as_map(given, "environment")
        trace.environment.update({str(k): v for k, v in environment.items() if isinstance(v, str | int)})
        for key in ("namespace", "name", "uid"):
            if isinstance(given.get(key), str):
                trace.environment.setdefault(f"trace_{key}", given[key])
        trace.header = self._fields.struct(given, "packet-header-field-class")

    def _clock(self, given: Mapping[str, Any]) -> None:
        name = text_of(given, "name", text_of(given, "id", "default"))
        offset = as_map(given, "offset-from-origin") or as_map(given, "offset")
        frequency = number(given, "frequency", 1_000_000_000)
        if frequency <= 0:
            raise MetadataError(f"the clock `{name}` has a frequency of {frequency} Hz")
        seconds, cycles = number(offset, "seconds", 0), number(offset, "cycles", 0)
        origin = given.get("origin", _UNIX if offset or given.get("origin-is-unix-epoch") else "")
        properties = {
            key: str(given[key]) for key in ("description", "precision", "accuracy", "namespace", "uid") if key in given
        }
        if isinstance(origin, dict):
            properties["origin"] = str(origin.get("name", ""))
        uuid = _uuid(given) if "uuid" in given else b""
        if uuid:
            properties["uuid"] = uuid.hex()
        self._trace.clocks[name] = CtfClock(name, frequency, seconds, cycles, origin == _UNIX, properties)
        self._clock_names[text_of(given, "id", name)] = name

    def _stream(self, given: Mapping[str, Any]) -> None:
        made = StreamClass(number(given, "id", 0))
        if made.number in self._trace.streams:
            raise MetadataError(f"two classes of streams have the number {made.number}")
        clock = text_of(given, "default-clock-class-id", text_of(given, "default-clock-class-name", ""))
        if clock:
            made.clock = self._clock_names.get(clock, clock)
            if made.clock not in self._trace.clocks:
                raise MetadataError(f"no clock is called `{clock}`")
        self._fields.clock = made.clock
        made.packet_context = _with_processor(self._fields.struct(given, "packet-context-field-class"))
        made.header = self._fields.struct(given, "event-record-header-field-class")
        made.context = self._fields.struct(given, "event-record-common-context-field-class")
        self._trace.streams[made.number] = made

    def _event(self, given: Mapping[str, Any]) -> None:
        event, stream = number(given, "id", 0), number(given, "data-stream-class-id", 0)
        name = text_of(given, "name", "") or f"event_{event}"
        if stream not in self._trace.streams:
            raise MetadataError(f"the event `{name}` belongs to stream {stream}, which the metadata do not declare")
        events = self._trace.streams[stream].events
        if event in events:
            raise MetadataError(f"two events of stream {stream} have the number {event}")
        context = self._fields.struct(given, "specific-context-field-class")
        events[event] = EventClass(event, name, context, self._fields.struct(given, "payload-field-class"))


def _with_processor(context: StructField | None) -> StructField | None:
    """Give the field `cpu_id` of a packet context a role, since CTF 2 has none for it."""
    if context is None:
        return None
    members = tuple(
        (a, b, replace(one, roles=("cpu-id",)) if a == "cpu_id" and isinstance(one, Integer) and not one.roles else one)
        for a, b, one in context.members
    )
    return replace(context, members=members)
