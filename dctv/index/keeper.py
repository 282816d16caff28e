"""Find, build, extend or wait for the index of a trace, and remove leftovers of dead builders."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from dctv.errors import IndexFailed, IndexUnusable
from dctv.index import locks
from dctv.index.build import STORE, WORKSPACE, Built, MakeSorter, reason
from dctv.index.database import Index
from dctv.index.extend import extend, missing_parts
from dctv.index.finding import find
from dctv.index.full_build import build
from dctv.index.location import index_folder
from dctv.index.opening import open_verified
from dctv.index.records import IndexLayout
from dctv.index.trace import Trace
from dctv.locking import FileLock
from dctv.record import record


@record
class IndexPlan:
    """How to obtain the index of a trace."""

    wanted: IndexLayout
    make_sorter: MakeSorter | None
    index_dir: Path | None = None
    force: bool = False
    """Whether to rebuild an existing index."""
    waiting: Callable[[], None] | None = None
    """Called repeatedly while another process builds; raises to end the wait. None: do not wait."""
    note: Callable[[str], None] = lambda _: None
    """Called with the reason why an existing index is not used."""


def ensure(trace: Trace, plan: IndexPlan) -> tuple[Index, Built | None]:
    """Open the index of a trace, after building missing parts; the second result is None if none were missing.

    Raises:
        IndexFailed: it cannot be built, or another process is building it and the plan says not to wait.
        TraceError: the trace cannot be read.
    """
    about = trace.subject
    folder = index_folder(about, plan.index_dir)
    good = None if plan.force else _good(trace, plan)
    if good is not None:
        return good, None
    built = _prepared(trace, plan, folder)
    sweep(folder)
    index = find(about, plan.index_dir, plan.note)
    if index is None:
        raise IndexFailed(f"the index in `{folder}` vanished after it was built")
    return index, built


def _good(trace: Trace, plan: IndexPlan) -> Index | None:
    """Return the index if it lacks nothing."""
    index = find(trace.subject, plan.index_dir, plan.note)
    if index is not None and missing_parts(index, plan.wanted):
        index.close()
        return None
    return index


def _prepared(trace: Trace, plan: IndexPlan, folder: Path) -> Built | None:
    """Build or extend the index; None if another process has just done so."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _try_lock(folder), _builder(folder, plan) as waited:
            index = None if plan.force and not waited.long else find(trace.subject, plan.index_dir, _silent)
            if index is None:
                return build(trace, plan.wanted, folder, plan.make_sorter)
            try:
                return _completed(trace, plan, folder, index)
            finally:
                index.close()
    except OSError as error:
        raise IndexFailed(f"cannot write the index in `{folder}`: {reason(error)}") from None


def _completed(trace: Trace, plan: IndexPlan, folder: Path, index: Index) -> Built | None:
    missing = missing_parts(index, plan.wanted)
    if not missing:
        return None
    built = None if missing.anew else extend(trace, index, plan.wanted, missing)
    return built or build(trace, plan.wanted, folder, plan.make_sorter)


@record(frozen=False)
class _Builder:
    """The lock of the only builder."""

    hold: FileLock
    long: bool
    """Whether another process was waited for."""

    def __enter__(self) -> _Builder:
        return self

    def __exit__(self, *_: object) -> None:
        self.hold.close()


def _builder(folder: Path, plan: IndexPlan) -> _Builder:
    hold = locks.build(folder, None)
    if hold is not None:
        return _Builder(hold, long=False)
    if plan.waiting is None:
        raise IndexFailed(f"another process builds the index in `{folder}`")
    hold = locks.build(folder, plan.waiting)
    assert hold is not None
    return _Builder(hold, long=True)


def _try_lock(folder: Path) -> FileLock:
    hold = locks.use(folder)
    if hold is None:
        raise IndexFailed(f"cannot write the index in `{folder}`: its lock cannot be opened")
    return hold


def _silent(_: str) -> None:
    """Ignore a note that was reported before."""


def sweep(folder: Path) -> None:
    """Remove leftovers of dead builders and older generations from an index's folder, unless it is in use."""
    hold = locks.remove(folder)
    if hold is None:
        return
    with hold:
        current = _generation(folder)
        for path in folder.iterdir():
            dead = path.name.startswith(WORKSPACE)
            old = path.name.startswith(STORE) and path.name != f"{STORE}{current}"
            if dead or old:
                shutil.rmtree(path, ignore_errors=True)


def _generation(folder: Path) -> str | None:
    """Return the generation of an index's store, without checking whether its trace has changed."""
    try:
        index = open_verified(folder)
    except IndexUnusable:
        return None
    if index is None:
        return None
    try:
        return index.about.get("generation")
    finally:
        index.close()
