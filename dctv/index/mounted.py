"""Decide which chunks of an indexed trace may matter, and decode them once for all readers."""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path

from dctv.catalog.mount import events_schema
from dctv.contracts.chunks import ColumnLineage
from dctv.contracts.reader import LoadedTrace, TraceTable
from dctv.errors import TraceError, reason_of
from dctv.index.answers import Answers, QueriedTable
from dctv.index.database import Index, stamp
from dctv.index.scan_pruning import ScanPruner, ScanPruning
from dctv.index.trace import Trace
from dctv.plan.nodes import column_types
from dctv.plan.predicate import Predicate
from dctv.plan.question import Cell, Question
from dctv.record import record
from dctv.types.schema import DURATION, TS

KEPT_BYTES = 256 << 20
"""The maximum size of decoded chunks that are kept for the next query; a whole trace is kept regardless."""


@record
class Decoded:
    """The tables of a trace with the rows of some of its chunks."""

    positions: frozenset[int]
    tables: Mapping[str, TraceTable]


class IndexedTrace:
    """A mounted trace with its index; thread-safe."""

    def __init__(self, trace: Trace, index: Index) -> None:
        # Results that are still being read may need the index after the trace is unmounted.
        self._close = weakref.finalize(self, index.close)
        self.index = index
        self.tables: Mapping[str, TraceTable] = trace.chunks.tables(index.metadata)
        """Schemas without rows."""
        self.rest: LoadedTrace = trace.chunks.rest(index.metadata)
        self._trace = trace
        self._stamps = [self._stamp(number) for number in range(len(trace.paths))]
        self._lock = threading.Lock()
        self._kept: Decoded | None = None
        self._lineage: dict[str, Mapping[str, ColumnLineage]] = {}

    @cached_property
    def everything(self) -> frozenset[int]:
        """The positions of all chunks."""
        return frozenset(range(len(self.index.chunks)))

    @cached_property
    def _pruner(self) -> ScanPruner:
        return ScanPruner(self.index, int(self.index.entries["start_ns"]))

    def pruned(self, table: str | None, predicate: Predicate) -> ScanPruning:
        """Return the chunks that may hold rows of a table of events for which a predicate is true; None is `events`."""
        if table is None:
            return self._pruner.prune(None, self._lineage_of_all, predicate)
        event = self.tables[table].event
        assert event is not None
        return self._pruner.prune(event.name, self._lineage_of(table), predicate)

    @cached_property
    def _answers(self) -> Answers:
        return Answers(self.index)

    def answers(self, table: str | None, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer a question about all rows of a table of events from the statistics; None is `events`.

        Raises:
            IndexUnusable: they are damaged.
        """
        event = None if table is None else self.tables[table].event
        if table is not None and event is None:
            return None
        lineage = self._lineage_of_all if table is None else self._lineage_of(table)
        schema = events_schema() if table is None else self.tables[table].schema
        types = column_types(schema)
        start = int(self.index.entries["start_ns"])
        return self._answers.rows(QueriedTable(None if event is None else event.name, lineage, types, start), question)

    def _lineage_of(self, table: str) -> Mapping[str, ColumnLineage]:
        if table not in self._lineage:
            found = self._trace.chunks.lineage(self.index.metadata, table)
            self._lineage[table] = {TS: ColumnLineage("ts"), **found}
        return self._lineage[table]

    @cached_property
    def _lineage_of_all(self) -> Mapping[str, ColumnLineage]:
        """The columns of `events` that have the same dimension in every table."""
        found: dict[str, set[ColumnLineage | None]] = {"name": set(), "category": set(), "pid": set(), "tid": set()}
        found[DURATION] = set()
        for name, table in self.tables.items():
            event = table.event
            if event is not None:
                shown = {"category": event.category, "pid": event.pid, "tid": event.tid, DURATION: event.duration}
                for column, source in shown.items():
                    found[column].add(None if source is None else self._lineage_of(name).get(source))
                named = event.named_by
                found["name"].add(ColumnLineage("name") if named is None else self._lineage_of(name).get(named))
        same = {column: several.pop() for column, several in found.items() if len(several) == 1}
        every = {column: lineage for column, lineage in same.items() if lineage is not None}
        return {TS: ColumnLineage("ts"), **every}

    def decoded(self, positions: frozenset[int]) -> Mapping[str, TraceTable]:
        """Return all tables with at least the rows of some chunks; the last result is kept.

        Raises:
            TraceError: the files have changed since the trace was mounted, or cannot be read.
        """
        with self._lock:
            if self._kept is not None and positions <= self._kept.positions:
                return self._kept.tables
            files = {self.index.chunks[i].file for i in positions}
            self.check(files)
            tables = self._decoded(positions)
            self.check(files)
            if positions == self.everything or _bytes_of(tables) <= KEPT_BYTES:
                self._kept = Decoded(positions, tables)
            return tables

    def _decoded(self, positions: frozenset[int]) -> Mapping[str, TraceTable]:
        trace = self._trace
        try:
            if positions == self.everything or trace.chunks.decode is None:
                return trace.reader.load(trace.paths, trace.context).tables
            checkpoints = self.index.checkpoints(positions)
            return trace.chunks.decode(trace.paths, checkpoints, self.index.metadata, trace.context)
        except OSError as error:
            what = reason_of(error)
            raise TraceError(f"cannot read `{error.filename or trace.paths[0]}`: {what}") from None

    def check(self, numbers: Iterable[int]) -> None:
        """Check that some files have not changed since the trace was mounted.

        Raises:
            TraceError: they have.
        """
        for number in numbers:
            if self._stamp(number) != self._stamps[number]:
                raise _changed(self._trace.paths[number])

    def _stamp(self, number: int) -> str:
        """Return a stamp that changes with every write to a file, after checking its size and time."""
        path = self._trace.paths[number]
        known = self.index.files[number].identity
        try:
            found = path.stat()
        except OSError as error:
            raise TraceError(f"cannot read `{path}`: {reason_of(error)}") from None
        if (found.st_size, found.st_mtime_ns) != (known.size, known.mtime_ns):
            raise _changed(path)
        return stamp(found)

    def close(self) -> None:
        """Release the index."""
        self._close()


def _changed(path: Path) -> TraceError:
    return TraceError(f"`{path}` has changed since it was mounted", hint="mount it again")


def _bytes_of(tables: Mapping[str, TraceTable]) -> int:
    return sum(one.data.nbytes for one in tables.values() if one.data is not None)
