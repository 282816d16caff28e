"""Table sources of an indexed trace: files of the column store, or chunks that are decoded on demand."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.catalog.mount import Union
from dctv.index.mounted import IndexedTrace
from dctv.index.records import StoredFile
from dctv.index.scan_pruning import ScanPruning
from dctv.index.stored import EVENTS, relation, stored_metadata
from dctv.plan import predicate as p
from dctv.plan.build import where
from dctv.plan.expressions import FALSE
from dctv.plan.nodes import physical_names
from dctv.plan.queries import CommonTable, Select
from dctv.plan.question import Cell, Question
from dctv.plan.source import OrderedSource, PlanRun, TableSource
from dctv.record import record, replace
from dctv.types.schema import DURATION, TS

if TYPE_CHECKING:
    import pyarrow as pa


def sources_of(trace: IndexedTrace) -> Mapping[str, TableSource]:
    """Return the source of each table."""
    store = trace.index.store
    if store is None:
        return {name: Chunked(trace, name) for name in trace.tables}
    return {
        name: StoredFileSource(trace, store[name]) if name in store else Chunked(trace, name) for name in trace.tables
    }


def all_events(trace: IndexedTrace, union: Union) -> TableSource | None:
    """Return the source of all events in one file, None if there is no such file."""
    store = trace.index.store
    return None if store is None or EVENTS not in store else AllEvents(trace, store[EVENTS], union)


@record(eq=False)
class StoredFileSource(OrderedSource):
    """A file of the column store."""

    trace: IndexedTrace
    file: StoredFile
    pruning: ScanPruning | None = None
    predicate: p.Predicate = p.ALWAYS

    def narrowed(self, predicate: p.Predicate) -> StoredFileSource:
        """Return a source without the times in which nothing can match."""
        if self.file.name in self.trace.tables and self.trace.tables[self.file.name].event is None:
            return self
        needed = p.both([self.predicate, predicate])
        return replace(self, predicate=needed, pruning=self.trace.pruned(self._table, needed))

    @property
    def _table(self) -> str | None:
        return None if self.file.name == EVENTS else self.file.name

    @property
    def named(self) -> tuple[list[str], list[str]]:
        """The columns of the file, under their names there and in queries."""
        columns = list(stored_metadata(self.file.columns).numbers)
        names = columns if self.file.name == EVENTS else physical_names(self.trace.tables[self.file.name].schema)
        return columns, names

    def reading(self, _: Collection[str]) -> StoredFileSource:
        """Return itself: the engine reads the columns that it needs."""
        return self

    def answers(self, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer a question from the statistics, if it is about all rows."""
        return self.trace.answers(self._table, question) if self.predicate == p.ALWAYS else None

    def query(self) -> Select:
        """Return the query over the file.

        Raises:
            IndexUnusable: the file is missing or damaged.
        """
        self.trace.index.verify(self.file)
        columns, names = self.named
        pruning = self.pruning
        query = relation(self.file.path, columns, names, None if pruning is None else pruning.times)
        nothing = pruning is not None and not pruning.pruned.positions
        return where(query, FALSE) if nothing else query

    @property
    def has_own_names(self) -> bool:
        """Whether its columns have the same names in the file and in queries."""
        columns, names = self.named
        return columns == names

    def whole(self) -> Path:
        """Return the file, for code that reads all of it without the engine.

        Raises:
            IndexUnusable: the file is missing or damaged.
        """
        self.trace.index.verify(self.file)
        return self.file.path

    def stored_rows(self) -> int:
        """Return how many rows the file has."""
        return self.file.rows

    def open(self, _: PlanRun) -> Any:
        """Fail: the engine reads the file."""
        raise AssertionError(self.file.name)

    def lines(self) -> Sequence[str]:
        """Describe the rows that are read, and those that the index excluded."""
        found = f"store: {self.file.rows:,} rows in {self.file.path.name}"
        return (found,) if self.pruning is None else (found, str(self.pruning.pruned))

    def bytes_read(self) -> None:
        """Return None: the engine counts them."""


@record(eq=False)
class AllEvents:
    """All events of a trace, in order: from their flat file, or with their arguments from the raw tables."""

    trace: IndexedTrace
    file: StoredFile
    union: Union
    columns: frozenset[str] | None = None
    """The columns that are read, None for all."""
    predicate: p.Predicate = p.ALWAYS
    pruning: ScanPruning | None = None
    ordered: bool = True
    """Whether rows that are read from several raw tables are put in order."""

    def unordered(self) -> AllEvents:
        """Return a source that reads one table after another, where it reads several."""
        return replace(self, ordered=False)

    def narrowed(self, predicate: p.Predicate) -> AllEvents:
        """Return a source without tables and times in which nothing can match."""
        needed = p.both([self.predicate, predicate])
        return replace(self, predicate=needed, pruning=self.trace.pruned(None, needed))

    def reading(self, columns: Collection[str]) -> AllEvents:
        """Return a source that reads the flat file if it has all of these columns."""
        return replace(self, columns=frozenset(columns))

    def answers(self, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer a question from the statistics, if it is about all rows."""
        return self.trace.answers(None, question) if self.predicate == p.ALWAYS else None

    @property
    def flat(self) -> StoredFileSource | None:
        """The flat file, if it has all columns that are read."""
        if self.columns is None or "args" in self.columns:
            return None
        return StoredFileSource(self.trace, self.file, self.pruning, self.predicate)

    def _raw(self) -> Mapping[str, StoredFileSource]:
        """Return the raw tables that may hold a needed row."""
        store = self.trace.index.store or {}
        found = {}
        for name, table in self.trace.tables.items():
            event = table.event
            if event is None:
                continue
            shown = {"category": event.category, "pid": event.pid, "tid": event.tid, DURATION: event.duration, TS: TS}
            here = {c: p.Constant(None) if source is None else source for c, source in shown.items()}
            here["name"] = p.Constant(event.name) if event.named_by is None else event.named_by
            need = p.carried(self.predicate, here.get)
            if need != p.NEVER:
                stored = StoredFileSource(self.trace, store[name])
                found[name] = stored if need == p.ALWAYS else stored.narrowed(need)
        return found

    def query(self) -> Select:
        """Return the query over the files.

        Raises:
            IndexUnusable: a file is missing or damaged.
        """
        flat = self.flat
        if flat is not None:
            return flat.query()
        raw = self._raw()
        # Sorted, the query is the same for all traces of a fleet that have the same tables.
        query, leaves = self.union(list(raw) if self.ordered else sorted(raw))
        steps = (CommonTable(leaf, raw[name].query(), materialized=False) for leaf, name in leaves.items())
        return replace(query, steps=tuple(steps), order_by=query.order_by if self.ordered else ())

    def stored_rows(self) -> int:
        """Return how many events there are."""
        return self.file.rows

    def open(self, _: PlanRun) -> Any:
        """Fail: the engine reads the files."""
        raise AssertionError(self.file.name)

    def lines(self) -> Sequence[str]:
        """Describe the rows that are read, and those that the index excluded."""
        flat = self.flat
        if flat is not None:
            return flat.lines()
        raw = self._raw()
        rows = sum(one.file.rows for one in raw.values())
        count = sum(table.event is not None for table in self.trace.tables.values())
        found = f"store: {rows:,} rows in {len(raw)} of {count} tables"
        return (found,) if self.pruning is None else (found, str(self.pruning.pruned))

    def bytes_read(self) -> None:
        """Return None: the engine counts them."""


@record(eq=False)
class Chunked(OrderedSource):
    """A table with rows in the files of the trace."""

    trace: IndexedTrace
    name: str
    predicate: p.Predicate = p.ALWAYS

    def narrowed(self, predicate: p.Predicate) -> Chunked:
        """Return a source with only the chunks in which something can match."""
        return (
            self
            if self.trace.tables[self.name].event is None
            else replace(self, predicate=p.both([self.predicate, predicate]))
        )

    def reading(self, _: Collection[str]) -> Chunked:
        """Return itself: all columns are decoded."""
        return self

    def answers(self, question: Question) -> Sequence[Sequence[Cell]] | None:
        """Answer a question from the statistics, if it is about all rows."""
        return self.trace.answers(self.name, question) if self.predicate == p.ALWAYS else None

    def query(self) -> None:
        """Return None: the engine gets the rows as a stream."""

    @property
    def _pruning(self) -> ScanPruning | None:
        return None if self.trace.tables[self.name].event is None else self.trace.pruned(self.name, self.predicate)

    @property
    def positions(self) -> frozenset[int]:
        """The chunks to read."""
        found = self._pruning
        return self.trace.everything if found is None else frozenset(found.pruned.positions)

    def open(self, run: PlanRun) -> pa.Table:
        """Return the rows of the chunks; sources of one run are decoded together.

        Raises:
            TraceError: the files have changed, or cannot be read.
        """
        with run.lock:
            if self.trace not in run.kept:
                own = [one for one in run.sources if isinstance(one, Chunked) and one.trace is self.trace]
                run.kept[self.trace] = self.trace.decoded(frozenset().union(*(one.positions for one in own)))
            tables: Mapping[str, Any] = run.kept[self.trace]
        data: pa.Table = tables[self.name].data
        names = physical_names(self.trace.tables[self.name].schema)
        return data if data.column_names == names else data.rename_columns(names)

    def lines(self) -> Sequence[str]:
        """Describe which chunks are decoded, and why others are not."""
        found = self._pruning
        return (f"trace: all {len(self.trace.everything)} chunks" if found is None else str(found.pruned),)

    def bytes_read(self) -> int:
        """Return how many bytes of the trace's files the chunks take."""
        return sum(self.trace.index.chunks[i].c_size for i in self.positions)
