"""Reads DFTracer traces: `.pfw` and `.pfw.gz` of all writer generations, one file, a folder or a glob as one trace.

Every event name becomes a table `raw_events.<name>`. Its columns are `_ts` and `dur` (NULL where the record has none),
`cat`, `pid`, `tid`, `id`, `ph` (the letter of old writers: X complete, C counter, A aggregated; `id` and `type` only
where some record has them), then the members of `args`, each with the type of its values; lists and objects stay JSON
texts. An argument named like one of these columns, `name` or `args`, is called `args_name` and so on; of arguments that
differ in case only, later ones get a number. Beside a column of hashes stands the text of each: `fname` (`fhash`),
`hostname` (`hhash`), `cwd_path` (`cwd`), `cmd` (`cmd_hash`) and so on for whatever ends in `_hash`. Hashes are texts in
all generations. A hash with several texts has that of the same file, or NULL if the file itself gives several.

`metadata` has the metadata records, `files` the files. Units are given where their meaning is certain: times are ns;
bytes are what the C library's calls count in bytes, see `BYTES`. `ret` has none, since it may be an error code.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.reader import (
    Diagnostic,
    EventColumns,
    Head,
    LoadContext,
    LoadedTrace,
    Reader,
    Records,
    TraceTable,
)
from dctv.errors import TraceError, nearest
from dctv.types.schema import TS, ColumnType, Kind, Schema
from dctv.types.units import NO_UNIT, Unit, parse_unit

if TYPE_CHECKING:
    import pyarrow as pa

RECORD = (TS, "dur", "cat", "pid", "tid", "id", "ph", "type")
"""Columns that come from the record itself, not from its args."""

BYTES = {
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
"""By category and argument: the calls of the C library for which it is a number of bytes.

It is one only where all events of the name are of this category, since applications may use the names of calls.
"""

ENGINE_TYPES = {"int64": "BIGINT", "uint64": "UBIGINT", "double": "DOUBLE", "bool": "BOOLEAN"}


def sniff(head: Head) -> bool:
    """Whether one of the first lines is a record of DFTracer."""
    lines = head.text.split(b"\n")
    if len(lines) > 1:
        return any(_is_record(line) for line in lines[:64])
    # A single line may be longer than the head.
    return _is_record(lines[0]) or (
        lines[0].lstrip().startswith(b"{") and all(key in lines[0] for key in (b'"name"', b'"cat"', b'"pid"', b'"ph"'))
    )


def _is_record(line: bytes) -> bool:
    if not line.lstrip().startswith(b"{"):
        return False
    try:
        record = json.loads(line.decode(errors="replace"))
    except (ValueError, RecursionError):
        return False
    return isinstance(record, dict) and record.keys() >= {"name", "cat", "pid", "tid", "ph"}


def load(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Read the files of one trace; `_ts` 0 is the earliest event of all."""
    from dctv._kernels import decode_pfw

    for name in context.options:
        close = nearest(name, list(READER.options))
        raise TraceError(f"option `{name}` is unknown to {READER.name}", hint=f"try `{close}`" if close else None)
    try:
        found = decode_pfw([str(path) for path in paths], max(1, context.threads), context.progress)
    except ValueError as error:
        raise TraceError(f"cannot read `{paths[0]}`: {error}") from None
    _check(found)
    tables = {f"raw_events.{name}": _event_table(name, data) for name, data in found.events}
    tables["metadata"] = _regular(_without_empty(found.metadata))
    tables["files"] = _regular(_files(found.files))
    diagnostics = [
        Diagnostic(path, reason, count, example[:200], incomplete=incomplete)
        for path, reason, count, example, incomplete in found.troubles
    ]
    return LoadedTrace(tables, diagnostics, found.last_ts, _properties(found))


def _check(found: Any) -> None:
    """Refuse files that cannot be opened, and a trace in which nothing is a record."""
    for path, reason, _, example, _ in found.troubles:
        if reason == "file cannot be read":
            raise TraceError(f"cannot read `{path}`: {example.lower()}")
    if any(events or metadata for _, _, events, metadata, *_ in found.files):
        return
    for path, reason, count, example, _ in found.troubles:
        if reason != "file is empty":
            where = f", {example[:80]}" if example else ""
            raise TraceError(f"no DFTracer record in `{path}`: {reason} ({count} times){where}")


def _event_table(name: str, data: pa.Table) -> TraceTable:
    names = data.column_names
    categories = _distinct(data.column("cat"))
    columns = []
    for field in data.schema:
        engine_type = ENGINE_TYPES.get(str(field.type), "VARCHAR")
        columns.append(ColumnType(field.name, engine_type, _unit(name, categories, field.name, engine_type)))
    event = EventColumns(
        name,
        category="cat",
        pid="pid",
        tid="tid",
        duration="dur",
        args=tuple(column for column in names if column not in RECORD),
    )
    return TraceTable(Schema(Kind.EVENT, tuple(columns)), data, event)


def _distinct(column: pa.ChunkedArray) -> list[object]:
    import pyarrow.compute as pc

    return list(pc.unique(column).to_pylist())


def _unit(event: str, categories: list[object], column: str, engine_type: str) -> Unit:
    if column in {TS, "dur"}:
        return parse_unit("ns")
    if engine_type != "BIGINT" or len(categories) != 1:
        return NO_UNIT
    return parse_unit("B") if event in BYTES.get((str(categories[0]), column), ()) else NO_UNIT


def _without_empty(data: pa.Table) -> pa.Table:
    """Drop the record's columns that no metadata record of these writers has."""
    return data.drop_columns([c for c in ("id", "type") if data.column(c).null_count == len(data)])


def _regular(data: pa.Table) -> TraceTable:
    units = {"bytes": parse_unit("B")}
    columns = tuple(
        ColumnType(field.name, ENGINE_TYPES.get(str(field.type), "VARCHAR"), units.get(field.name, NO_UNIT))
        for field in data.schema
    )
    return TraceTable(Schema(Kind.REGULAR, columns), data)


def _files(rows: Sequence[tuple[Any, ...]]) -> pa.Table:
    """One row per file; `min_ts` and `max_ts` are as written, in the file's `time_unit`."""
    import pyarrow as pa

    names = ("path", "bytes", "events", "metadata", "invalid_lines", "other_lines", "time_unit", "min_ts", "max_ts")
    flat = [(*row[:7], *(row[7] or (None, None))) for row in rows]
    columns = list(zip(*flat, strict=True)) or [()] * len(names)
    return pa.table(
        {
            name: pa.array(column, pa.string() if name in {"path", "time_unit"} else pa.int64())
            for name, column in zip(names, columns, strict=True)
        }
    )


def _properties(found: Any) -> dict[str, str]:
    units = sorted({row[6] for row in found.files if row[2] or row[3]})
    properties = {"clock": "realtime", "start_ns": str(found.start_ns), "time_unit": ", ".join(units) or "US"}
    writer = _writer(found)
    if writer:
        properties["writer"] = writer
    return properties


def _writer(found: Any) -> str | None:
    """The version that `start` events tell, such as 20003."""
    for name, data in found.events:
        if name == "start" and "version" in data.column_names:
            versions = sorted({str(v) for v in _distinct(data.column("version")) if v is not None})
            if versions:
                return f"DFTracer {', '.join(versions)}"
    return None


def records(properties: Mapping[str, str]) -> Records:
    """Return how events are written: in microseconds, as is usual, or in the nanoseconds of one of the files."""
    if "NS" not in properties["time_unit"].split(", "):
        return Records("us")
    unit = {
        "name": "CM",
        "cat": "dftracer",
        "pid": 0,
        "tid": 0,
        "ph": "M",
        "args": {"name": "time_metric", "value": "NS"},
    }
    return Records("ns", (json.dumps(unit, separators=(",", ":")),))


READER = Reader(
    name="dftracer",
    title="DFTracer JSON lines (.pfw, .pfw.gz)",
    suffixes=(".pfw", ".pfw.gz"),
    sniff=sniff,
    load=load,
    records=records,
)
