"""Build queries over files of a column store, and read the stored metadata of the files."""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from dctv.errors import reason_of
from dctv.record import record

if TYPE_CHECKING:
    from dctv.plan.queries import Select

EVENTS = "events"
"""The name of the flat table of all events."""

EVENTS_FILE = "events.parquet"

REST = -1
"""The column number of parts that belong to no column: Bloom filters, and the file's footer."""


@record
class ParquetMetadata:
    """Metadata of a Parquet file that is available without reading it."""

    numbers: dict[str, int]
    """The number of each column."""
    parts: tuple[tuple[int, int, int], ...]
    """Column (or REST), bytes and CRC-32 of each part, in file order and without gaps."""

    def bytes_of(self, columns: Collection[str]) -> int:
        """Return how many bytes a query over these columns reads, if no row group is left out."""
        wanted = {self.numbers[name] for name in columns} | {REST}
        return sum(size for column, size, _ in self.parts if column in wanted)


@lru_cache(maxsize=256)
def stored_metadata(text: str) -> ParquetMetadata:
    """Parse the metadata that was stored when the file was written."""
    raw = json.loads(text)
    flat = raw["parts"]
    numbers = {name: number for number, name in enumerate(raw["columns"])}
    return ParquetMetadata(numbers, tuple(zip(flat[::3], flat[1::3], flat[2::3], strict=True)))


def _places(sizes: Sequence[int]) -> list[tuple[int, int]]:
    places = []
    at = 0
    for size in sizes:
        places.append((at, size))
        at += size
    return places


def damage(path: Path, text: str, columns: Collection[str] | None = None) -> str | None:
    """Read the parts of a file that belong to some columns; return a description of any damage.

    Parts that belong to no column are always read; with None, the whole file.
    """
    from dctv._kernels import file_checksums

    metadata = stored_metadata(text)
    wanted = (
        None if columns is None else {metadata.numbers[name] for name in columns if name in metadata.numbers} | {REST}
    )
    places = _places([size for _, size, _ in metadata.parts])
    try:
        if path.stat().st_size != sum(size for _, size, _ in metadata.parts):
            return "its size has changed"
        chosen = [n for n, (column, _, _) in enumerate(metadata.parts) if wanted is None or column in wanted]
        sums = file_checksums(str(path), [places[n] for n in chosen])
    except OSError as error:
        return reason_of(error)
    except ValueError as error:
        return str(error)
    wrong = [n for n, crc in zip(chosen, sums, strict=True) if metadata.parts[n][2] != crc]
    return f"{len(wrong)} of {len(chosen)} parts are damaged" if wrong else None


def relation(
    path: Path, columns: Sequence[str], names: Sequence[str] | None = None, time_range: tuple[int, int] | None = None
) -> Select:
    """Return a query over a stored file: its rows in the order of the file.

    Args:
        path: the Parquet file.
        columns: the columns to read, under their names in the file.
        names: their names in the query, if different.
        time_range: the first and the last `_ts` that are needed, by which the engine prunes row groups.
    """
    from dctv.plan.build import number, select, where  # imported only when a question is answered
    from dctv.plan.expressions import Between, Column
    from dctv.plan.parquet import parquet
    from dctv.plan.queries import Item

    shown = (
        Item(Column(column), None if name == column else name)
        for column, name in zip(columns, names or columns, strict=True)
    )
    query = select(*shown, source=parquet(str(path)))
    if time_range is not None:
        low, high = map(number, time_range)
        query = where(query, Between(Column("_ts"), low, high))
    return query
