"""One result of a remote engine: its tables, its queries, and the rows that come back."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol
from uuid import uuid4

from dctv.contracts.remote import Frame, Sweep, Typed
from dctv.engines.spark import columns as written
from dctv.engines.spark.cutting import cut, grouped
from dctv.engines.spark.repeats import reading, repeated_step, up_to
from dctv.engines.sql.spark import text_of, vet
from dctv.errors import DctvError, EngineError, Interrupted, Unanswered
from dctv.plan.node import Node, Query
from dctv.plan.queries import Compound, Select, TableName
from dctv.plan.walk import replaced
from dctv.record import replace

if TYPE_CHECKING:
    import pyarrow as pa

_PULSE = 0.05
"""Seconds between two checks whether rows are still wanted."""
_WAITING = 4
"""The maximum number of batches that wait to be read."""
_END = object()
"""Marks the end of the rows."""


class JobConnection(Protocol):
    """The methods of a connection that a job needs."""

    session: Any
    cores: int
    gaps: frozenset[str]

    @property
    def keeps_rows(self) -> bool:
        """Whether the engine can compute rows once, and keep them."""

    def guarded(self, work: Callable[[], Any]) -> Any:
        """Return the result of `work`; errors of the client become dctv's."""

    def failed(self, error: BaseException) -> DctvError:
        """Return dctv's error for one of the client's."""

    def end(self, tag: str) -> None:
        """Cancel what runs under a tag, without waiting for it."""

    def forget(self, views: Sequence[str]) -> None:
        """Drop views."""


class _Coming:
    """A bounded queue of rows from the thread that fetches them to the one that reads them."""

    def __init__(self) -> None:
        self._items: queue.Queue[Any] = queue.Queue(_WAITING)
        self.left = threading.Event()
        """Set once the reader wants no more rows."""

    def put(self, item: Any) -> bool:
        """Put an item; return whether it is still wanted."""
        while not self.left.is_set():
            try:
                self._items.put(item, timeout=_PULSE)
            except queue.Full:
                continue
            return True
        return False

    def next(self) -> Any:
        """Return the next item, None if there is none yet."""
        try:
            return self._items.get(timeout=_PULSE)
        except queue.Empty:
            return None


class SparkJob:
    """The work for one result."""

    def __init__(self, connection: JobConnection, stop: Callable[[], bool]) -> None:
        self._connection = connection
        self._session = connection.session
        self._stop = stop
        self._tag = f"dctv_{uuid4().hex}"
        self._views: list[str] = []
        self._kept: list[Frame] = []
        """Frames whose rows the engine keeps until the client lets go of them."""

    def table(self, rows: pa.Table, columns: Sequence[Typed]) -> Frame:
        """Upload rows."""
        # For an empty batch Sail reports a division by zero.
        table = rows.cast(written.spark_schema(rows.schema)).combine_chunks()
        frame = self._guarded(lambda: self._view(self._given(table)))
        own = [(name, column) for name, column in zip(table.column_names, columns, strict=True)]
        return frame.selectExpr(*written.brought(own))

    def _view(self, frame: Frame) -> Frame:
        """Register a frame on the server: otherwise the client sends its rows with each query over it."""
        name = f"{self._tag}_{len(self._views)}"
        frame.createOrReplaceTempView(name)
        self._views.append(name)
        return self._session.table(name)

    def _given(self, table: pa.Table) -> Frame:
        if len(table):
            return self._session.createDataFrame(table)
        import pyarrow as pa

        # The client rejects empty tables.
        nothing = pa.table([pa.nulls(1, one.type) for one in table.schema], names=table.column_names)
        return self._session.createDataFrame(nothing).where("false")

    def file(self, path: Path, columns: Sequence[tuple[str, Typed]]) -> Frame:
        """Read a Parquet file in place."""
        frame = self._guarded(lambda: self._session.read.parquet(str(path)))
        return frame.selectExpr(*written.brought(columns))

    def query(self, query: Query, tables: Mapping[str, tuple[Frame, Sequence[Typed]]]) -> Frame:
        """Query frames under names, which are made unique: the session may be shared."""
        names = {name: f"{self._tag}_{len(self._views)}_{number}" for number, name in enumerate(tables)}

        def renamed(node: Node) -> Node | None:
            if not isinstance(node, TableName) or node.name not in names:
                return None
            return replace(node, name=names[node.name], alias=node.called)

        columns_of = {names[name]: columns for name, (_, columns) in tables.items()}
        vetted = vet(replaced(query, renamed), columns_of, self._connection.gaps)
        for name, (frame, _) in tables.items():
            self._guarded(partial(frame.createOrReplaceTempView, names[name]))
            self._views.append(names[name])
        return self._queried(self._with_kept_steps(vetted))

    def _queried(self, query: Query) -> Frame:
        return self._guarded(partial(self._session.sql, text_of(query)))

    def _with_kept_steps(self, query: Query) -> Query:
        """Let the engine keep the rows of steps that it would compute often."""
        assert isinstance(query, Select | Compound)
        while (position := repeated_step(query)) is not None and self._connection.keeps_rows:
            try:
                query = reading(query, position, self._kept_rows(up_to(query, position)))
            except (Interrupted, Unanswered):
                raise
            except EngineError:
                # It may not store values of some types. If the step fails anyway, the query will.
                return query
        return query

    def _kept_rows(self, query: Query) -> str:
        """Let the engine compute rows now; return their name."""
        checkpoint = self._queried(query).localCheckpoint
        (kept,) = self._yielded(lambda: iter([checkpoint()]))
        self._kept.append(kept)
        name = f"{self._tag}_{len(self._views)}"
        self._guarded(partial(kept.createOrReplaceTempView, name))
        self._views.append(name)
        return name

    def extent(self, frame: Frame) -> tuple[int, int] | None:
        """Return the least and the greatest `_ts` of a frame."""
        found = self._guarded(lambda: frame.selectExpr("MIN(_ts) AS low", "MAX(_ts) AS high").toArrow().to_pylist())
        low, high = found[0]["low"], found[0]["high"]
        return None if low is None else (low, high)

    def sweep(self, sweep: Sweep, inputs: Sequence[Frame], extent: tuple[int, int] | None, slabs: int) -> Frame:
        """Run an operator on workers, for each group of rows."""
        return self._guarded(lambda: grouped(cut(sweep, inputs, extent, self._connection.cores, slabs), sweep))

    def rows(self, frame: Frame) -> Iterator[pa.Table]:
        """Yield the rows as they arrive; if a query fails midway, an error follows the rows before it."""
        client = self._session.client

        def tables() -> Iterator[pa.Table]:
            items = client.to_table_as_iterator(frame._plan.to_proto(client), {})
            return (item for item in items if hasattr(item, "num_rows"))

        return self._yielded(tables)

    def _yielded(self, items: Callable[[], Iterator[Any]]) -> Iterator[Any]:
        """Yield items, which a separate thread fetches, since calls of the client cannot be interrupted."""
        coming = _Coming()
        threading.Thread(target=self._fetch, args=(items, coming), daemon=True).start()
        ended = False
        try:
            while not ended:
                if (item := coming.next()) is not None:
                    ended = item is _END
                    if isinstance(item, BaseException):
                        ended = True
                        raise self._connection.failed(item)
                    if not ended:
                        yield item
                elif self._stop():
                    raise Interrupted("interrupted")
        finally:
            coming.left.set()
            if not ended:
                self._connection.end(self._tag)

    def _fetch(self, items: Callable[[], Iterator[Any]], coming: _Coming) -> None:
        last: Any = _END
        try:
            self._session.addTag(self._tag)
            for item in items():
                if not coming.put(item):
                    return
        except Exception as error:  # of any kind; the thread that waits for rows raises it
            last = error
        coming.put(last)

    def close(self) -> None:
        """Drop the job's tables."""
        views, self._views = self._views, []
        self._connection.forget(views)
        self._kept.clear()

    def _guarded(self, work: Callable[[], Any]) -> Any:
        return self._connection.guarded(work)
