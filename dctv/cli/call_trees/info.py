"""Write the metadata of a trace as the lines of `dctv info`."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, BinaryIO

from dctv.cli.call_trees.lookups import ListedThread, first_calls, first_kernel_events, tasks_of
from dctv.cli.call_trees.queries import CallSource
from dctv.cli.call_trees.recording import Recording, version_of
from dctv.errors import UsageError

if TYPE_CHECKING:
    from dctv.session import Session

Lines = Iterator[tuple[str, str | None]]
_SYSTEM = {
    "cpu": "cpu info",
    "cpus": "number of cpus",
    "memory": "memory info",
    "ram_bytes": "memory info",
    "load": "system load",
    "kernel": "kernel version",
    "host": "hostname",
    "distribution": "distro",
}
"""Properties of traces, and their labels."""
_PROCESS = {"exename": "exe image", "build_id": "build id", "exit_status": "exit status", "elapsed": "elapsed time"}


def write_info(
    session: Session, source: CallSource, recording: Recording | None, properties: Mapping[str, str], out: BinaryIO
) -> None:
    """Write the properties of the machine and of the program."""
    tasks = tasks_of(session, source)
    if recording is None:
        system, process = _known_system(properties), _known_process(properties, tasks)
        note = ""
    else:
        system, process = _system(recording), _process(recording, tasks)
        path = recording.folder / "note.txt"
        note = path.read_text("utf-8", "replace") if path.is_file() else ""

    def lines() -> Iterator[str]:
        for title, rows in (("system", system), ("process", process)):
            head = f"# {title} information\n"
            yield ("#\n" if title == "process" else "") + head
            yield f"# {'=' * (len(head) - 3)}\n"
            yield from (f"# {name:20}: {value}\n" for name, value in rows if value is not None)
        if note:
            yield f"#\n# extra note information\n# ======================\n{note}"
        yield "\n"

    out.write("".join(lines()).encode("utf-8", "replace"))


def _known_system(properties: Mapping[str, str]) -> Lines:
    yield "program version", properties.get("tool", version_of(None))
    yield "recorded on", properties.get("record_date") or _date(properties.get("start_unix_ns"))
    yield "cmdline", properties.get("command")
    yield from ((name, properties.get(key)) for key, name in _SYSTEM.items())


def _date(unix_ns: str | None) -> str | None:
    """Format a time as a date in UTC."""
    from datetime import UTC, datetime

    if unix_ns is None or not unix_ns.isascii() or not unix_ns.isdigit() or len(unix_ns) > 20:
        return None
    return datetime.fromtimestamp(int(unix_ns) // 10**9, UTC).strftime("%a %b %e %H:%M:%S %Y UTC")


def _known_process(properties: Mapping[str, str], tasks: list[ListedThread]) -> Lines:
    yield "number of tasks", str(len(tasks))
    yield "task list", ", ".join(f"{one.tid}({one.name})" for one in tasks) or None
    yield from ((name, properties.get(key)) for key, name in _PROCESS.items())


def _system(recording: Recording) -> Lines:
    values = recording.info.values
    yield "program version", values.get("uftrace_version")
    yield "recorded on", values.get("record_date")
    yield "cmdline", values.get("cmdline")
    yield "cpu info", values.get("cpuinfo:desc")
    cpus = values.get("cpuinfo:nr_cpus")
    yield "number of cpus", cpus and cpus.replace("(online/possible)", "(online / possible)")
    yield "memory info", values.get("meminfo")
    load = values.get("loadinfo")
    yield "system load", load and f"{load} (1 / 5 / 15 min)"
    yield "kernel version", values.get("osinfo:kernel")
    yield "hostname", values.get("osinfo:hostname")
    yield "distro", values.get("osinfo:distro")
    for word in values.get("sysctl", "").split():
        name, _, value = word.partition("=")
        yield name, value


def _process(recording: Recording, tasks: list[ListedThread]) -> Lines:
    info = recording.info
    values = info.values
    names = {one.tid: one.name for one in tasks}
    if "taskinfo:tids" in values:
        yield "number of tasks", str(len(info.tids))
        yield "task list", ", ".join(f"{tid}({names.get(tid, '')})" for tid in info.tids)
    yield "exe image", values.get("exename")
    yield "build id", values.get("build_id")
    yield "arguments", info.spec("argspec") or None
    yield "return values", info.spec("retspec") or None
    yield "auto-args", "true" if info.auto_args else None
    yield "pattern", values.get("pattern_type")
    yield "exit status", _ended(values.get("exit_status"))
    yield "elapsed time", values.get("elapsed_time")
    if "usageinfo:systime" in values:
        times = [_seconds(values.get(f"usageinfo:{name}")) for name in ("systime", "usrtime")]
        yield "cpu time", f"{' / '.join(times)} sec (sys / user)"
    yield "context switch", values.get("usageinfo:ctxsw")
    memory = values.get("usageinfo:maxrss")
    yield "max rss", memory and f"{memory} KB"
    yield "page fault", values.get("usageinfo:pagefault")
    yield "disk iops", values.get("usageinfo:iops")


def _seconds(text: str | None) -> str:
    try:
        return f"{float(text or 0):.3f}"
    except ValueError:
        return "0.000"


def _ended(status: str | None) -> str | None:
    """Describe an exit status as `wait` returns it."""
    if status is None or not status.isascii() or not status.isdigit() or len(status) > 9:
        return status
    number = int(status)
    if number & 0x7F == 0:
        return f"exited with code: {number >> 8 & 0xFF}"
    if number & 0x7F != 0x7F:
        name = signal.strsignal(number & 0x7F) if number & 0x7F < signal.NSIG else None
        return f"terminated by signal: {number & 0x7F} ({name or 'unknown'})"
    return f"unknown exit status: {number}"


def write_tasks(session: Session, source: CallSource, recording: Recording | None, out: BinaryIO) -> None:
    """Write the list of threads."""
    tasks = tasks_of(session, source)
    if not tasks:
        raise UsageError("the trace has no threads")
    starts = recording.tasks.sessions if recording is not None else ()
    programs = {one.pid for one in starts}
    first: Mapping[int, int] = {}
    if any(one.start is None for one in tasks):
        first = {tid: time + source.start for tid, time in first_calls(session).items()}
    out.write(f"#{'TIMESTAMP     ':>23}  FLAGS     TID     {'TASK':16}  DATA SIZE\n".encode())
    kernel = {tid: time + source.start for tid, time in first_kernel_events(session, source).items()}
    for task in tasks:
        start = first.get(task.tid, 0) if task.start is None else task.start
        # The recorder's own note of a new thread comes later than the kernel's.
        start = max(min(start, kernel.get(task.tid, start)), 0)
        flags = ("F" if task.tid == task.pid else " ") + ("S" if task.tid in programs else " ") + "   "
        stamp = f"{start // 10**9:13}.{start % 10**9:09}"
        out.write(f" {stamp}  {flags}  [{task.tid:7}]  {task.name:16} {_size(recording, task.tid)}\n".encode())


def _size(recording: Recording | None, tid: int) -> str:
    path = recording.folder / f"{tid}.dat" if recording is not None else None
    if path is None or not path.is_file() or not (size := path.stat().st_size):
        return ""
    kib = size // 1024
    return f" {kib // 1024:5}.{min(kib % 1024, 999):03} MB"
