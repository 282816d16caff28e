"""Read Arrow IPC files and streams as tables; units that dctv wrote into field metadata are kept."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable

_FILE = b"ARROW1"


def sniff(head: Head) -> bool:
    """Whether it is an Arrow file, or a stream that begins with its schema."""
    return head.raw.startswith(_FILE) or (head.raw.startswith(b"\xff\xff\xff\xff") and head.raw[4:8] != b"\0\0\0\0")


def _tables(file: PlainFile) -> list[PlainTable]:
    import pyarrow as pa

    from dctv.plan.build import STAR, select
    from dctv.readers.plain_files.tables import PlainTable, name_of, units_of

    try:
        schema, _ = _opened(file.path)
    except (OSError, pa.ArrowException) as error:
        raise TraceError(f"cannot read `{file.path}`: {str(error).partition('. ')[0].lower()}") from None
    stream = f"arrow{file.number}"
    given = {stream: partial(_stream, file.path)}
    return [
        PlainTable(file.number, name_of(file.path), select(STAR, source=stream), given, units_of(schema), typed=True)
    ]


def _opened(path: Path) -> tuple[Any, Iterator[Any]]:
    """Return the schema of a file, and its batches."""
    import pyarrow as pa

    source = pa.memory_map(str(path))
    if source.read(len(_FILE)) != _FILE:
        source.seek(0)
        stream = pa.ipc.open_stream(source)
        return stream.schema, iter(stream)
    file = pa.ipc.open_file(source)
    return file.schema, map(file.get_batch, range(file.num_record_batches))


def _stream(path: Path) -> Any:
    """Return a reader of the batches, in types that the engine has, that validates each one first.

    Code that reads a batch trusts the file's offsets and lengths.

    Raises:
        ValueError: the file is damaged.
    """
    import pyarrow as pa

    schema, batches = _opened(path)
    readable = pa.schema([field.with_type(_readable(field.type)) for field in schema])

    def checked(batch: Any) -> Any:
        batch.validate(full=True)
        return batch if readable == schema else batch.cast(readable)

    return pa.RecordBatchReader.from_batches(readable, map(checked, batches))


def _readable(kind: Any) -> Any:
    """Return a type that has all values of one that the engine lacks, or would round."""
    import pyarrow as pa

    if pa.types.is_duration(kind):
        return pa.int64()
    if pa.types.is_float16(kind):
        return pa.float32()
    return pa.string() if pa.types.is_decimal256(kind) else kind


READER = Described(
    name="arrow",
    title="tables in Arrow IPC files and streams (.arrow, .arrows, .feather)",
    suffixes=(".arrow", ".arrows", ".feather", ".ipc"),
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
