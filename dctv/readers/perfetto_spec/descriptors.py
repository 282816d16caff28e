"""Build protobuf descriptors from those that Perfetto publishes, and some messages that newer releases omit.

The descriptors are those of the package `perfetto`. Since 0.57 it lacks some messages of Android, which newer traces
describe themselves; for older traces, the most used ones are described here: frame timelines and Java heaps.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.errors import TraceError
from dctv.resources import generated

if TYPE_CHECKING:
    from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto

PACKAGE = "perfetto.protos"
_TYPES = {
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "bool": 8,
    "string": 9,
    "message": 11,
    "uint32": 13,
    "enum": 14,
}

_FRAME = "cookie int64 1, token int64 2"
_SURFACE = f"{_FRAME}, display_frame_token int64 3, pid int32 4, layer_name string 5"
_ENUMS = {
    "PresentType": "UNSPECIFIED ON_TIME LATE EARLY DROPPED UNKNOWN",
    "PredictionType": "UNSPECIFIED VALID EXPIRED UNKNOWN",
    "JankSeverity": "UNKNOWN NONE PARTIAL FULL",
}
_MESSAGES = {
    "ExpectedFrame": f"{_FRAME}, pid int32 3",
    "ActualFrame": f"{_FRAME}, pid int32 3, present_type =PresentType 4, on_time_finish bool 5, gpu_composition bool 6,"
    " jank_type int32 7, prediction_type =PredictionType 8, jank_severity_type =JankSeverity 9,"
    " present_delay_millis float 10, jank_severity_score float 11",
    "ExpectedSurface": _SURFACE,
    "ActualSurface": f"{_SURFACE}, present_type =PresentType 6, on_time_finish bool 7, gpu_composition bool 8,"
    " jank_type int32 9, prediction_type =PredictionType 10, is_buffer bool 11, jank_severity_type =JankSeverity 12,"
    " present_delay_millis float 13, vsync_resynced_jitter_millis float 14, jank_severity_score float 15",
    "FrameEnd": "cookie int64 1",
    "FrameTimelineEvent": "expected_display_frame_start .ExpectedFrame 1, actual_display_frame_start .ActualFrame 2,"
    " expected_surface_frame_start .ExpectedSurface 3, actual_surface_frame_start .ActualSurface 4,"
    " frame_end .FrameEnd 5",
    "HeapObject": "id uint64 1, type_id uint64 2, self_size uint64 3, reference_field_id *uint64 4,"
    " reference_object_id *uint64 5, reference_field_id_base uint64 6, id_delta uint64 7,"
    " native_allocation_registry_size int64 8, heap_type int32 9, runtime_internal_object_id *uint64 10",
    "HeapRoot": "object_ids *uint64 1, root_type int32 2",
    "HeapType": "id uint64 1, location_id uint64 2, class_name string 3, object_size uint64 4, superclass_id uint64 5,"
    " reference_field_id *uint64 6, kind int32 7, classloader_id uint64 8",
    "HeapName": "iid uint64 1, name string 2",
    "HeapGraph": "pid int32 1, objects *.HeapObject 2, field_names *.HeapName 4, continued bool 5, index uint64 6,"
    " roots *.HeapRoot 7, location_names *.HeapName 8, types *.HeapType 9, heap_bytes_allocated int64 10",
    "NetworkPacketEvent": "direction int32 1, network_interface string 2, length uint32 3, uid uint32 4, tag uint32 5,"
    " ip_proto uint32 6, tcp_flags uint32 7, local_port uint32 8, remote_port uint32 9, icmp_type uint32 10,"
    " icmp_code uint32 11",
    "NetworkPacketBundle": "iid uint64 1, ctx .NetworkPacketEvent 2, packet_timestamps *uint64 3,"
    " packet_lengths *uint32 4, total_packets uint32 5, total_duration uint64 6, total_length uint64 7",
}
"""Fields as `name type number`: `*` before the type if repeated, `.` before a message, `=` before an enum."""

_PACKETS = (
    "heap_graph .HeapGraph 56, frame_timeline_event .FrameTimelineEvent 76, network_packet .NetworkPacketEvent 88,"
    " network_packet_bundle .NetworkPacketBundle 92"
)


FILES = ("perfetto.binpb", "perfetto_left_out.binpb")
"""Serialized file descriptors, written at install time."""


@cache
def descriptors() -> list[bytes]:
    """Return serialized file descriptors; if two describe the same field, the first one applies.

    They were written when dctv was installed, since importing the package takes longer than reading a small trace.
    """
    folder = generated()
    try:
        return [(folder / name).read_bytes() for name in FILES]
    except FileNotFoundError:
        return published()


def write_descriptors(folder: Path) -> None:
    """Write the descriptors to a folder."""
    for name, data in zip(FILES, published(), strict=True):
        (folder / name).write_bytes(data)


def published() -> list[bytes]:
    """Return the published descriptors, and those that the package omits."""
    try:
        from perfetto.protos.perfetto.trace import perfetto_trace_pb2
    except ImportError:
        raise TraceError(
            "reading Perfetto traces requires descriptors, which were not built",
            hint="reinstall dctv, or install the package `perfetto`",
        ) from None
    return [perfetto_trace_pb2.DESCRIPTOR.serialized_pb, left_out().SerializeToString()]


def left_out() -> FileDescriptorProto:
    """Describe messages that the package no longer includes."""
    from google.protobuf.descriptor_pb2 import FileDescriptorProto

    file = FileDescriptorProto(name="dctv/left_out.proto", package=PACKAGE)
    for name, values in _ENUMS.items():
        enum = file.enum_type.add(name=f"Dctv{name}")
        for number, value in enumerate(values.split()):
            enum.value.add(name=value, number=number)
    for name, fields in _MESSAGES.items():
        message = file.message_type.add(name=f"Dctv{name}")
        for spec in fields.split(", "):
            _describe(message.field.add(), spec)
    for spec in _PACKETS.split(", "):
        field = file.extension.add(extendee=f".{PACKAGE}.TracePacket")
        _describe(field, spec)
    return file


def _describe(field: FieldDescriptorProto, spec: str) -> None:
    name, kind, number = spec.split()
    field.name = name
    field.number = int(number)
    field.label = field.LABEL_REPEATED if kind.startswith("*") else field.LABEL_OPTIONAL
    kind = kind.removeprefix("*")
    if kind[0] in ".=":
        field.type_name = f".{PACKAGE}.Dctv{kind[1:]}"
        kind = "message" if kind[0] == "." else "enum"
    field.type = _TYPES[kind]
