"""The interface of a remote engine: tables that it is sent or reads, queries of these, and sweeps on its workers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from dctv.plan.node import Query
from dctv.plan.nodes import ArrowStream
from dctv.record import record

if TYPE_CHECKING:
    import pyarrow as pa

Typed = tuple[str, str]
"""A column's name, and its type as DuckDB names it."""


@record
class Share:
    """The groups that the rows of an input go to."""

    columns: tuple[Typed, ...]
    given: pa.Schema
    """The Arrow types that the operator takes."""
    keys: tuple[str, ...] = ()
    """Rows with equal values here go to one bucket; without keys, to every bucket."""
    timed: bool = True
    """Whether they are in order of time, and go to the slabs that they touch; else to every slab."""
    lasting: bool = True
    """Whether they have a duration."""


@record
class Sweep:
    """An operator to run for each group of rows: for a bucket of partitions in a slab of time."""

    shares: tuple[Share, ...]
    run: Callable[[list[ArrowStream], Any], ArrowStream]
    """Called with a table per input and a cancel token."""
    made: tuple[Typed, ...]
    result: pa.Schema
    """The Arrow types of its output."""
    slabs: bool
    """Whether time is cut; a row of the output belongs to the slab in which it starts."""
    cut_by: tuple[int, ...] = ()
    """Inputs whose starts each end a row of the output; starts after a slab cut its last rows."""
    divisible: bool = False
    """Whether time may be cut if groups would be too large otherwise."""


Frame = Any
"""Rows that an engine has, or can compute."""


class RemoteJob(Protocol):
    """The work for one result; closed when the result has been read, or no more of it is needed."""

    def table(self, rows: pa.Table, columns: Sequence[Typed]) -> Frame:
        """Hand over rows."""
        ...

    def file(self, path: Path, columns: Sequence[tuple[str, Typed]]) -> Frame:
        """Read a Parquet file where it lies; columns by their names in it."""
        ...

    def query(self, query: Query, tables: Mapping[str, tuple[Frame, Sequence[Typed]]]) -> Frame:
        """Query some rows by names."""
        ...

    def sweep(self, sweep: Sweep, inputs: Sequence[Frame], extent: tuple[int, int] | None, slabs: int) -> Frame:
        """Run an operator on workers.

        Time is cut into at least so many slabs, if at all; `extent` are the times between which most of the rows are.
        """
        ...

    def extent(self, frame: Frame) -> tuple[int, int] | None:
        """Return the least and the greatest `_ts` of some rows."""
        ...

    def rows(self, frame: Frame) -> Iterator[pa.Table]:
        """Yield what rows there are, as they come."""
        ...

    def close(self) -> None:
        """Forget the job's tables."""
        ...


class Remote(Protocol):
    """A connection to an engine on another machine, or in another process of this one."""

    address: str

    def check(self, query: Query, tables: Mapping[str, Sequence[Typed]]) -> None:
        """See whether it can carry a query out, over tables with these columns; raises NotOnThisEngine."""
        ...

    def check_columns(self, columns: Sequence[Typed]) -> None:
        """See whether it has values of these types; raises NotOnThisEngine."""
        ...

    def check_sweeps(self) -> None:
        """See whether its workers can run operators; raises NotOnThisEngine."""
        ...

    def sees(self, folder: Path) -> bool:
        """Return whether it reads the files that are in a folder of this machine."""
        ...

    def job(self, stop: Callable[[], bool]) -> RemoteJob:
        """Begin a result; end what runs for it once `stop` says so."""
        ...

    def executor(self) -> Executor:
        """Return what runs functions of dctv on its workers."""
        ...

    def interrupt(self) -> None:
        """End all that runs for this session."""
        ...

    def close(self) -> None:
        """End the connection."""
        ...


Connect = Callable[[str], Remote]
"""Connects to an address; raises UsageError or EngineError."""
