"""The code that the engine's workers run: an operator over the rows of one group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from dctv.plan.nodes import ArrowStream
from dctv.record import record

if TYPE_CHECKING:
    import pyarrow as pa

SIDE, BUCKET, SLAB = "dctv:side", "dctv:bucket", "dctv:slab"
"""Columns of rows sent to workers: the number of their input, and of their group."""
FAILURE = "(dctv)"
"""Delimits an operator's error message in a traceback."""
_FIRST, _LAST = -(2**63), 2**63 - 1
_MOST_BUCKETS = 1 << 16


@record
class Slabs:
    """Slabs of equal width; the first and the last one are unbounded on the outside."""

    start: int
    width: int
    count: int

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the first and the last ns of a slab."""
        low = _FIRST if number == 0 else self.start + number * self.width
        high = _LAST if number == self.count - 1 else self.start + (number + 1) * self.width - 1
        return low, high


@record
class SweepInput:
    """An input of an operator, as it comes to a worker."""

    schema: Any
    """The Arrow schema that the operator takes."""
    columns: tuple[str, ...]
    """The columns of a partition's rows that hold it."""
    timed: bool
    """Whether the operator takes rows in order of their first column, a time."""


@record
class SweepGroup:
    """An operator to run for each group of a partition's rows; workers get it by its fields."""

    run: Callable[[list[ArrowStream], Any], ArrowStream]
    inputs: tuple[SweepInput, ...]
    made: Any
    """The Arrow schema of the output, as Spark holds it."""
    slabs: Slabs | None
    cuts: Mapping[int, int]
    """The first start after each slab, by the slab's number: rows are cut there."""
    are_apart: bool
    """Whether buckets must be computed one by one, since an input stands in each of them."""

    def of_partition(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the operator's result for each group of a partition."""
        import pyarrow as pa

        filled = [one for one in batches if one.num_rows]
        if filled:
            for slab, tables in self._divided(pa.Table.from_batches(filled)):
                yield from self._computed(slab, tables).to_batches()

    def _divided(self, rows: pa.Table) -> Iterator[tuple[int, list[pa.Table]]]:
        """Yield the inputs of each group, and the number of its slab.

        Buckets without slabs form one group: partitions on the same worker may be computed together, unless an input
        without partitions is copied to each bucket.
        """
        import numpy as np

        side = rows[SIDE].to_numpy().astype(np.int64)
        bucket = rows[BUCKET].to_numpy() if self.are_apart else 0
        slab = 0 if self.slabs is None else rows[SLAB].to_numpy().astype(np.int64)
        codes = (slab * _MOST_BUCKETS + bucket) * len(self.inputs) + side
        order = np.argsort(codes, kind="stable")
        codes, rows = codes[order], rows.take(order)
        for group in np.unique(codes // len(self.inputs)):
            tables = []
            for number, one in enumerate(self.inputs):
                low, high = np.searchsorted(codes, group * len(self.inputs) + np.array([number, number + 1]))
                tables.append(_table(rows.slice(low, high - low), one))
            yield int(group) // _MOST_BUCKETS, tables

    def _computed(self, slab: int, tables: list[pa.Table]) -> pa.Table:
        """Return the operator's result for a group."""
        import pyarrow as pa

        from dctv import _kernels

        try:
            stream = self.run(tables, _kernels.Cancel())
            made = pa.RecordBatchReader.from_stream(stream).read_all()
        except ValueError as error:
            # The client gets a traceback, and finds the message in it by this.
            raise ValueError(f"{FAILURE}{error}{FAILURE}") from None
        if self.slabs is not None:
            made = self._within(made, slab)
        return made.rename_columns(self.made.names).cast(self.made)

    def _within(self, made: pa.Table, number: int) -> pa.Table:
        """Keep rows that start in a slab, and cut them where the rows after the slab do."""
        import pyarrow as pa
        import pyarrow.compute as pc

        assert self.slabs is not None
        low, high = self.slabs.bounds(number)
        starts = made.column(0)
        kept = made.filter(pc.and_(pc.greater_equal(starts, low), pc.less_equal(starts, high)))
        if number not in self.cuts:
            return kept
        left = pc.subtract(pa.scalar(self.cuts[number], pa.int64()), kept.column(0))
        return kept.set_column(1, kept.column_names[1], pc.min_element_wise(kept.column(1), left))


def _table(rows: pa.Table, of: SweepInput) -> pa.Table:
    """Return an input of an operator."""
    table = rows.select(of.columns).rename_columns(of.schema.names).cast(of.schema)
    if not of.timed:
        return table
    times = table.column(0).to_numpy()
    # Rows of one file often arrive in the order in which they were written.
    return table if (times[1:] >= times[:-1]).all() else table.sort_by(of.schema.names[0])


def version_of(batches: Any) -> Any:
    """Return a worker's version of dctv for each batch of rows."""
    import pyarrow as pa

    from dctv import __version__, _kernels

    _kernels.Cancel()
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [__version__]})
