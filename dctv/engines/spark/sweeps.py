"""What the engine's workers run: an operator over the rows of one group."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dctv.plan.nodes import ArrowStream
from dctv.record import record

if TYPE_CHECKING:
    import pyarrow as pa

BUCKET, SLAB = "dctv:bucket", "dctv:slab"
FAILURE = "(dctv)"
"""Stands before and after what an operator says that is wrong."""
_FIRST, _LAST = -(2**63), 2**63 - 1


@record
class Slabs:
    """Time, cut into pieces of equal width; the first and the last one have no outer end."""

    start: int
    width: int
    count: int

    def bounds(self, number: int) -> tuple[int, int]:
        """Return the first and the last ns of a slab."""
        low = _FIRST if number == 0 else self.start + number * self.width
        high = _LAST if number == self.count - 1 else self.start + (number + 1) * self.width - 1
        return low, high


@record
class SweepGroup:
    """How a group is computed; it goes to the workers by its fields."""

    run: Callable[[list[ArrowStream], Mapping[str, Any], Any], ArrowStream]
    options: Mapping[str, Any]
    inputs: tuple[Any, ...]
    """The Arrow schemas that the operator is given, and whether rows are in order of their first column, a time."""
    made: Any
    """The Arrow schema that it gives, as Spark holds it."""
    slabs: Slabs | None
    cuts: Mapping[int, int]
    """By the number of a slab, the first time after it at which rows are cut."""

    def function(self) -> Callable[..., pa.Table]:
        """Return what is called on a worker: with one input or two, as the client counts arguments."""

        def of_one(key: Sequence[pa.Scalar], rows: pa.Table) -> pa.Table:
            return self.computed(key, [rows])

        def of_two(key: Sequence[pa.Scalar], left: pa.Table, right: pa.Table) -> pa.Table:
            return self.computed(key, [left, right])

        return of_one if len(self.inputs) == 1 else of_two

    def computed(self, key: Sequence[pa.Scalar], tables: Sequence[pa.Table]) -> pa.Table:
        """Return what the operator makes of a group."""
        import pyarrow as pa

        from dctv import _kernels

        given = [
            _sorted(table, schema, timed=timed) for table, (schema, timed) in zip(tables, self.inputs, strict=True)
        ]
        try:
            stream = self.run(given, self.options, _kernels.Cancel())
            made = pa.RecordBatchReader.from_stream(stream).read_all()
        except ValueError as error:
            # What comes back is a traceback, in which it is found by this.
            raise ValueError(f"{FAILURE}{error}{FAILURE}") from None
        if self.slabs is not None:
            made = self._within(made, key[-1].as_py())
        return made.rename_columns(self.made.names).cast(self.made)

    def _within(self, made: pa.Table, number: int) -> pa.Table:
        """Keep what starts in a slab, and cut it where what follows the slab does."""
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


def _sorted(table: pa.Table, schema: pa.Schema, *, timed: bool) -> pa.Table:
    rows = table.select(schema.names).cast(schema)
    return rows.sort_by(schema.names[0]) if timed else rows


def version_of(batches: Any) -> Any:
    """Tell which version of dctv a worker has, for each batch of rows."""
    import pyarrow as pa

    from dctv import __version__, _kernels

    _kernels.Cancel()
    for _ in batches:
        yield pa.RecordBatch.from_pydict({"version": [__version__]})
