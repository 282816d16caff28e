"""Mount the files of a trace: by an index, found or built, or by reading all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from dctv.catalog.mount import Mount
from dctv.contracts.reader import Reader
from dctv.errors import IndexFailed, IndexUnusable, TraceError, UsageError, WarningLog, reason_of
from dctv.index.database import Index
from dctv.index.finding import find
from dctv.index.location import cache_folder, subject
from dctv.index.mounted import IndexedTrace
from dctv.index.sources import all_events, sources_of
from dctv.index.trace import Trace
from dctv.progress import Progress
from dctv.record import record, replace

AUTO_BYTES = 256 << 20
"""Traces with at least this much text are indexed by default: reading them takes seconds and a GB of memory."""

_PACKED = 10
"""Assumed compression ratio of gzip; traces of calls compress to a tenth or less."""

When = bool | Literal["auto"]


@record
class IndexPolicy:
    """Whether traces are read by index.

    Raises:
        UsageError: `when` has another value than these.
    """

    when: When = "auto"
    """True builds missing indexes, `auto` only for large traces, False ignores indexes."""
    index_dir: Path | None = None
    large: int = AUTO_BYTES
    """A trace is large if it has at least this many bytes of text."""

    def __post_init__(self) -> None:
        if self.when not in (True, False, "auto"):
            raise UsageError(f"found `index={self.when!r}`, expected True, False or 'auto'")

    def folder(self) -> Path | None:
        """Return the default folder of indexes and column stores; None if there is none."""
        if not self.when:
            return None
        if self.index_dir is not None:
            return self.index_dir.absolute()
        try:
            return cache_folder()
        except UsageError:
            return None


@record
class MountNarrator:
    """A listener that reports the events of mounting a trace."""

    label: str
    """The user's name for the trace."""
    progress: Progress
    log: WarningLog
    """Called with the reason why an existing or possible index is not used."""


def find_by_paths(
    paths: Sequence[Path],
    readers: Mapping[str, Reader],
    options: Mapping[str, object],
    policy: IndexPolicy,
    likely: str | None = None,
) -> tuple[Reader, Index] | None:
    """Return the good index of some files and their format, so that no file is read to recognize it.

    The index of the `likely` format is tried first.
    """
    first = [readers[likely]] if likely is not None and likely in readers else []
    for reader in chain(first, (one for one in readers.values() if one.name != likely)):
        if reader.chunks is not None and policy.when:
            index = find(subject(paths, reader.name, options), policy.index_dir, _silent)
            if index is not None:
                return reader, index
    return None


def with_index(trace: Trace, found: Index | None, policy: IndexPolicy, narrator: MountNarrator) -> IndexedTrace | None:
    """Return a trace with its index, built if the policy says so; None if all of it is to be read.

    Raises:
        IndexFailed: an index was asked for and cannot be built.
        TraceError: the trace cannot be read.
    """
    if trace.reader.chunks is None or not policy.when:
        return None
    try:
        index = found or find(trace.subject, policy.index_dir, narrator.log.add)
        if index is None and (policy.when is True or _is_large(trace.paths, policy.large)):
            from dctv.index.build import IndexSettings  # only needed when a trace is indexed
            from dctv.index.request import IndexRequest, fulfil

            fulfil(trace, IndexRequest(IndexSettings(), policy.index_dir), narrator.label, narrator.progress)
            index = find(trace.subject, policy.index_dir, narrator.log.add)
        return None if index is None else IndexedTrace(trace, index)
    except (IndexFailed, IndexUnusable, TraceError) as error:
        if policy.when is True:
            raise
        narrator.log.add(f"{error.message}; the trace is read whole")
        return None


def mount_of(parts: tuple[str, ...], path: str, trace: Trace, indexed: IndexedTrace | None) -> Mount:
    """Return a mount of a trace: by index, or by reading all of it.

    Raises:
        TraceError: it cannot be read.
    """
    reader = trace.reader.name
    if indexed is None:
        try:
            return Mount(parts, path, reader, trace.reader.load(trace.paths, trace.context))
        except OSError as error:
            raise TraceError(f"cannot read `{path}`: {reason_of(error)}") from None
    whole = replace(indexed.rest, tables={**indexed.tables, **indexed.rest.tables})
    return Mount(parts, path, reader, whole, sources_of(indexed), partial(all_events, indexed), close=indexed.close)


def _silent(_: str) -> None:
    """Ignore a note: it is reported once the format is known."""


def _is_large(paths: Sequence[Path], bytes_: int) -> bool:
    total = 0
    for path in paths:
        try:
            with path.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            total += path.stat().st_size * (_PACKED if packed else 1)
        except OSError:
            return False
        if total >= bytes_:
            return True
    return False
