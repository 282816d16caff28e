"""Read Parquet files of `dctv reorganize`: their column `record` holds the lines of a trace of another format."""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.contracts.reader import Diagnostic, Head, LoadContext, LoadedTrace, Reader, TraceTable
from dctv.errors import TraceError
from dctv.readers import dftracer, ftrace_text
from dctv.record import replace

COLUMN = "record"
KEY = b"dctv.reader"
"""Key of the file's metadata for the format of the lines."""

_FORMATS: Mapping[str, Reader] = {one.name: one for one in (dftracer.READER, ftrace_text.READER)}


def sniff(head: Head) -> bool:
    """Whether it is Parquet with the format of its records in the metadata."""
    return head.raw.startswith(b"PAR1") and _format(head.path) is not None


def _format(path: Path) -> str | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        schema = pq.read_schema(path)
    except (OSError, pa.ArrowException):
        return None
    found = (schema.metadata or {}).get(KEY)
    return None if found is None or COLUMN not in schema.names else found.decode(errors="replace")


def load(paths: Sequence[Path], context: LoadContext) -> LoadedTrace:
    """Unpack the lines and read them in their own format."""
    from tempfile import TemporaryDirectory

    formats = {_format(path) for path in paths}
    if len(formats) > 1:
        raise TraceError(f"the files have records of several formats: {', '.join(sorted(map(str, formats)))}")
    name = formats.pop() or ""
    if name not in _FORMATS:
        raise TraceError(f"the records of `{paths[0]}` have the unknown format `{name}`")
    with TemporaryDirectory(prefix="dctv-records-") as folder:
        unpacked = [Path(folder) / f"{number:06}" for number in range(len(paths))]
        for path, target in zip(paths, unpacked, strict=True):
            _unpack(path, target)
        found = _FORMATS[name].load(unpacked, context)
    names = {str(target): str(path) for path, target in zip(paths, unpacked, strict=True)}
    diagnostics = [_renamed(one, names) for one in found.diagnostics]
    tables = {key: _with_paths(table, names) for key, table in found.tables.items()}
    return replace(found, tables=tables, diagnostics=diagnostics, format=name)


def _unpack(path: Path, target: Path) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    try:
        with pq.ParquetFile(path) as file, target.open("wb") as text:
            for batch in file.iter_batches(columns=[COLUMN]):
                _, offsets, data = batch.column(0).cast(pa.large_binary()).buffers()
                ends = memoryview(offsets).cast("q")
                text.write(memoryview(data)[ends[0] : ends[batch.num_rows]])
    except (OSError, zlib.error, pa.ArrowException) as error:
        raise TraceError(f"cannot read `{path}`: {error}") from None


def _renamed(one: Diagnostic, names: Mapping[str, str]) -> Diagnostic:
    return replace(one, file=names.get(one.file, one.file))


def _with_paths(table: TraceTable, names: Mapping[str, str]) -> TraceTable:
    """Give files the user's names in tables of files."""
    import pyarrow as pa

    places = [place for place, name in enumerate(table.schema.names) if name in {"path", "file"}]
    if table.event is not None:
        return table
    if table.rows is not None:
        rows = [
            [names.get(str(value), value) if place in places else value for place, value in enumerate(row)]
            for row in table.rows()
        ]
        return replace(table, rows=lambda: rows)
    data: Any = table.data
    for place in places:
        texts = pa.array([names.get(text, text) for text in data.column(place).to_pylist()], pa.string())
        data = data.set_column(place, data.schema.names[place], texts)
    return replace(table, data=data)


READER = Reader(
    name="records",
    title="reorganized traces in Parquet (.parquet)",
    suffixes=(".parquet",),
    sniff=sniff,
    load=load,
)
