"""Read JSON lines (NDJSON): one object per line, plain or gzip, as one table with a column per member."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.head import compression_of, head_of
from dctv.contracts.reader import Head
from dctv.plan.build import call, number, select, unequal
from dctv.plan.expressions import TRUE, Column, Expression, IsNull, Keyword, Text
from dctv.plan.queries import Item, Select, TableCall
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes
from dctv.record import replace

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
    from dctv.readers.plain_files.endings import open_line
    from dctv.readers.plain_files.members import MOST, rows_of
    from dctv.readers.plain_files.tables import PlainTable, name_of

    lines = _scan(file.path)
    options = ("timestamp", "duration", "name", "category")
    as_text = {"_ts", "_duration", *(str(file.options[option]) for option in options if option in file.options)}
    rows = rows_of(lines, file.connection, as_text)

    @cache
    def lost(connection: Any) -> tuple[int, int]:
        from dctv.engines.sql.duckdb import write

        json = Column("json")
        tests = IsNull(json), unequal(call("json_type", json), Text("OBJECT"))
        counts = (Item(call("coalesce", call("count_if", test), number(0))) for test in tests)
        found: tuple[int, int] = connection.execute(write(replace(lines, items=tuple(counts)))).fetchone()
        return found

    def notes(connection: Any) -> list[tuple[str, int, str, bool]]:
        broken, other = lost(connection)
        found = [("line is not JSON", broken, "", False)] if broken else []
        found += [("line is not an object", other, "", False)] if other else []
        if rows.repeated:
            found.append(("member of an object is given twice, the first one is taken", rows.repeated, "", False))
        if rows.wide:
            found.append((f"objects have more than {MOST} different members, read as one column", 1, "", False))
        last = open_line(file.path)
        if last is None or _is_json(last):
            return found
        return [*found, ("file ends in the middle of a line", 1, last[:200].decode(errors="replace"), True)]

    def counted(connection: Any, read: int) -> tuple[int, int]:
        unread = sum(lost(connection))
        return read + unread, unread

    return [PlainTable(file.number, name_of(file.path), rows.query, notes=notes, lines=counted)]


def _is_json(line: bytes) -> bool:
    try:
        json.loads(line)
    except (ValueError, RecursionError):
        return False
    return True


def _scan(path: Path) -> Select:
    """Return the lines as `json`, NULL where a line is not JSON."""
    from dctv.sandbox import escaped

    arguments: dict[str, Expression] = {
        "format": Text("newline_delimited"),
        "ignore_errors": TRUE,
        "compression": Text(compression_of(head_of(path))),
        "maximum_object_size": number(_LONGEST),
    }
    keywords = (Keyword(name, value) for name, value in arguments.items())
    return select("json", source=TableCall(call("read_json_objects", Text(escaped(str(path))), *keywords)))


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
