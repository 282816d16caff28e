"""Format the first rows of a result as a table for the terminal, or as one for a notebook."""

from __future__ import annotations

from html import escape
from io import BytesIO

from dctv.contracts.first_rows import FirstRows
from dctv.errors import counted
from dctv.record import replace
from dctv.types.schema import ColumnType
from dctv.types.values import is_numeric
from dctv.visible import visible
from dctv.writers.cells import NULL, plain
from dctv.writers.table import write

_LONGEST = 100
"""Characters of a cell; what is longer is cut."""
_CUT = "…"
_RIGHT = ' style="text-align: right"'
_LEFT = ' style="text-align: left"'


def as_text(first: FirstRows) -> str:
    """Return a table as `dctv query` prints it, what it leaves out, and warnings; without a newline at the end."""
    out = BytesIO()
    write(replace(first, values=_short(first)), out)
    notes = [f"({note})" for note in _notes(first)]
    warnings = [f"warning: {visible(counted(*one))}" for one in first.warnings]
    return "\n".join([out.getvalue().decode().rstrip("\n"), *notes, *warnings])


def as_html(first: FirstRows) -> str:
    """Return a table of HTML with the kind of the rows, what is left out, and warnings; all of it is escaped."""
    columns = first.schema.columns
    sides = [_RIGHT if is_numeric(column.type) else _LEFT for column in columns]
    heads = [_cell("th", side, column.head) for side, column in zip(sides, columns, strict=True)]
    texts = [[_text(column, value) for value in values] for column, values in zip(columns, _short(first), strict=True)]
    rows = [
        "".join(_cell("td", side, text) for side, text in zip(sides, row, strict=True))
        for row in zip(*texts, strict=True)
    ]
    return "".join(
        [
            '<div style="overflow-x: auto"><table>',
            f"<thead><tr>{''.join(heads)}</tr></thead>",
            f"<tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table>",
            f"<p>{_escaped('; '.join([first.schema.describe(), *_notes(first)]))}</p>",
            *(f"<p>warning: {_escaped(counted(*one))}</p>" for one in first.warnings),
            "</div>",
        ]
    )


def _short(first: FirstRows) -> list[list[object]]:
    """Return the values, long ones as texts that are cut."""
    return [
        list(values) if is_numeric(column.type) else [_cut(column, value) for value in values]
        for column, values in zip(first.schema.columns, first.values, strict=True)
    ]


def _cut(column: ColumnType, value: object) -> object:
    if value is None:
        return None
    text = plain(column.type)(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + _CUT


def _text(column: ColumnType, value: object) -> str:
    return NULL if value is None else plain(column.type)(value)


def _notes(first: FirstRows) -> list[str]:
    if first.complete and first.shown == first.read:
        return [f"{first.read:,} row" if first.read == 1 else f"{first.read:,} rows"]
    more = "" if first.complete else " or more"
    return [f"the first {first.shown:,} of {first.read:,}{more} rows"]


def _cell(kind: str, side: str, text: str) -> str:
    return f"<{kind}{side}>{_escaped(text)}</{kind}>"


def _escaped(text: str) -> str:
    return escape(visible(text))
