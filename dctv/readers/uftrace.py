"""Read uftrace data directories: one call per row, with arguments, results, nesting and self time."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from dctv.contracts.reader import Head, LoadContext
from dctv.readers.described import Described, RowPass
from dctv.readers.uftrace_files.files import MAGIC, folder_files


def _sniff(head: Head) -> bool:
    return head.raw.startswith(MAGIC)


def start(paths: Sequence[Path], context: LoadContext, _chunk_bytes: int) -> RowPass:
    """Start a pass over a data directory."""
    from dctv import _kernels
    from dctv.readers.uftrace_files.setup import setup_of

    setup = setup_of(paths)
    return _kernels.uftrace_pass(setup, context.threads, context.progress)


READER = Described(
    name="uftrace",
    title="uftrace data directory",
    suffixes=(),
    sniff=_sniff,
    start=start,
    dimensions={"event": "name", "module": "module", "tid": "tid", "pid": "pid"},
    folder=folder_files,
    entry="info",
    byte_names=True,
).reader()
