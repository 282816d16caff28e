"""What a statement gives: a result that is read once, a word that it is done, or the verdict of an ASSERT."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

from dctv.errors import AssertionFailed, Interrupted, Place, UsageError
from dctv.record import record
from dctv.run.context import ExecutionContext
from dctv.run.reading import Reading
from dctv.timeline.timeline import Timeline
from dctv.types.schema import Schema


@record
class Done:
    """A statement without a result has run."""

    message: str


@record
class Asserted:
    """An ASSERT has been checked."""

    text: str
    passed: bool
    message: str
    place: Place | None = None

    def failure(self) -> AssertionFailed:
        """Return the error that says that it does not hold."""
        return AssertionFailed(f"assertion failed: {self.message or self.text}", self.place)


class Result:
    """The rows of a query, streamed once from front to back; also gives them whole in several forms."""

    def __init__(self, schema: Schema, reading: Reading, context: ExecutionContext) -> None:
        self.schema = schema
        self._reading = reading
        self._context = context
        self._read = False

    @property
    def warnings(self) -> list[tuple[str, int]]:
        """Messages with their counts; complete once the rows have been read."""
        return list(self._context.log.entries.items())

    def when_read(self, told: Callable[[], None]) -> None:
        """Call this once the rows have been read, or no more are wanted."""
        self._reading.when_over(told)

    def _start(self) -> Any:
        if self._read:
            raise UsageError("this result has been read already", hint="run the query again")
        self._read = True
        self._reading.begin()
        return self._reading.stream

    def chunks(self) -> Iterator[list[list[object]]]:
        """Yield batches as one list of Python values per column."""
        from dctv import _kernels  # compiled; only wanted when a query runs

        pulled = self._pulled(lambda: _kernels.rows(self._start()))
        next(pulled)
        yield from pulled

    def batches(self) -> Iterator[Any]:
        """Yield the rows as pyarrow record batches."""
        yield from self._opened()[1]

    def reader(self) -> Any:
        """Return a pyarrow RecordBatchReader; fields with a unit have it in their metadata under `unit`."""
        import pyarrow as pa

        return pa.RecordBatchReader.from_batches(*self._opened())

    def _opened(self) -> tuple[Any, Iterator[Any]]:
        """Return the Arrow schema and the batches."""
        import pyarrow as pa

        pulled = self._pulled(lambda: pa.RecordBatchReader.from_stream(self._start()))
        schema = self._arrow_schema(next(pulled).schema)
        return schema, (pa.RecordBatch.from_arrays(b.columns, schema=schema) for b in pulled)

    def _arrow_schema(self, schema: Any) -> Any:
        import pyarrow as pa

        fields = []
        for column, field in zip(self.schema.columns, schema, strict=True):
            metadata = {"unit": str(column.unit)} if str(column.unit) else None
            fields.append(pa.field(column.name, field.type, metadata=metadata))
        return pa.schema(fields)

    def arrow(self) -> Any:
        """Return all rows as a pyarrow Table."""
        reader = self.reader()
        return self._guarded(reader.read_all)

    def timeline(self, name: str | None = None, value: str | None = None) -> Timeline:
        """Return the rows as a timeline: a track for each partition of spans or events, or of a counter.

        `name` is the column that spans and events are named after: if it is not told, `name`, else the first text. With
        `value`, the numbers of that column are shown over time; so is the only column of spans if it has numbers.

        Raises:
            UsageError: there is no such column, the rows are no spans and no events, or there is no room for them.
        """
        from dctv.timeline.of_rows import timeline_of
        from dctv.timeline.space import Space

        return timeline_of(self.schema, self.batches(), Space(self._context.engine.spill_folder()), name, value)

    def plot(self, name: str | None = None, value: str | None = None, **options: Any) -> Any:
        """Draw the rows: return a `Plot`, which a notebook shows and which can be saved.

        Columns are those of `timeline`. Options are `start` and `stop` in ns, `width` and `height` in pixels, `title`
        and `theme`, light or dark.

        Raises:
            UsageError: as for `timeline`; or the picture cannot be of that size.
        """
        return self._context.shelves.drawn(self.timeline(name, value), options)

    def pandas(self) -> Any:
        """Return all rows as a pandas DataFrame; pandas must be installed."""
        return self.arrow().to_pandas()

    def polars(self) -> Any:
        """Return all rows as a polars DataFrame; polars must be installed."""
        import polars as pl

        return pl.from_arrow(self.arrow())

    def fetchall(self) -> list[tuple[Any, ...]]:
        """Return all rows as tuples of Python values."""
        return [row for chunk in self.chunks() for row in zip(*chunk, strict=True)]

    def _guarded(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except self._context.engine.failures as error:
            raise self._context.running.failure(error) from None

    def _pulled(self, open_: Callable[[], Any]) -> Iterator[Any]:
        """Yield what was opened, then its items; a worker thread works, so that Ctrl-C in this one is seen at once."""
        worker = _Worker()
        try:
            opened = self._guarded(lambda: self._wait(worker, open_))
            yield opened
            iterator = iter(opened)
            while (item := self._guarded(lambda: self._wait(worker, lambda: next(iterator, None)))) is not None:
                yield item
        finally:
            worker.stop()
            self._reading.finish()

    def _wait(self, worker: _Worker, work: Callable[[], Any]) -> Any:
        self._context.progress.check()
        worker.start(work)
        try:
            while not worker.finished.wait(_LOOK):
                # A query that was about to begin did not hear it.
                if self._context.progress.interrupted:
                    self._context.running.interrupt()
        except KeyboardInterrupt:
            self._end(worker)
            raise Interrupted("interrupted") from None
        return worker.outcome()

    def _end(self, worker: _Worker) -> None:
        for _ in range(_ATTEMPTS):
            self._context.running.interrupt()
            if worker.finished.wait(_LOOK):
                return


_LOOK = 0.1
"""Seconds between two looks at whether work in another thread has been interrupted."""
_ATTEMPTS = 100


class _Worker:
    """One daemon thread that does one piece of work at a time."""

    _failures = (Exception, KeyboardInterrupt)
    """What the work may raise: the thread that waits for it raises it again."""

    def __init__(self) -> None:
        self._work: Callable[[], Any] | None = None
        self._value: Any = None
        self._error: BaseException | None = None
        self._wanted = threading.Event()
        self.finished = threading.Event()
        threading.Thread(target=self._loop, daemon=True).start()

    def _loop(self) -> None:
        while self._wanted.wait():
            self._wanted.clear()
            if self._work is None:
                return
            try:
                self._value = self._work()
            except self._failures as error:
                self._error = error
            self.finished.set()

    def start(self, work: Callable[[], Any]) -> None:
        """Do a piece of work in the thread."""
        self._work, self._value, self._error = work, None, None
        self.finished.clear()
        self._wanted.set()

    def outcome(self) -> Any:
        """Return what the finished work gave, or raise what it raised."""
        if self._error is not None:
            raise self._error
        return self._value

    def stop(self) -> None:
        """Let the thread end."""
        self._work = None
        self._wanted.set()


Outcome = Result | Done | Asserted
