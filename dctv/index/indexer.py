"""Index traces by path, for sessions and for `dctv index`, which has no session."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.catalog.files import check_options, find_traces, forced
from dctv.contracts.reader import LoadContext, Reader
from dctv.index.trace import Trace
from dctv.progress import Progress
from dctv.record import record, replace

if TYPE_CHECKING:
    from dctv.index.request import IndexOutcome, IndexRequest


@record
class Indexer:
    """A builder of indexes, which also compares them with their traces."""

    readers: Mapping[str, Reader]
    threads: int
    index_dir: Path | None
    """The folder of indexes unless a request names one; None is the cache."""
    temp_directory: Path | None
    """The folder for rows that do not fit into memory; None is the system's."""
    progress: Progress

    def index(self, path: str, order: IndexRequest, options: Mapping[str, object]) -> IndexOutcome:
        """Build the index and the column store of a trace, or their missing parts.

        Options are those of its format, and `format` if it is not to be detected.

        Raises:
            IndexFailed: they cannot be written, or the trace cannot be indexed.
            TraceError: it cannot be read.
        """
        from dctv.index.request import fulfil

        return fulfil(*self._ordered(path, order, options), path, self.progress)

    def check(self, path: str, order: IndexRequest, options: Mapping[str, object]) -> list[str]:
        """Compare the index of a trace with the trace; return descriptions of the differences.

        Raises:
            IndexUnusable: there is no index to compare.
        """
        from dctv.index.request import differences

        return differences(*self._ordered(path, order, options), path, self.progress, self.temp_directory)

    def _ordered(self, path: str, order: IndexRequest, options: Mapping[str, object]) -> tuple[Trace, IndexRequest]:
        own = {name: value for name, value in options.items() if name != "format"}
        given = options.get("format")
        files = (
            find_traces([path], self.readers, None) if given is None else forced(str(given), [path], self.readers, None)
        )
        check_options(files.reader, own)
        context = LoadContext(own, self.threads, lambda _done, _total: None)
        folder = order.index_dir or self.index_dir
        return Trace(files.paths, files.reader, context), replace(order, index_dir=folder)
