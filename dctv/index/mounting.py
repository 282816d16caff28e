"""The files of a trace that is to be mounted -> a mount: by its index, found or built, or read whole."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Literal

from dctv.catalog.mount import Mount
from dctv.contracts.reader import Reader
from dctv.errors import IndexFailed, IndexUnusable, TraceError, UsageError, WarningLog
from dctv.index.database import Index
from dctv.index.finding import find
from dctv.index.location import cache_folder, subject
from dctv.index.mounted import IndexedTrace
from dctv.index.sources import all_events, sources_of
from dctv.index.trace import Trace
from dctv.progress import Progress
from dctv.record import record, replace

AUTO_BYTES = 256 << 20
"""Text from which on an index is built unasked: reading so much takes seconds and a gigabyte of memory each time."""

_PACKED = 10
"""How much text a byte of gzip is taken for; traces of calls pack to a tenth or less."""

When = bool | Literal["auto"]


@record
class IndexPolicy:
    """Whether traces are read by their indexes."""

    when: When = "auto"
    """True builds those that are missing, `auto` only for large traces, False looks for none."""
    index_dir: Path | None = None
    large: int = AUTO_BYTES
    """Bytes of text from which on a trace is large."""

    def folder(self) -> Path | None:
        """Return the folder of all indexes and column stores; None if there is none."""
        if not self.when:
            return None
        if self.index_dir is not None:
            return self.index_dir.expanduser().absolute()
        try:
            return cache_folder()
        except UsageError:
            return None


@record
class MountNarrator:
    """Reports what happens while a trace is mounted."""

    label: str
    """What a person calls the trace."""
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

    That of the `likely` format is looked for first.
    """
    first = [readers[likely]] if likely is not None and likely in readers else []
    for reader in chain(first, (one for one in readers.values() if one.name != likely)):
        if reader.chunks is not None and policy.when:
            index = find(subject(paths, reader.name, options), policy.index_dir, _silent)
            if index is not None:
                return reader, index
    return None


def with_index(trace: Trace, found: Index | None, policy: IndexPolicy, narrator: MountNarrator) -> IndexedTrace | None:
    """Return a trace with its index, built if that is wanted; None if it is to be read whole.

    Raises:
        IndexFailed: an index was asked for and cannot be built.
        TraceError: the trace cannot be read.
    """
    if trace.reader.chunks is None or not policy.when:
        return None
    try:
        index = found or find(trace.about, policy.index_dir, narrator.log.add)
        if index is None and (policy.when is True or _is_large(trace.paths, policy.large)):
            from dctv.index.build import IndexSettings  # only wanted when something is indexed
            from dctv.index.order import IndexRequest, fulfil

            fulfil(trace, IndexRequest(IndexSettings(), policy.index_dir), narrator.label, narrator.progress)
            index = find(trace.about, policy.index_dir, narrator.log.add)
        return None if index is None else IndexedTrace(trace, index)
    except (IndexFailed, IndexUnusable, TraceError) as error:
        if policy.when is True:
            raise
        narrator.log.add(f"{error.message}; the trace is read whole")
        return None


def mount_of(parts: tuple[str, ...], path: str, trace: Trace, indexed: IndexedTrace | None) -> Mount:
    """Return a mount of a trace: by its index, or read whole.

    Raises:
        TraceError: it cannot be read.
    """
    reader = trace.reader.name
    if indexed is None:
        try:
            return Mount(parts, path, reader, trace.reader.load(trace.paths, trace.context))
        except OSError as error:
            raise TraceError(f"cannot read `{path}`: {(error.strerror or str(error)).lower()}") from None
    whole = replace(indexed.rest, tables={**indexed.tables, **indexed.rest.tables})
    return Mount(parts, path, reader, whole, sources_of(indexed), partial(all_events, indexed), close=indexed.close)


def _silent(_: str) -> None:
    """Say nothing: it is said when the format is known."""


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
