"""Carry out a request for an index: build it, and report what was done."""

from __future__ import annotations

from pathlib import Path

from dctv.errors import IndexUnusable
from dctv.index.build import Built, ChunkSorter, IndexSettings, layout
from dctv.index.database import Index
from dctv.index.finding import find
from dctv.index.keeper import IndexPlan, ensure
from dctv.index.location import cache_folder, index_folder
from dctv.index.trace import Trace
from dctv.progress import Progress
from dctv.record import field, record, replace
from dctv.temporary import ensured_folder


@record
class IndexRequest:
    """Parts to build for a trace."""

    settings: IndexSettings = field(default_factory=IndexSettings)
    index_dir: Path | None = None
    force: bool = False
    """Whether to rebuild an existing index."""


@record
class IndexOutcome:
    """The outcome of a request."""

    folder: Path
    chunks: int
    events: int
    index_bytes: int
    store_bytes: int | None
    """None without a column store."""
    read_bytes: int
    """What the decoder read: text after unpacking, and the file itself where the chunks do not say."""
    seconds: float | None
    """None if the index existed."""
    incomplete: tuple[str, ...]
    """Reasons why the trace was not read completely."""
    notes: tuple[str, ...]
    """Why an existing index was not used."""
    empty: tuple[str, ...]
    """Requested dimensions for which no event has a value."""
    timeline: tuple[int, int] | None = None
    """Numbers of tracks with rows, and of rows, of a requested timeline."""


@record(frozen=False)
class Reporter:
    """Report a build's progress as text and bytes."""

    label: str
    onward: Progress
    events: int = 0
    done: int = 0
    total: int = 0

    def progress(self, done: int, total: int) -> None:
        """Report the progress of a pass."""
        self.done, self.total = done, total
        what = f"{self.label}: {self.events:,} events" if self.events else self.label
        self.onward.report(what, done, total)

    def counted(self, events: int) -> None:
        """Report the number of events so far."""
        self.events = events
        self.progress(self.done, self.total)

    def stored(self, done: int, total: int) -> None:
        """Report how many rows of the column store have been written."""
        self.onward.report(f"{self.label}: {self.events:,} events, {100 * done // max(total, 1)} % stored", 0, 0)

    def sorter(self, folder: Path) -> ChunkSorter:
        """Create the sorter for the column store."""
        from dctv.index.store import StoreSorter

        return StoreSorter(folder, self.stored)

    def waiting(self) -> None:
        """Report that another process is building."""
        self.onward.report(f"{self.label}: waiting for another process that indexes it", 0, 0)


def fulfil(trace: Trace, order: IndexRequest, label: str, progress: Progress) -> IndexOutcome:
    """Find, build or extend the index of a trace.

    Raises:
        IndexFailed: it cannot be built.
        TraceError: the trace cannot be read.
    """
    notes: list[str] = []
    reporter = Reporter(label, progress)
    watched = _watched(trace, reporter)
    wanted = layout(trace, order.settings)
    plan = IndexPlan(wanted, reporter.sorter, order.index_dir, order.force, reporter.waiting, notes.append)
    index, built = ensure(watched, plan)
    try:
        if built is not None and order.index_dir is None:
            from dctv.index.cache import keep_small

            keep_small(cache_folder())
        return _outcome(trace, order, index, built, notes)
    finally:
        index.close()


def differences(
    trace: Trace, order: IndexRequest, label: str, progress: Progress, temp_directory: Path | None = None
) -> list[str]:
    """Compare the index of a trace with the trace; return descriptions of the differences.

    Rows that do not fit into memory go to a temporary directory, by default the system's.

    Raises:
        IndexUnusable: there is no index to compare.
    """
    notes: list[str] = []
    index = find(trace.subject, order.index_dir, notes.append)
    if index is None:
        if notes:
            raise IndexUnusable(notes[0])
        raise IndexUnusable(f"found no index in `{index_folder(trace.subject, order.index_dir)}`")
    try:
        from tempfile import TemporaryDirectory

        from dctv.index.check import check

        below = None if temp_directory is None else ensured_folder(temp_directory)
        with TemporaryDirectory(prefix="dctv-check-", dir=below) as scratch:
            reporter = Reporter(label, progress)
            return check(_watched(trace, reporter), index, reporter.sorter, Path(scratch))
    finally:
        index.close()


def _watched(trace: Trace, reporter: Reporter) -> Trace:
    context = replace(trace.context, progress=reporter.progress)
    return replace(trace, context=context, counted=reporter.counted)


def _outcome(trace: Trace, order: IndexRequest, index: Index, built: Built | None, notes: list[str]) -> IndexOutcome:
    read_diagnostics = trace.chunks.diagnostics
    diagnostics = (
        trace.chunks.rest(index.metadata).diagnostics if read_diagnostics is None else read_diagnostics(index.metadata)
    )
    store = None if index.store is None else sum(table.bytes for table in index.store.values())
    return IndexOutcome(
        index.folder,
        len(index.chunks),
        sum(index.events),
        index.path.stat().st_size,
        store,
        sum(max(file.text_bytes, file.identity.size) for file in index.files),
        None if built is None else built.seconds,
        tuple(f"{d.file}: {d.reason}" for d in diagnostics if d.incomplete),
        tuple(notes),
        tuple(name for name in order.settings.dimensions if _is_empty(index, name)),
    )


def _is_empty(index: Index, dimension: str) -> bool:
    rows = index.dimension(dimension)
    return rows is not None and all(row.minimum is None and row.distinct == 0 for row in rows)
