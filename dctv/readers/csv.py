"""Read CSV files with a header: separated by commas, tabs, semicolons or bars, plain or gzip."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Flag, auto
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dctv.contracts.head import compression_of, head_of
from dctv.contracts.reader import Head
from dctv.errors import TraceError
from dctv.plan.build import STAR, call, case, is_not_null, negated, number, select
from dctv.plan.expressions import FALSE, NULL, TRUE, Cast, Column, Expression, IsNull, Keyword, Struct, Text
from dctv.plan.queries import Item, Select, TableCall
from dctv.readers.described import Described
from dctv.readers.plain_files.options import DIMENSIONS, OPTIONS, passes

if TYPE_CHECKING:
    from dctv.readers.plain_files.tables import PlainFile, PlainTable

_DIVIDERS = ",\t;|"
_SUFFIXES = (".csv", ".csv.gz", ".tsv", ".tsv.gz")
_NO_NAMES = frozenset("{}<>\\\ufffd")
"""Characters of code, and the one that stands for what is not UTF-8."""
_HEAD = 1 << 16
_SNIFFED = 20

Rejected = Callable[[Any], Sequence[tuple[str, int, str]]]
"""From the connection, after reading: why rows were left out, how many, and the first of them."""


def sniff(head: Head) -> bool:
    """Whether its first lines are texts with the same number of fields; by its name, whether it has a header."""
    divider = _divider(head.text)
    return divider is not None or (
        head.path.name.lower().endswith(_SUFFIXES) and _likely_divider(head.text) is not None
    )


def _divider(text: bytes) -> str | None:
    """Return the separator of the first lines, if all of them are texts that have it as often as the header."""
    if not _is_utf8(text):
        return None
    for divider, rows in _divided(text):
        if len(rows[0]) > 1 and all(abs(len(row) - len(rows[0])) <= 1 for row in rows) and _is_header(rows[0]):
            return divider
    return None


def _is_utf8(text: bytes) -> bool:
    """Whether a text is UTF-8, the last character of which may be cut."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(text) - 4
    return True


def _likely_divider(text: bytes) -> str | None:
    """Return the separator of the header that most of the first lines have as often; a comma for one column."""
    divided = list(_divided(text))
    several = [(divider, rows) for divider, rows in divided if len(rows[0]) > 1]
    found = {
        divider: sum(len(row) == len(rows[0]) for row in rows)
        for divider, rows in several or divided
        if _is_header(rows[0])
    }
    return max(found, key=found.__getitem__, default=None)


def _divided(text: bytes) -> Iterator[tuple[str, list[list[str]]]]:
    """Yield the separators with the first rows that they give."""
    if b"\0" in text:
        return
    shown = text.decode("utf-8-sig", "replace")
    for divider in _DIVIDERS:
        rows = _rows(shown, divider)
        if len(text) >= _HEAD:
            rows = rows[:-1] or rows
        if rows:
            yield divider, rows


def _rows(text: str, divider: str) -> list[list[str]]:
    """Return the first rows of a text, without blank lines; a row that is not CSV is the last."""
    import csv
    from io import StringIO

    found = []
    try:
        for row in csv.reader(StringIO(text, newline=""), delimiter=divider):
            if row:
                found.append(row)
            if len(found) == _SNIFFED:
                break
    except csv.Error:
        pass
    return found


def _is_header(row: list[str]) -> bool:
    """Whether a row may be a header: distinct fields, none of them a number or code, or a text that is not UTF-8.

    The first one may be empty, as pandas names a column of row numbers.
    """
    names = [name.strip() for name in row]
    return (
        len(set(names)) == len(names)
        and any(names)
        and all(
            (name or not place) and not _is_number(name) and len(name) < 200 and not set(name) & _NO_NAMES
            for place, name in enumerate(names)
        )
    )


def _is_number(text: str) -> bool:
    """Whether it is a number with digits: `nan` and `inf` are names, too."""
    try:
        float(text)
    except ValueError:
        return False
    return any(map(str.isdigit, text))


def _tables(file: PlainFile) -> list[PlainTable]:
    from dctv.readers.plain_files.members import distinct_names
    from dctv.readers.plain_files.tables import PlainTable, name_of

    head = head_of(file.path)
    divider = _divider(head.text) or _likely_divider(head.text)
    if divider is None:
        raise _without_header(file.path, head)
    header = next(iter(_rows(head.text.decode("utf-8-sig", "replace"), divider)))
    names = distinct_names(name.strip() for name in header)
    rows, given, rejected = _found(file, head, divider, names)
    return [
        PlainTable(
            file.number,
            name_of(file.path),
            rows,
            given,
            notes=partial(_notes, rejected, file.path, divider, len(header)),
            lines=partial(_lines, rejected),
        )
    ]


def _without_header(path: Path, head: Head) -> TraceError:
    header = max((rows[0] for _, rows in _divided(head.text)), key=len, default=[])
    names = [name.strip() for name in header]
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice and not any(map(_is_number, names)):
        return TraceError(f"the header of `{path}` has the name `{twice}` twice")
    return TraceError(f"`{path}` has no header of columns separated by commas, tabs, semicolons or bars")


_Found = tuple[Select, Mapping[str, Any], Rejected]
"""Typed rows, the streams that they need, and what tells which rows were left out."""


def _found(file: PlainFile, head: Head, divider: str, names: Sequence[str]) -> _Found:
    """Return the rows of a file, whatever its lines end in."""
    import duckdb

    from dctv.readers.plain_files.mixed_ends import MixedEnds

    found = _of_one_end(file, head, divider, names)
    if found is not None and not _lost_to_ends(file, head):
        return found
    mixed, name = MixedEnds(head, divider, names), f"csv{file.number}"
    try:
        file.connection.register(name, mixed.stream())
        return _typed(select(STAR, source=name), names, file), {name: mixed.stream}, mixed.rejected
    except (duckdb.Error, OSError, ValueError) as error:
        if found is not None:
            return found
        reason = str(error).partition("\n")[0]
        raise TraceError(f"cannot read `{file.path}`, whose lines end in several ways: {reason}") from None


def _of_one_end(file: PlainFile, head: Head, divider: str, names: Sequence[str]) -> _Found | None:
    """Return the rows as the engine reads them, which refuses most files whose lines end in several ways."""
    import duckdb

    try:
        return _typed(_read(head, divider, names), names, file), {}, partial(_rejected, file.path)
    except duckdb.InvalidInputException as error:
        if "state machine" in str(error):
            return None
        raise


def _lost_to_ends(file: PlainFile, head: Head) -> bool:
    """Whether the engine may have left out rows since another end follows a quote."""
    from dctv.readers.plain_files.mixed_ends import ends_differ

    return _QUOTES in {reason for reason, *_ in _rejected(file.path, file.connection)} and ends_differ(head)


def _read(head: Head, divider: str, names: Sequence[str]) -> Select:
    """Return the rows as texts; the engine rejects rows with other numbers of fields.

    Its detection is off, since that refuses a whole file for a quote that it does not understand.
    """
    from dctv.sandbox import escaped

    arguments: dict[str, Expression] = {
        "delim": Text(divider),
        "quote": Text('"'),
        "escape": Text('"'),
        "header": TRUE,
        "auto_detect": FALSE,
        "compression": Text(compression_of(head)),
        "columns": Struct(tuple(names), (Text("VARCHAR"),) * len(names)),
        "store_rejects": TRUE,
        "rejects_limit": number(0),
    }
    options = (Keyword(name, value) for name, value in arguments.items())
    return select(STAR, source=TableCall(call("read_csv", Text(escaped(str(head.path))), *options)))


def _typed(texts: Select, names: Sequence[str], file: PlainFile) -> Select:
    """Give each column the narrowest type that fits all its values; codes such as `007` stay texts.

    Times and durations stay texts too, so that their digits are parsed exactly.
    """
    from dctv.engines.sql.duckdb import write

    exact = {str(file.options.get(option)) for option in ("timestamp", "duration")}
    forms = [call("bit_or", _form(Column(name))) for name in names]
    [found] = file.connection.execute(write(select(*forms, source=texts))).fetchall()
    items = []
    for name, seen in zip(names, found, strict=True):
        kind = "VARCHAR" if name in exact or not seen else _type_of(_Form(seen))
        items.append(Item(Cast(Column(name), kind), name))
    return select(*items, source=texts)


class _Form(Flag):
    """What texts look like; a column is searched for all of them at once."""

    UNSIGNED = auto()
    SIGNED = auto()
    LARGE = auto()
    """Of 64 bits without a sign."""
    WIDE = auto()
    """Whole numbers that have more than 64 bits; a float would round them, so a column of these alone stays text."""
    REAL = auto()
    BOOLEAN = auto()
    OTHER = auto()


def _type_of(seen: _Form) -> str:
    """Return the narrowest type that has place for all forms."""
    whole = _Form.UNSIGNED | _Form.SIGNED | _Form.LARGE | _Form.WIDE
    if seen in _Form.UNSIGNED | _Form.SIGNED:
        return "BIGINT"
    if seen in _Form.UNSIGNED | _Form.LARGE:
        return "UBIGINT"
    if _Form.REAL in seen and seen in whole | _Form.REAL:
        return "DOUBLE"
    return "BOOLEAN" if seen is _Form.BOOLEAN else "VARCHAR"


_WORDS = r"(?i:true|false)"
_VALUE = rf"^({_WORDS}|[+-]?((0|[1-9]\d*)(\.\d*)?([eE][+-]?\d+)?|\.\d+([eE][+-]?\d+)?|(?i:inf|infinity|nan)))$"
"""Anything but texts, to which codes such as `007` and numbers between blanks belong."""


def _form(column: Column) -> Expression:
    """Return the number of a text's form. Most texts need one or two of the tests, which take most of a pass's time."""

    def is_like(form: str) -> Expression:
        return call("regexp_matches", column, Text(form))

    def fits(kind: str) -> Expression:
        return is_not_null(Cast(column, kind, lenient=True))

    def chosen(*branches: tuple[Expression, _Form]) -> Expression:
        return case(*((test, number(form.value)) for test, form in branches), default=number(_Form.OTHER.value))

    wide = (fits("DOUBLE"), _Form.WIDE)
    return case(
        (IsNull(column), NULL),
        (negated(is_like(_VALUE)), number(_Form.OTHER.value)),
        (is_like(r"^\d+$"), chosen((fits("BIGINT"), _Form.UNSIGNED), (fits("UBIGINT"), _Form.LARGE), wide)),
        (is_like(r"^[+-]\d+$"), chosen((fits("BIGINT"), _Form.SIGNED), wide)),
        (is_like(f"^{_WORDS}$"), number(_Form.BOOLEAN.value)),
        default=chosen((fits("DOUBLE"), _Form.REAL)),
    )


_REJECTED = """
    SELECT reason, count(*), min(line), arg_min(text, line)
    FROM (
        SELECT line, min(csv_line) AS text, CASE
            WHEN bool_or(error_type = 'LINE SIZE OVER MAXIMUM') THEN 'row is longer than 2 MB'
            WHEN bool_or(error_type = 'UNQUOTED VALUE') THEN 'quotes of a row do not match'
            WHEN bool_or(error_type = 'INVALID ENCODING') THEN 'row is not UTF-8'
            ELSE 'row has other columns than the header'
        END AS reason
        FROM reject_errors JOIN reject_scans USING (scan_id, file_id) WHERE file_path = ? GROUP BY line
    )
    GROUP BY reason ORDER BY reason
"""
_QUOTES = "quotes of a row do not match"
_INCOMPLETE = ("row is longer than 2 MB", _QUOTES)
"""Reasons for which more than a row may be lost: after a quote without an end, all to the next row that can be read."""


def _rejected(path: Path, connection: Any) -> list[tuple[str, int, str]]:
    """Return reasons of rejected rows: how many there are, and the first with its line."""
    found = connection.execute(_REJECTED, [str(path)]).fetchall()
    return [(reason, count, f"line {line}: {text}") for reason, count, line, text in found]


def _notes(
    rejected: Rejected, path: Path, divider: str, width: int, connection: Any
) -> list[tuple[str, int, str, bool]]:
    from dctv.readers.plain_files.endings import open_line

    notes = [(reason, count, row, reason in _INCOMPLETE) for reason, count, row in rejected(connection)]
    last = open_line(path)
    if last is None:
        return notes
    shown = last.decode(errors="replace")
    if len(next(iter(_rows(shown, divider)), [])) < width:
        return [*notes, ("file ends in the middle of a line", 1, shown, True)]
    # The last line of such a table may lack its newline, so a cut in its last field cannot be detected.
    return [*notes, ("last line has no end, its last field may be cut", 1, shown, False)]


def _lines(rejected: Rejected, connection: Any, rows: int) -> tuple[int, int]:
    count = sum(count for _, count, _ in rejected(connection))
    return rows + count, count


READER = Described(
    name="csv",
    title="tables as text with a header (.csv, .tsv)",
    suffixes=_SUFFIXES,
    sniff=sniff,
    start=passes(_tables),
    options=OPTIONS,
    dimensions=DIMENSIONS,
    general=True,
).reader()
