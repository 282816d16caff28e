"""Convert results of the DFTracer decoder to tables with units, diagnostics and properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dctv.contracts.reader import Diagnostic, EventColumns, TraceTable, declared_unit
from dctv.contracts.unread import mostly_unread
from dctv.errors import TraceError
from dctv.record import replace
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.unit import NO_UNIT, Unit

Entries = Mapping[str, Any]
"""The metadata of a pass: see the kernels' `PfwPass`."""

RECORD = (TS, "dur", "cat", "pid", "tid", "id", "ph", "type")
"""Columns of the record itself, not of its args."""

BYTES: Mapping[tuple[str, str], tuple[str, ...]] = {
    ("POSIX", "count"): ("read", "write", "pread", "pread64", "pwrite", "pwrite64"),
    ("POSIX", "offset"): (
        "pread",
        "pread64",
        "pwrite",
        "pwrite64",
        "lseek",
        "lseek64",
        "mmap",
        "mmap64",
        "posix_fadvise",
    ),
    ("POSIX", "length"): ("mmap", "mmap64", "ftruncate", "ftruncate64", "truncate", "truncate64"),
    ("POSIX", "len"): ("posix_fadvise", "copy_file_range"),
    ("POSIX", "bufsize"): ("readlink",),
    ("STDIO", "size"): ("fread", "fwrite"),
}
"""By category and argument: the C library calls whose argument is a number of bytes.

The unit applies only if all events of the name have this category, since applications may use the same names.
"""

ENGINE_TYPES = {"int64": "BIGINT", "uint64": "UBIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}


def check_readable(entries: Entries) -> None:
    """Reject files that cannot be opened."""
    for trouble in entries["troubles"]:
        if trouble["reason"] == "file cannot be read":
            raise TraceError(f"cannot read `{trouble['path']}`: {trouble['example'].lower()}")


def check_found(entries: Entries) -> None:
    """Reject a trace without records."""
    if any(file["events"] or file["metadata"] for file in entries["files"]):
        return
    for trouble in entries["troubles"]:
        if trouble["reason"] != "file is empty":
            where = f", {trouble['example'][:80]}" if trouble["example"] else ""
            found = f"{trouble['reason']} ({trouble['count']} times){where}"
            raise TraceError(f"no DFTracer record in `{trouble['path']}`: {found}")


def diagnostics_of(entries: Entries) -> list[Diagnostic]:
    """Convert problems of the files to diagnostics."""
    found = [
        Diagnostic(one["path"], one["reason"], one["count"], one["example"][:200], incomplete=one["incomplete"])
        for one in entries["troubles"]
    ]
    for file in entries["files"]:
        lines = file["events"] + file["metadata"] + file["invalid_lines"]
        found += mostly_unread(file["path"], lines, file["invalid_lines"])
    return found


def described_events(name: str, columns: Sequence[tuple[str, str]], categories: Sequence[object]) -> TraceTable:
    """Describe the table of an event name with some categories, from names and Arrow types of its columns."""
    types = []
    for column, arrow_type in columns:
        engine_type = ENGINE_TYPES.get(arrow_type, "VARCHAR")
        types.append(ColumnType(column, engine_type, _unit(name, categories, column, engine_type)))
    event = EventColumns(
        name,
        category="cat",
        pid="pid",
        tid="tid",
        duration="dur",
        args=tuple(column for column, _ in columns if column not in RECORD),
    )
    return TraceTable(Schema(Kind.EVENT, tuple(types)), None, event)


def _unit(event: str, categories: Sequence[object], column: str, engine_type: str) -> Unit:
    if column in {TS, "dur"}:
        return declared_unit("ns")
    if engine_type != "BIGINT" or len(categories) != 1:
        return NO_UNIT
    return declared_unit("B") if event in BYTES.get((str(categories[0]), column), ()) else NO_UNIT


def described_regular(columns: Sequence[tuple[str, str]]) -> TraceTable:
    """Describe a table without events, from names and Arrow types of its columns."""
    units = {"bytes": declared_unit("B")}
    types = tuple(
        ColumnType(name, ENGINE_TYPES.get(arrow_type, "VARCHAR"), units.get(name, NO_UNIT))
        for name, arrow_type in columns
    )
    return TraceTable(Schema(Kind.REGULAR, types), None)


_FILE = {"path": "string", "bytes": "int64", "events": "int64", "metadata": "int64", "invalid_lines": "int64"}
_FILE |= {"other_lines": "int64", "time_unit": "string", "min_ts": "int64", "max_ts": "int64"}


def files_table(entries: Entries) -> TraceTable:
    """One row per file; `min_ts` and `max_ts` are as written, in the file's `time_unit`."""
    rows = [tuple(file[name] for name in _FILE) for file in entries["files"]]
    return replace(described_regular(list(_FILE.items())), rows=lambda: rows)


def properties_of(entries: Entries, versions: Iterable[object]) -> dict[str, str]:
    """Return the properties of a trace with these writer versions."""
    units = sorted({file["time_unit"] for file in entries["files"] if file["events"] or file["metadata"]})
    properties = {"clock": "realtime", "start_ns": str(entries["start_ns"]), "time_unit": ", ".join(units) or "US"}
    found = sorted({str(version) for version in versions if version is not None})
    if found:
        properties["writer"] = f"DFTracer {', '.join(found)}"
    return properties
