"""Convert the small files of a uftrace data directory to the kernels' setup."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from dctv.errors import TraceError
from dctv.readers.uftrace_files.info import Info, read_info
from dctv.readers.uftrace_files.specs import Layouts, ValueSpec, layouts_of
from dctv.readers.uftrace_files.symbols import Symbol, SymbolModule, read_module
from dctv.readers.uftrace_files.tasks import ProgramSession, Tasks, TaskThread, read_tasks
from dctv.record import record

_STEM = 18
"""The maximum length of names of record files: their numbers have 64 bits."""


@record
class _Session:
    start: int
    pid: int
    sid: str
    exename: str
    maps: list[tuple[int, int, int]]
    libraries: list[tuple[int, int, int]]


@record
class Setup:
    """The contents of the small files, in the form that the kernels need."""

    big_endian: bool
    wide: bool
    relative: bool
    bytes: int
    sources: list[tuple[str, int, str, int]]
    tasks: list[TaskThread]
    sessions: list[_Session]
    sessions_of: list[tuple[int, list[tuple[int, int]]]]
    modules: list[tuple[str, list[Symbol]]]
    lines: list[tuple[int, int, str, int]]
    layouts: list[tuple[int, int, list[ValueSpec]]]
    enums: list[tuple[int, str, list[tuple[str, int]]]]
    events: list[tuple[int, str]]
    notes: list[tuple[int, str, int, str, bool]]
    properties: list[tuple[str, str]]
    utc_offset_ns: int | None


class _Modules:
    """Modules by path and build id."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._numbers: dict[tuple[str, str], int] = {}
        self.all: list[SymbolModule] = []

    def number(self, path: str, build_id: str) -> int:
        """Return the number of a module; it is read on first use."""
        key = (path, build_id)
        if key not in self._numbers:
            self._numbers[key] = len(self.all)
            self.all.append(read_module(self._folder, path, build_id))
        return self._numbers[key]


def setup_of(paths: Sequence[Path]) -> Setup:
    """Read the small files of a data directory."""
    info_path = next((path for path in paths if path.name == "info"), None)
    folders = {path.parent for path in paths}
    if info_path is None or len(folders) > 1:
        raise TraceError(f"cannot read `{paths[0]}`: expected the files of one uftrace data directory")
    folder = info_path.parent
    info = read_info(info_path)
    tasks = read_tasks(folder)
    modules = _Modules(folder)
    sessions = [_session(one, modules) for one in tasks.sessions]
    layouts = layouts_of(info, modules.all)
    sources = list(_sources(paths, info))
    all_tasks = _all_tasks(tasks, sources)
    lines = [
        (number, address, file, line)
        for number, module in enumerate(modules.all)
        for address, (file, line) in module.debug.lines.items()
    ]
    return Setup(
        big_endian=info.big_endian,
        wide=info.wide,
        relative="sym-rel-addr" in info.features,
        bytes=sum(Path(path).stat().st_size for _, _, path, _ in sources),
        sources=sources,
        tasks=all_tasks,
        sessions=sessions,
        sessions_of=[(tid, times) for tid, times in tasks.sessions_of.items()],
        modules=[(one.path, one.symbols) for one in modules.all],
        lines=lines,
        layouts=[(module, address, list(values)) for (module, address), values in layouts.values.items()],
        enums=[(module, name, list(members)) for module, name, members in layouts.enums],
        events=list(_events(folder / "events.txt")),
        notes=list(_notes(paths, tasks, layouts, sources)),
        properties=[*info.properties().items(), *_options(folder / "default.opts")],
        utc_offset_ns=info.utc_offset_ns,
    )


def _session(session: ProgramSession, modules: _Modules) -> _Session:
    maps = [(one.start, one.end, modules.number(one.path, one.build_id)) for one in session.maps]
    libraries = [(one.time, one.base, modules.number(one.path, "")) for one in session.libraries]
    return _Session(session.start, session.pid, session.sid, session.exename, maps, libraries)


def _sources(paths: Sequence[Path], info: Info) -> Iterator[tuple[str, int, str, int]]:
    """Yield record files: tasks in the order of the recording, then those of the kernel."""
    order = {tid: at for at, tid in enumerate(info.tids)}
    found = []
    for number, path in enumerate(paths):
        stem, dot, suffix = path.name.rpartition(".")
        if not dot or suffix != "dat" or len(stem) > _STEM:
            continue
        if stem.isascii() and stem.isdigit():
            found.append((0, order.get(int(stem), len(order)), ("task", number, str(path), int(stem))))
        elif stem == "extern":
            found.append((2, 0, ("extern", number, str(path), 0)))
        elif stem.startswith("perf-cpu") and stem.isascii() and stem[8:].isdigit():
            found.append((1, int(stem[8:]), ("perf", number, str(path), int(stem[8:]))))
    yield from (one for _, _, one in sorted(found))


def _all_tasks(tasks: Tasks, sources: Sequence[tuple[str, int, str, int]]) -> list[TaskThread]:
    """Return the tasks, including those that have only records."""
    tids = {task.tid for task in tasks.tasks}
    more = [number for kind, _, _, number in sources if kind == "task" and number not in tids]
    return [*tasks.tasks, *(TaskThread(tid, tid, None, 0) for tid in more)]


def _events(path: Path) -> Iterator[tuple[int, str]]:
    """Yield numbers and names of user events: `EVENT: 1000000 provider:name`."""
    if not path.is_file():
        return
    for line in path.read_text("utf-8", "replace").split("\n"):
        words = line.split()
        if len(words) >= 3 and words[0].startswith("EVENT") and words[1].isascii() and words[1].isdigit():
            yield int(words[1][:18]), words[2]


def _options(path: Path) -> Iterator[tuple[str, str]]:
    if path.is_file() and (text := " ".join(path.read_text("utf-8", "replace").split())):
        yield "default_options", text


def _notes(
    paths: Sequence[Path], tasks: Tasks, layouts: Layouts, sources: Sequence[tuple[str, int, str, int]]
) -> Iterator[tuple[int, str, int, str, bool]]:
    """Yield diagnostics for parts of the small files that were not understood."""
    numbers = {path.name: number for number, path in enumerate(paths)}
    if tasks.bad:
        name, line = tasks.bad[0]
        yield numbers.get(name, 0), "lines mean nothing", len(tasks.bad), line[:200], False
    if "task.txt" not in numbers:
        yield 0, "there is no `task.txt`", 1, "", True
    if layouts.bad:
        yield 0, "specifications of arguments mean nothing", len(layouts.bad), layouts.bad[0][:200], False
    tids = {task.tid for task in tasks.tasks}
    strangers = [number for kind, _, _, number in sources if kind == "task" and number not in tids]
    if strangers:
        yield 0, "tasks are not in `task.txt`", len(strangers), f"task {strangers[0]}", False
    for number, path in enumerate(paths):
        if path.name.startswith("kernel-cpu") and path.name.endswith(".dat") and (size := path.stat().st_size):
            yield number, "bytes of kernel functions are not read", size, "", True
