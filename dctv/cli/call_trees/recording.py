"""A mounted trace, and the data directory that it was read from, to what texts tell besides calls."""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.cli.call_trees.queries import TRACE
from dctv.record import record

if TYPE_CHECKING:
    from dctv.cli.call_trees.queries import Source
    from dctv.readers.uftrace_info import Info
    from dctv.readers.uftrace_tasks import Tasks
    from dctv.session import Session as DctvSession

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


@record
class Task:
    """A thread, as lists of threads show it."""

    tid: int
    pid: int
    parent: int | None
    """The process that forked it."""
    name: str
    start: int | None
    """In ns of the trace's own clock."""


def recording_of(traces: Sequence[str]) -> Recording | None:
    """Return the data directory that a trace is; None if it is something else."""
    from dctv.readers.uftrace import folder_files
    from dctv.readers.uftrace_info import read_info
    from dctv.readers.uftrace_tasks import read_tasks

    if len(traces) != 1:
        return None
    path = Path(traces[0])
    folder = path.parent if path.name == "info" else path
    if not folder.is_dir() or folder_files(folder) is None:
        return None
    return Recording(folder, read_info(folder / "info"), read_tasks(folder))


def properties_of(session: DctvSession) -> Mapping[str, str]:
    """Return what the trace says of itself."""
    rows = session.sql(f"SELECT key, value FROM {TRACE}.properties").fetchall()
    return {str(key): str(value) for key, value in rows if value is not None}


def tasks_of(session: DctvSession, source: Source) -> list[Task]:
    """Return the threads of a trace, by number."""
    if not source.recorded:
        query = f"SELECT tid, pid, NULL, name, unitless(start_ts) FROM {TRACE}.threads ORDER BY tid, pid"
        return [_task(row, source.start) for row in session.sql(query).fetchall()]
    comm = "NULL::STRING"
    renamed = ""
    if "linux:task-name" in source.events:
        comm = "n.comm"
        renamed = (
            f" LEFT JOIN (SELECT tid, LAST(comm ORDER BY _ts, line) AS comm FROM {TRACE}.raw_events.`linux:task-name` "
            "GROUP BY tid) AS n ON n.tid = t.tid"
        )
    query = (
        f"SELECT t.tid, t.pid, t.ppid, COALESCE({comm}, t.comm), t.start FROM {TRACE}.tasks AS t{renamed} ORDER BY t.tid"
    )
    return [_task(row, 0) for row in session.sql(query).fetchall()]


def _task(row: tuple[object, ...], start: int) -> Task:
    tid, pid, parent, name, begin = row
    number = int(str(tid))
    return Task(
        number,
        number if pid is None else int(str(pid)),
        None if parent is None else int(str(parent)),
        "" if name is None else str(name),
        None if begin is None else int(str(begin)) + start,
    )


def program_of(recording: Recording | None, properties: Mapping[str, str], traces: Sequence[str]) -> str:
    """Return the name of the program that was traced, or of the trace."""
    path = recording.info.values.get("exename") if recording else properties.get("exename")
    return (path or traces[0]).rstrip("/").rsplit("/", 1)[-1]


def version_of(recording: Recording | None) -> str:
    """Return what made the records."""
    if recording is not None and (version := recording.info.values.get("uftrace_version")):
        return f"uftrace {version}"
    from dctv import __version__

    return f"dctv {__version__}"


def header_of(recording: Recording) -> str:
    """Return the lines that tell of the file `info`."""
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
