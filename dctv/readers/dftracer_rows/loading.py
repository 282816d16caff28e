"""Reads the files of a DFTracer trace as a whole."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import LoadContext, LoadedTrace
from dctv.errors import TraceError
from dctv.readers.dftracer_rows.tables import (
    check_found,
    check_options,
    diagnostics_of,
    distinct,
    event_table,
    files_table,
    properties_of,
    regular_table,
)


def load_whole(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; `_ts` 0 is the earliest event of all."""
    from dctv._kernels import decode_pfw

    check_options(context.options)
    try:
        found = decode_pfw([str(path) for path in paths], max(1, context.threads), context.progress)
    except ValueError as error:
        raise TraceError(f"cannot read `{paths[0]}`: {error}") from None
    check_found(found.files, found.troubles)
    tables = {
        f"raw_events.{name}": event_table(name, data, distinct(data.column("cat"))) for name, data in found.events
    }
    tables["metadata"] = regular_table(found.metadata)
    tables["files"] = files_table(found.files)
    properties = properties_of(found.start_ns, found.files, _versions(found))
    return LoadedTrace(tables, diagnostics_of(found.troubles, found.files), found.last_ts, properties)


def _versions(found: Any) -> list[object]:
    """The versions that `start` events tell, such as 20003."""
    for name, data in found.events:
        if name == "start" and "version" in data.column_names:
            return distinct(data.column("version"))
    return []
