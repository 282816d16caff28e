"""Run a span operator for each of many traces, over streams that have the rows of one trace after another."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from dctv.contracts.span_operator import Counted, Remarked
from dctv.plan.nodes import ArrowStream, Kernel
from dctv.record import record

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray


@record(eq=False)
class TraceSweep:
    """A span operator that runs for each of some traces."""

    kernel: Kernel
    count: int
    """The number of the traces."""
    said: dict[tuple[int, str], None]
    """Gets the warnings, with the numbers of their traces."""

    def run(self, streams: list[ArrowStream], options: Mapping[str, Any], cancel: object) -> ArrowStream:
        """Return the rows of all traces."""
        own = {**options, "names": list(options["names"])[:-1]}
        return _Sweeps(self, streams, lambda parts: self.kernel.run(parts, own, cancel))


class _Sweeps:
    """The rows of a span operator in each trace."""

    def __init__(
        self, sweep: TraceSweep, streams: Sequence[ArrowStream], run: Callable[[list[ArrowStream]], ArrowStream]
    ) -> None:
        self._sweep = sweep
        self._streams = streams
        self._run = run

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        import pyarrow as pa

        inputs = [_Input(pa.RecordBatchReader.from_stream(one)) for one in self._streams]
        first = self._opened(inputs, 0)
        reader = pa.RecordBatchReader.from_stream(first)
        schema = reader.schema.append(pa.field(inputs[0].number.name, pa.int64()))
        rows = self._rows(inputs, first, reader, schema)
        capsule: object = pa.RecordBatchReader.from_batches(schema, rows).__arrow_c_stream__(requested_schema)
        return capsule

    def _opened(self, inputs: Sequence[_Input], number: int) -> ArrowStream:
        return self._run([one.of(number) for one in inputs])

    def _rows(
        self, inputs: Sequence[_Input], stream: ArrowStream, reader: pa.RecordBatchReader, schema: pa.Schema
    ) -> Iterator[pa.RecordBatch]:
        import pyarrow as pa

        for number in range(self._sweep.count):
            if number:
                stream = self._opened(inputs, number)
                reader = pa.RecordBatchReader.from_stream(stream)
            for batch in reader:
                numbers = _repeated(number, batch.num_rows)
                yield pa.RecordBatch.from_arrays([*batch.columns, numbers], schema=schema)
            if isinstance(stream, Counted | Remarked) and stream.message is not None:
                self._sweep.said[number, stream.message] = None


class _Input:
    """An input of the operator, cut where the next trace begins."""

    def __init__(self, reader: pa.RecordBatchReader) -> None:
        import numpy as np
        import pyarrow as pa

        self._reader = reader
        *own, self.number = reader.schema
        self._schema = pa.schema(own)
        self._rows: pa.RecordBatch | None = None
        """Rows that were read and are still wanted; None at the end."""
        self._numbers: NDArray[np.int64] = np.empty(0, np.int64)
        self._next()

    def of(self, number: int) -> pa.RecordBatchReader:
        """Return the rows of a trace; those of the one before are passed over if they were not read to their end."""
        import pyarrow as pa

        for _ in self._until(number):
            pass
        return pa.RecordBatchReader.from_batches(self._schema, self._until(number + 1))

    def _until(self, number: int) -> Iterator[pa.RecordBatch]:
        """Yield the next rows of traces before one."""
        import pyarrow as pa

        while self._rows is not None:
            count = int(self._numbers.searchsorted(number))
            rows = self._rows.slice(0, count)
            if count == self._rows.num_rows:
                self._next()
            else:
                self._rows, self._numbers = self._rows.slice(count), self._numbers[count:]
            if count:
                yield pa.RecordBatch.from_arrays(rows.columns[:-1], schema=self._schema)
            if len(self._numbers) and self._numbers[0] >= number:
                return

    def _next(self) -> None:
        last = self._numbers[-1:]
        for batch in self._reader:
            if batch.num_rows:
                self._rows, self._numbers = batch, values_of(batch.column(batch.num_columns - 1))
                assert (last <= self._numbers[0]).all()
                assert (self._numbers[1:] >= self._numbers[:-1]).all()
                return
        self._rows, self._numbers = None, self._numbers[:0]


def values_of(column: pa.Array) -> NDArray[np.int64]:
    """Return the values of a column of int64 without NULL; they are not copied."""
    import numpy as np

    # `to_numpy` loads pandas where it is installed, which takes longer than a batch.
    values: NDArray[Any] = np.from_dlpack(column)
    return values


def _repeated(number: int, count: int) -> pa.Array:
    import numpy as np
    import pyarrow as pa

    # So does `pa.scalar`.
    return pa.Array.from_buffers(pa.int64(), count, [None, pa.py_buffer(np.full(count, number, np.int64))])
