"""The interface of a result format, and of the results that it writes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, BinaryIO, Protocol

from dctv.record import record
from dctv.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa


class ValueChunks(Protocol):
    """Rows as Python values."""

    @property
    def schema(self) -> Schema:
        """Names, types and units of the columns."""
        ...

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column; works without pyarrow."""
        ...


class ResultRows(ValueChunks, Protocol):
    """A result that is read once, from front to back, in bounded memory."""

    def reader(self) -> pa.RecordBatchReader:
        """Return the batches as Arrow; fields with a unit carry it in their metadata under `unit`."""
        ...


@record
class Writer:
    """A result format."""

    name: str
    """Its name for `--format`."""
    title: str
    suffixes: tuple[str, ...]
    """Endings of `-o FILE` that choose it."""
    write: Callable[[ResultRows, BinaryIO], int]
    """Write one result and return its number of rows."""
    many: bool = True
    """Whether several results may follow each other in one file."""
    between: bytes = b""
    """Separates two results in one file."""
