"""The files of a trace that is to be mounted -> the trace with its index, found or built, if one is wanted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from dctv.contracts.reader import Reader
from dctv.errors import IndexFailed, IndexUnusable, TraceError
from dctv.index.build import MakeSpool, Settings, Trace
from dctv.index.database import Index
from dctv.index.keeper import find
from dctv.index.location import subject
from dctv.index.mounted import IndexedTrace
from dctv.index.order import Order, Report, fulfil

AUTO_BYTES = 256 << 20
"""Text from which on an index is built unasked: reading so much takes seconds and a gigabyte of memory each time."""

_PACKED = 10
"""How much text a byte of gzip is taken for; traces of calls pack to a tenth or less."""

When = bool | Literal["auto"]


@dataclass(frozen=True, slots=True)
class Policy:
    """Whether traces are read by their indexes."""

    when: When = "auto"
    """True builds those that are missing, `auto` only for large traces, False looks for none."""
    index_dir: Path | None = None
    make_spool: MakeSpool | None = None


def known_format(
    paths: Sequence[Path], readers: Mapping[str, Reader], options: Mapping[str, object], policy: Policy
) -> Reader | None:
    """Return the format of files of which there is a good index, so that none of them need be opened to tell it."""
    for reader in readers.values():
        if reader.chunks is not None and policy.when:
            index = _found(paths, reader, options, policy, lambda _: None)
            if index is not None:
                index.close()
                return reader
    return None


def with_index(
    trace: Trace, policy: Policy, label: str, report: Report, note: Callable[[str], None]
) -> IndexedTrace | None:
    """Return a trace with its index, built if that is wanted; None if it is to be read whole.

    Raises:
        IndexFailed: an index was asked for and cannot be built.
        TraceError: the trace cannot be read.
    """
    if trace.reader.chunks is None or not policy.when:
        return None
    try:
        index = find(trace.about, policy.index_dir, note)
        if index is None and (policy.when is True or _is_large(trace.paths)):
            fulfil(trace, Order(Settings(), policy.index_dir), policy.make_spool, label, report)
            index = find(trace.about, policy.index_dir, note)
        return None if index is None else IndexedTrace(trace, index)
    except (IndexFailed, IndexUnusable, TraceError) as error:
        if policy.when is True:
            raise
        note(f"{error.message}; the trace is read whole")
        return None


def _is_large(paths: Sequence[Path]) -> bool:
    total = 0
    for path in paths:
        try:
            with path.open("rb") as file:
                packed = file.read(2) == b"\x1f\x8b"
            total += path.stat().st_size * (_PACKED if packed else 1)
        except OSError:
            return False
        if total >= AUTO_BYTES:
            return True
    return False
