"""Read JSON lines (NDJSON): one object per line, plain or gzip, as one table with a column per member."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.reader import Head
from dctv.plan.build import STAR, call, number, select, where
from dctv.plan.expressions import TRUE, Column, Expression, IsNull, Keyword, Star, Text
from dctv.plan.queries import Select, TableCall
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable

_LONGEST = 64 << 20
"""The maximum size of an object in bytes."""


def sniff(head: Head) -> bool:
    """Whether the first line is a JSON object."""
    line, end, _ = head.text.lstrip(b"\xef\xbb\xbf \t\r\n").partition(b"\n")
    if not line.startswith(b"{"):
        return False
    if not end and len(head.text) >= 1 << 16:
        return line.startswith(b'{"')
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def _tables(file: PlainFile) -> list[PlainTable]:
    from dctv.engines.sql.duckdb import write
    from dctv.readers.plain_files.endings import open_line
    from dctv.readers.plain_files.tables import PlainTable, name_of

    @cache
    def lost(connection: Any) -> int:
        objects = _scan("read_json_objects", file.path)
        query = where(select(call("count", Star()), source=objects), IsNull(Column("json")))
        count: int = connection.execute(write(query)).fetchone()[0]
        return count

    def notes(connection: Any) -> list[tuple[str, int, str, bool]]:
        count = lost(connection)
        found = [("line is not JSON", count, "", False)] if count else []
        last = open_line(file.path)
        if last is None or _is_json(last):
            return found
        return [*found, ("file ends in the middle of a line", 1, last[:200].decode(errors="replace"), True)]

    rows = select(STAR, source=_scan("read_json", file.path, sample_size=-1, maximum_depth=3))
    return [
        PlainTable(
            file.number, name_of(file.path), rows, notes=notes, lines=lambda connection, rows: (rows, lost(connection))
        )
    ]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _scan(function: str, path: Path, **options: int) -> Select:
    from dctv.sandbox import escaped

    arguments: dict[str, Expression] = {
        "format": Text("newline_delimited"),
        "ignore_errors": TRUE,
        "maximum_object_size": number(_LONGEST),
        **{name: number(value) for name, value in options.items()},
    }
    keywords = (Keyword(name, value) for name, value in arguments.items())
    return select(STAR, source=TableCall(call(function, Text(escaped(str(path))), *keywords)))


READER = Described(
    name="json-lines",
    title="tables as JSON lines (.jsonl, .ndjson)",
    suffixes=(".jsonl", ".jsonl.gz", ".ndjson", ".ndjson.gz"),
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
