"""Run functions of dctv on the engine's workers, one after another or in parallel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol

from dctv.errors import DctvError

if TYPE_CHECKING:
    import pyarrow as pa

_PIECE = 16 << 20
"""Bytes of a result per row."""


class ExecutorConnection(Protocol):
    """The methods of a connection that an executor needs."""

    session: Any

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work`; errors of the client become dctv's."""


class SparkExecutor(Executor):
    """An executor that runs each call as a job over one row: a worker maps the row to the function's result."""

    def __init__(self, link: ExecutorConnection, workers: int) -> None:
        self._link = link
        self._threads = ThreadPoolExecutor(workers)
        self._max_workers = workers

    def submit(self, function: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Call a function on a worker."""
        work = pickle.dumps(partial(function, *given, **named))
        return self._threads.submit(self._call, work)

    def _call(self, work: bytes) -> Any:
        frame = self._link.guarded(lambda: self._link.session.range(1).mapInArrow(_Call(work).rows, _SCHEMA))
        table = self._link.guarded(frame.toArrow)
        pieces = sorted(zip(*(one.to_pylist() for one in table.columns), strict=True))
        outcome = pickle.loads(b"".join(piece for _, piece in pieces))  # from dctv's own workers
        if isinstance(outcome, BaseException):
            raise outcome
        return outcome

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # signature of Executor
        """Accept no more calls."""
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)


_SCHEMA = "number BIGINT, piece BINARY"


class _Call:
    """A call that runs on the worker that holds its row."""

    def __init__(self, work: bytes) -> None:
        self._work = work

    def rows(self, batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        """Yield the function's result, or exception, in pieces."""
        import pyarrow as pa

        for batch in batches:
            if not batch.num_rows:
                continue
            try:
                outcome = pickle.loads(self._work)()  # from the session that connected
            except DctvError as error:
                outcome = error
            data = pickle.dumps(outcome)
            for number, start in enumerate(range(0, len(data), _PIECE)):
                yield pa.record_batch({"number": [number], "piece": [data[start : start + _PIECE]]})
