"""Read a trace's data directory for facts that reports show in addition to calls."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.record import record

if TYPE_CHECKING:
    from dctv.readers.uftrace_files.info import Info
    from dctv.readers.uftrace_files.tasks import Tasks

_HEADER = 40
_FEATURES = (
    "PLTHOOK",
    "TASK_SESSION",
    "KERNEL",
    "ARGUMENT",
    "RETVAL",
    "SYM_REL_ADDR",
    "MAX_STACK",
    "EVENT",
    "PERF_EVENT",
    "AUTO_ARGS",
    "DEBUG_INFO",
    "ESTIMATE_RETURN",
    "SYM_SIZE",
    "CALLSITE",
)
_PARTS = (
    "EXE_NAME",
    "EXE_BUILD_ID",
    "EXIT_STATUS",
    "CMDLINE",
    "CPUINFO",
    "MEMINFO",
    "OSINFO",
    "TASKINFO",
    "USAGEINFO",
    "LOADINFO",
    "ARG_SPEC",
    "RECORD_DATE",
    "PATTERN_TYPE",
    "VERSION",
    "UTC_OFFSET",
    "SYSCTL",
)


@record
class Recording:
    """A data directory of the recorder."""

    folder: Path
    info: Info
    tasks: Tasks


def recording_of(traces: Sequence[str]) -> Recording | None:
    """Return the data directory of a trace; None if it is something else.

    Raises:
        TraceError: it cannot be read.
    """
    from dctv.contracts.reader_errors import ReaderErrors
    from dctv.readers.uftrace_files.files import folder_files
    from dctv.readers.uftrace_files.info import read_info
    from dctv.readers.uftrace_files.tasks import read_tasks

    if len(traces) != 1:
        return None
    path = Path(traces[0])
    folder = path.parent if path.name == "info" else path
    with ReaderErrors([folder]):
        if folder_files(folder) is None:
            return None
        return Recording(folder, read_info(folder / "info"), read_tasks(folder))


def program_of(recording: Recording | None, properties: Mapping[str, str], traces: Sequence[str]) -> str:
    """Return the name of the traced program, or of the trace."""
    path = recording.info.values.get("exename") if recording else properties.get("exename")
    name = (path or traces[0]).rstrip("/").rsplit("/", 1)[-1]
    return name.encode("utf-8", "replace").decode()


def version_of(recording: Recording | None) -> str:
    """Return the recorder's version."""
    if recording is not None and (version := recording.info.values.get("uftrace_version")):
        return f"uftrace {version}"
    return "dctv"


def header_of(recording: Recording) -> str:
    """Return the header lines about the file `info`."""
    with (recording.folder / "info").open("rb") as file:
        raw = file.read(_HEADER)
    order = ">" if raw[14] == 2 else "<"
    version, size = struct.unpack_from(f"{order}IH", raw, 8)
    features, parts = struct.unpack_from(f"{order}QQ", raw, 16)
    values = {
        "magic": raw[:8].hex(),
        "version": version,
        "header size": size,
        "endian": f"{raw[14]} ({'little' if raw[14] == 1 else 'big'})",
        "class": f"{raw[15]} ({'64' if raw[15] == 2 else '32'} bit)",
        "features": f"{features:#x} ({_bits(features, _FEATURES)})",
        "info": f"{parts:#x} ({_bits(parts, _PARTS)})",
    }
    return "".join(f"uftrace file header: {name:14}= {value}\n" for name, value in values.items()) + "\n"


def _bits(mask: int, names: Sequence[str]) -> str:
    return " | ".join(name for bit, name in enumerate(names) if mask >> bit & 1)
