"""The code that the engine's workers run: an operator over the rows of one group."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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
_PIECE = 256
"""Pieces of fewer rows are copied into one."""


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
        filled = [one for one in batches if one.num_rows]
        if filled:
            for slab, tables in self._divided(filled):
                yield from self._computed(slab, tables).to_batches()

    def _divided(self, batches: Sequence[pa.RecordBatch]) -> Iterator[tuple[int, list[pa.Table]]]:
        """Yield the inputs of each group, and the number of its slab.

        Buckets without slabs form one group: partitions on the same worker may be computed together, unless an input
        without partitions is copied to each bucket.
        """
        keys = [*([BUCKET] if self.are_apart else []), *([] if self.slabs is None else [SLAB])]
        sides = [_of_side(batches, number, [*one.columns, *keys]) for number, one in enumerate(self.inputs)]
        groups = [_by_group(rows, keys) for rows in sides]
        for group in sorted({one for found in groups for one in found}):
            tables = [
                _table(found.get(group, rows.slice(0, 0)), one)
                for found, rows, one in zip(groups, sides, self.inputs, strict=True)
            ]
            yield group // _MOST_BUCKETS, tables

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


def _of_side(batches: Sequence[pa.RecordBatch], side: int, columns: Sequence[str]) -> pa.Table:
    """Return the rows of one input; batches with rows of no other are not copied."""
    import pyarrow as pa

    found = []
    for batch in batches:
        own = batch[SIDE].to_numpy() == side
        part = batch.select(columns)
        found.append(part if own.all() else part.filter(pa.array(own)))
    return pa.Table.from_batches(found)


def _by_group(rows: pa.Table, keys: Sequence[str]) -> dict[int, pa.Table]:
    """Return the rows of each group, by its number."""
    import numpy as np

    if not keys or not rows.num_rows:
        return {0: rows} if rows.num_rows else {}
    bucket, slab = (rows[key].to_numpy().astype(np.int64) if key in keys else 0 for key in (BUCKET, SLAB))
    codes = np.asarray(slab * _MOST_BUCKETS + bucket)
    order = np.argsort(codes, kind="stable")
    codes, rows = codes[order], rows.take(order)
    starts = np.flatnonzero(np.diff(codes, prepend=codes[0] - 1))
    ends = [*starts[1:], len(codes)]
    return {int(codes[low]): rows.slice(low, high - low) for low, high in zip(starts, ends, strict=True)}


def _table(rows: pa.Table, of: SweepInput) -> pa.Table:
    """Return an input of an operator."""
    table = rows.select(of.columns).rename_columns(of.schema.names).cast(of.schema)
    return _in_order(table) if of.timed and table.num_rows else table


def _in_order(table: pa.Table) -> pa.Table:
    """Return rows in order of their first column, a time.

    Rows of a file arrive in pieces that are each in order; as long as these are not too small, they are not copied.
    """
    import numpy as np
    import pyarrow as pa

    times = table.column(0).to_numpy()
    if (times[1:] >= times[:-1]).all():
        return table
    order = np.argsort(times, kind="stable")
    starts = np.flatnonzero(np.diff(order, prepend=-2) != 1)
    if len(starts) * _PIECE > len(order):
        return table.take(pa.array(order))
    ends = [*starts[1:], len(order)]
    return pa.concat_tables([table.slice(order[low], high - low) for low, high in zip(starts, ends, strict=True)])


def version_of(batches: Any) -> Any:
    """Return a worker's version of dctv for each batch of rows."""
    import pyarrow as pa

    from dctv import __version__, _kernels

    _kernels.Cancel()
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [__version__]})
