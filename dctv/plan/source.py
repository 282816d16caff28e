"""The interface of stored tables: reading their rows, and narrowing them to those that a query needs."""

from __future__ import annotations

import threading
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any, Protocol, Self, runtime_checkable

from dctv.plan.node import Query
from dctv.plan.predicate import Predicate
from dctv.plan.question import Cell, Question
from dctv.record import field, record


@record
class RunCost:
    """Costs of a run that the caller cannot measure."""

    read: int | None
    """Bytes of files; None if the run was not read to its end, or not metered."""
    cpu: float = 0.0
    """Seconds of other processes."""

    def __add__(self, other: RunCost) -> RunCost:
        read = None if self.read is None or other.read is None else self.read + other.read
        return RunCost(read, self.cpu + other.cpu)


@record(eq=False)
class PlanRun:
    """One run of a plan, as the sources that it reads see it."""

    sources: Sequence[TableSource]
    """All of them, so that those of one trace can read its files together."""
    spill_folder: Path
    """The folder for rows that do not fit into memory; it may not exist yet."""
    cancel: Any
    """The cancel token of kernels, set once no more rows are wanted."""
    kept: dict[object, Any] = field(default_factory=dict)
    """A cache that they share during the run."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    """Guards `kept`."""
    beside: list[RunCost] = field(default_factory=list)
    """Costs of the queries that its sources ran."""


class TableSource(Protocol):
    """The rows of a stored table; their columns are named `physical_names` of its schema, in that order."""

    def narrowed(self, predicate: Predicate, /) -> TableSource:
        """Return a source that may leave out rows for which the predicate is not true, itself if it can leave out none.

        The query keeps its condition above, so leaving out rows is an optimization only.
        """
        ...

    def reading(self, columns: Collection[str], /) -> TableSource:
        """Return a source that reads only these columns: the others may be missing or hold anything."""
        ...

    def unordered(self) -> TableSource:
        """Return a source that may give its rows in any order, itself if their order costs nothing."""
        ...

    def answers(self, question: Question, /) -> Sequence[Sequence[Cell]] | None:
        """Answer a question about all rows without reading them: keys, then aggregates; None if not exactly known."""
        ...

    def query(self) -> Query | None:
        """Return a query over files that the engine can read itself, or None to use `open`."""
        ...

    def open(self, run: PlanRun, /) -> Any:
        """Return an object that the engine can scan: a pyarrow Table or Dataset, or an ArrowStream.

        It is called when the run begins to read, in any thread, and once for each region that reads the table; each
        place in the region opens the stream again.
        """
        ...

    def lines(self) -> Sequence[str]:
        """Return lines for EXPLAIN: files and chunks read and in total, and the reasons for skipping the rest."""
        ...

    def stored_rows(self) -> int | None:
        """Return how many rows are stored, whether they are needed or not; None if that is unknown."""
        ...

    def bytes_read(self) -> int | None:
        """Return the bytes that `open` reads from files, None if it reads none; the engine counts its own."""
        ...


@runtime_checkable
class SpreadSource(Protocol):
    """A source whose rows are gathered by dctv's own workers, each reading one trace of a fleet."""

    @property
    def fleet(self) -> object:
        """The traces."""


@runtime_checkable
class PreparedSource(Protocol):
    """A source that does some work before rows are read."""

    def prepare(self, run: PlanRun, /) -> None:
        """Do the work; it may put rows into what the run keeps."""
        ...


class OrderedSource:
    """The part that sources have in common whose rows are stored in order."""

    def stored_rows(self) -> int | None:
        """Return None: it is not known."""
        return None

    def unordered(self) -> Self:
        """Return itself: no order would be cheaper."""
        return self


class WholeSource(OrderedSource):
    """The part that sources have in common which are read whole: they leave nothing out, and answer no question."""

    def narrowed(self, _: Predicate) -> Self:
        """Return itself: all rows are read."""
        return self

    def reading(self, _: Collection[str]) -> Self:
        """Return itself: all columns are read."""
        return self

    def answers(self, _: Question) -> None:
        """Return None: no answer is known without reading the rows."""

    def query(self) -> Query | None:
        """Return None: the engine is handed the rows."""
        return None

    def lines(self) -> Sequence[str]:
        """Return no lines."""
        return ()

    def bytes_read(self) -> None:
        """Return None: nothing is read from files."""


@record(eq=False)
class RowsInMemory(WholeSource):
    """Rows that are in memory; sources of other rows are never equal, whatever they have."""

    data: Any

    def stored_rows(self) -> int | None:
        """Return how many there are, if the object can say."""
        rows: int | None = getattr(self.data, "num_rows", None)
        return rows

    def open(self, _: PlanRun) -> Any:
        """Return the rows."""
        return self.data


@record
class FromStatistics(WholeSource):
    """Rows that follow from statistics, written in the engine's query."""

    known: Query

    def query(self) -> Query:
        """Return the rows."""
        return self.known

    def open(self, _: PlanRun) -> Any:
        """Fail: the rows are part of the query."""
        raise AssertionError(self)

    def lines(self) -> Sequence[str]:
        """Describe the rows."""
        return ("answered from statistics",)
