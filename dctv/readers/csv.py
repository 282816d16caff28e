"""Read CSV files with a header: separated by commas, tabs, semicolons or bars, plain or gzip."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.head import head_of
from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.plan.build import STAR, call, is_not_null, number, select
from dctv.plan.expressions import TRUE, And, Cast, Column, Expression, Keyword, Star, Text
from dctv.plan.queries import Item, Select, TableCall
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes
from dctv.record import replace

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable

_DIVIDERS = ",\t;|"
_HEAD = 1 << 16


def sniff(head: Head) -> bool:
    """Whether its first lines are texts with the same number of fields."""
    return _divider(head.text) is not None


def _divider(text: bytes) -> str | None:
    """Return the separator of the first lines."""
    if b"\0" in text:
        return None
    try:
        shown = text.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        if error.start < len(text) - 4:
            return None
        shown = text[: error.start].decode("utf-8-sig")
    lines = shown.splitlines()
    if len(text) >= _HEAD:
        lines = lines[:-1]
    import csv

    for divider in _DIVIDERS:
        rows = [row for row in csv.reader(lines[:20], delimiter=divider) if row]
        if rows and len(rows[0]) > 1 and all(abs(len(row) - len(rows[0])) <= 1 for row in rows) and _is_header(rows[0]):
            return divider
    return None


def _is_header(row: list[str]) -> bool:
    """Whether a row may be a header: distinct fields, none of them a number or code."""
    names = [name.strip() for name in row]
    return len(set(names)) == len(names) and all(
        name and not _is_number(name) and len(name) < 200 and not set(name) & set("{}<>\\") for name in names
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _tables(file: PlainFile) -> list[PlainTable]:
    from dctv.readers.plain_files.tables import PlainTable, name_of

    divider = _divider(head_of(file.path).text)
    if divider is None:
        raise TraceError(f"`{file.path}` has no header of columns separated by commas, tabs, semicolons or bars")
    texts = _read(file.path, divider)
    return [
        PlainTable(
            file.number,
            name_of(file.path),
            _typed(texts, file),
            notes=partial(_notes, file.path, divider),
            lines=partial(_lines, file.path),
        )
    ]


def _read(path: Path, divider: str) -> Select:
    """Return the rows as texts; the engine rejects rows with other numbers of fields."""
    from dctv.sandbox import escaped

    arguments: dict[str, Expression] = {
        "delim": Text(divider),
        "quote": Text('"'),
        "escape": Text('"'),
        "header": TRUE,
        "all_varchar": TRUE,
        "auto_detect": TRUE,
        "skip": number(0),
        "store_rejects": TRUE,
        "rejects_limit": number(0),
    }
    options = (Keyword(name, value) for name, value in arguments.items())
    return select(STAR, source=TableCall(call("read_csv", Text(escaped(str(path))), *options)))


def _typed(texts: Select, file: PlainFile) -> Select:
    """Give each column the narrowest type that fits all its values; codes such as `007` stay texts.

    Times and durations stay texts too, so that their digits are parsed exactly.
    """
    from dctv.engines.sql.duckdb import write

    connection = file.connection
    exact = {str(file.options.get(option)) for option in ("timestamp", "duration")}
    names = [name for name, *_ in connection.execute(write(replace(texts, limit=number(0)))).description]
    counts = [call("count", Star())]
    for column in map(Column, names):
        counts += [call("count", column), call("count_if", _like(column, r"^[+-]?0[0-9]|^\s|\s$"))]
        for kind, form in _KINDS.items():
            castable = is_not_null(Cast(column, kind, lenient=True))
            counts.append(call("count_if", And((castable, _like(column, form)))))
    found = connection.execute(write(select(*counts, source=texts))).fetchone()
    items = []
    for place, name in enumerate(names):
        values, codes, *castable = found[1 + place * (2 + len(_KINDS)) :][: 2 + len(_KINDS)]
        fits = (kind for kind, n in zip(_KINDS, castable, strict=True) if n == values and values and not codes)
        kind = "VARCHAR" if name in exact else next(fits, "VARCHAR")
        items.append(Item(Cast(Column(name), kind), name))
    return select(*items, source=texts)


_KINDS = {
    "BIGINT": r"^[+-]?\d+$",
    "UBIGINT": r"^\d+$",
    "DOUBLE": r"[\d]|^[+-]?(inf|nan)",
    "BOOLEAN": "^(?i)(true|false)$",
}


def _like(column: Column, form: str) -> Expression:
    return call("regexp_matches", column, Text(form))


_REJECTED = """
    SELECT count(DISTINCT line), min(line), arg_min(csv_line, line)
    FROM reject_errors JOIN reject_scans USING (scan_id, file_id) WHERE file_path = ?
"""


def _rejected(path: Path, connection: Any) -> tuple[int, int, str]:
    """Return how many rows were rejected, the line of the first, and its text."""
    found: tuple[int, int, str] | None = connection.execute(_REJECTED, [str(path)]).fetchone()
    return found or (0, 0, "")


def _notes(path: Path, divider: str, connection: Any) -> list[tuple[str, int, str, bool]]:
    from dctv.readers.plain_files.endings import open_line

    count, line, text = _rejected(path, connection)
    notes = [("row has other columns than the header", count, f"line {line}: {text}", False)] if count else []
    last = open_line(path)
    if last is None:
        return notes
    shown = last.decode(errors="replace")
    if len(_fields(shown, divider)) < len(_fields(_first_line(path), divider)):
        return [*notes, ("file ends in the middle of a line", 1, shown, True)]
    # The last line of such a table may lack its newline, so a cut in its last field cannot be detected.
    return [*notes, ("last line has no end, its last field may be cut", 1, shown, False)]


def _lines(path: Path, connection: Any, rows: int) -> tuple[int, int]:
    count = _rejected(path, connection)[0]
    return rows + count, count


def _first_line(path: Path) -> str:
    return next(iter(head_of(path).text.decode("utf-8-sig", "replace").splitlines()), "")


def _fields(line: str, divider: str) -> list[str]:
    import csv

    return next(csv.reader([line], delimiter=divider), [])


READER = Described(
    name="csv",
    title="tables as text with a header (.csv, .tsv)",
    suffixes=(".csv", ".csv.gz", ".tsv", ".tsv.gz"),
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
