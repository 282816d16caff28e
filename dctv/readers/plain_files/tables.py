"""Files of plain tables as the passes see them: tables that the engine can scan."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from dctv.errors import DctvError
from dctv.plan.node import Query
from dctv.record import field, record


@record
class PlainTable:
    """A table that the engine can scan."""

    file: int
    name: str
    query: Query
    """Its rows; columns have names and the engine's types."""
    given: Mapping[str, Any] = field(default_factory=dict)
    """Streams of Arrow batches that the query reads by name, each created anew."""
    units: Mapping[str, str] = field(default_factory=dict)
    typed: bool = False
    """Whether the file declares the types of its columns, so that dates, decimals and lists keep theirs."""
    notes: Callable[[Any], Sequence[tuple[str, int, str, bool]]] = lambda _: ()
    """From the connection, after reading: reason, count, an example, and whether the file was
    not read completely because of it."""
    lines: Callable[[Any, int], tuple[int, int]] | None = None
    """For text, from the connection and the number of rows: how many lines there are, and how many were not read."""


@record
class PlainFile:
    """A file that contains tables."""

    number: int
    path: Path
    connection: Any
    options: Mapping[str, object]


Tables = Callable[[PlainFile], Sequence[PlainTable]]
"""Lists the tables of a file."""


def name_of(path: Path) -> str:
    """Return the name of a file's table."""
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def units_of(schema: Any) -> dict[str, str]:
    """Return the units in an Arrow schema: of durations, and in field metadata."""
    import pyarrow as pa

    units = {
        field.name: field.type.unit
        if pa.types.is_duration(field.type)
        else (field.metadata or {}).get(b"unit", b"").decode(errors="replace")
        for field in schema
    }
    return {name: unit for name, unit in units.items() if unit and _is_unit(unit)}


def _is_unit(text: str) -> bool:
    from dctv.types.units import parse_unit

    try:
        parse_unit(text)
    except DctvError:
        return False
    return True
