"""Read SQLite databases: each table becomes a table of the trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.plan.build import STAR, call, case, distinct, equal, select
from dctv.plan.expressions import Cast, Column, Expression, Text
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable

_ROWS = 50_000


def sniff(head: Head) -> bool:
    """Whether it begins like a database."""
    return head.raw.startswith(b"SQLite format 3\0")


def _tables(file: PlainFile) -> list[PlainTable]:
    from dctv.readers.plain_files.tables import PlainTable

    try:
        with closing(_opened(file.path)) as database:
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name")
            shapes = {name: _columns(database, name) for (name,) in names if not name.startswith("sqlite_")}
    except sqlite3.Error as error:
        raise TraceError(f"cannot read `{file.path}`: {error}") from None
    found = []
    for number, (name, columns) in enumerate(shapes.items()):
        stream = f"sqlite{file.number}_{number}"
        given = {stream: partial(_stream, file.path, name, columns)}
        found.append(PlainTable(file.number, name, select(STAR, source=stream), given))
    return found


def _opened(path: Path) -> sqlite3.Connection:
    """Open a database read-only, without even a journal beside it."""
    database = sqlite3.connect(
        f"file:{quote(str(path.absolute()))}?mode=ro&immutable=1", uri=True, check_same_thread=False
    )
    database.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return database


def _columns(database: sqlite3.Connection, table: str) -> dict[str, str]:
    """Return the type of each column, from the types of its values."""
    from dctv.engines.sql.duckdb import write

    visible = database.execute("SELECT name FROM pragma_table_xinfo(?) WHERE hidden != 1", (table,))
    names = [name for (name,) in visible]
    kinds = {}
    for name in names:
        types = distinct(select(call("typeof", Column(name)), source=table))
        kinds[name] = _kind({kind for (kind,) in database.execute(write(types))} - {"null"})
    return kinds


def _kind(found: set[str]) -> str:
    if found == {"integer"}:
        return "int"
    if found and found <= {"integer", "real"}:
        return "float"
    return "blob" if found == {"blob"} else "text"


def _stream(path: Path, table: str, columns: dict[str, str]) -> Any:
    """Return a reader of the rows in order."""
    import pyarrow as pa

    types = {"int": pa.int64(), "float": pa.float64(), "blob": pa.binary()}
    schema = pa.schema([(name, types.get(kind, pa.string())) for name, kind in columns.items()])
    return pa.RecordBatchReader.from_batches(schema, _batches(path, table, schema))


def _batches(path: Path, table: str, schema: Any) -> Iterator[Any]:
    import pyarrow as pa

    from dctv.engines.sql.duckdb import write

    with closing(_opened(path)) as database:
        query = select(*(_shown(Column(name), schema.field(name).type) for name in schema.names), source=table)
        rows = database.execute(write(query))
        while some := rows.fetchmany(_ROWS):
            arrays = [
                pa.array(column, field.type) for column, field in zip(zip(*some, strict=True), schema, strict=True)
            ]
            yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def _shown(column: Column, kind: Any) -> Expression:
    if str(kind) == "double":
        # Whole numbers beside fractions may have more digits than a float, to which Arrow does not round them.
        return Cast(column, "REAL")
    if str(kind) != "string":
        return column
    is_blob = equal(call("typeof", column), Text("blob"))
    return case((is_blob, call("hex", column)), default=Cast(column, "TEXT"))


READER = Described(
    name="sqlite",
    title="tables in SQLite databases (.db, .sqlite)",
    suffixes=(".db", ".sqlite", ".sqlite3"),
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
