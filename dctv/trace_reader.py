"""A trace read from Python by filters, without SQL: as records, as Arrow batches, or counted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, cast

from dctv.errors import UsageError
from dctv.index.mounting import When
from dctv.run.matches import Matches
from dctv.session import Session

if TYPE_CHECKING:
    import pyarrow as pa

_NAME = "trace"


class TraceReader:
    """One trace: a file, a folder or a pattern, or several of them; close it, or use it in a `with` statement.

    Queries are written in the filter language: `cat == "POSIX" and dur > 1ms`; none means all events. Events come in
    order of time. Iterators read on demand. `index` and `index_dir` are those of `Session`.

    Raises:
        TraceError: the trace cannot be read.
    """

    def __init__(
        self,
        path: str | Path | Sequence[str | Path],
        *,
        index: When = "auto",
        index_dir: str | Path | None = None,
        threads: int | None = None,
        memory_limit: str | None = None,
    ) -> None:
        self.session: Session = Session(threads=threads, memory_limit=memory_limit, index=index, index_dir=index_dir)
        """The session with the trace mounted as `trace`, for questions in SQL."""
        self._closed = False
        paths = [path] if isinstance(path, str | Path) else list(path)
        try:
            self.session.mount([str(one) for one in paths], _NAME)
        except BaseException:
            self.session.close()
            raise

    def __enter__(self) -> TraceReader:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def read_lines(self, query: str | None = None) -> Iterator[str]:
        """Yield every matching event as a JSON text, without the end of its line.

        Times are in the unit of the format's records: `header` has the lines that declare another one.

        Raises:
            QueryError: the query does not follow its grammar, or does not fit the trace.
            UsageError: the reader is closed.
        """
        result = self._matches(query).records()
        return (cast("str", text) for (texts,) in result.chunks() for text in texts)

    def read_batches(self, query: str | None = None) -> Iterator[pa.RecordBatch]:
        """Yield the matching events as Arrow batches.

        Columns: `_ts` and `_duration` in ns, `name`, `category`, `pid`, `tid`, and `args` as JSON texts.

        Raises:
            QueryError: as `read_lines`.
            UsageError: the reader is closed.
        """
        return self._matches(query).rows().batches()

    def count(self, query: str | None = None) -> int:
        """Count the events that match.

        Raises:
            QueryError: as `read_lines`.
            UsageError: the reader is closed.
        """
        return cast("int", self._matches(query).count().fetchall()[0][0])

    @property
    def header(self) -> tuple[str, ...]:
        """The lines that a file of records must begin with to be the same trace: the time unit, if not the default."""
        return self._matches(None).head

    @property
    def warnings(self) -> list[str]:
        """The warnings of the last query, such as about a field that no event has."""
        return self.session.warnings()

    def close(self) -> None:
        """Free everything; the trace cannot be read any more."""
        self._closed = True
        self.session.close()

    def _matches(self, query: str | None) -> Matches:
        if self._closed:
            raise UsageError("the reader of the trace is closed")
        return self.session.matches(_NAME, query, source_name="<query>")
