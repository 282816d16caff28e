"""Reads the files of an ftrace text as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import LoadContext, LoadedTrace, TraceTable
from dctv.errors import TraceError
from dctv.readers.ftrace_events.fields import FIXED, OPTIONAL, counts_table, event_table
from dctv.readers.ftrace_events.report import check, check_met, check_options, diagnostics, properties


def load_whole(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; they share one clock, and `_ts` 0 is the first event of all."""
    from dctv._kernels import decode_ftrace

    check_options(context.options)
    for path in paths:
        check(path)
    try:
        found = decode_ftrace([str(path) for path in paths], max(1, context.threads), context.progress)
    except OSError as error:
        raise TraceError(f"cannot read `{error.args[0]}`: {error.args[1]}") from None
    except ValueError as error:
        raise TraceError(f"cannot hold the tables of `{paths[0]}`: {error}") from None
    for path, met in zip(paths, found["files"], strict=True):
        check_met(path, met)
    return LoadedTrace(_tables(found["tables"]), diagnostics(paths, found), found["last"], properties(found))


def _tables(decoded: Sequence[tuple[str, Any, bool, list[tuple[str, int]]]]) -> dict[str, TraceTable]:
    lacks = [c for c in OPTIONAL if all(_is_empty(data, c) for _, data, _, _ in decoded)]
    tables = {
        f"raw_events.{name}": event_table(name, data, lacks=lacks, in_order=not unsorted)
        for name, data, unsorted, _ in decoded
    }
    counts = [(printed, f"raw_events.{name}", n) for name, _, _, names in decoded for printed, n in names]
    tables["event_counts"] = counts_table(counts)
    return tables


def _is_empty(data: Any, column: str) -> bool:
    return bool(data.column(FIXED.index(column)).null_count == len(data))
