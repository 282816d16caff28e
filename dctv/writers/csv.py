"""Turns a result into CSV (RFC 4180, with bare newlines): NULL is an empty field, the empty string is `""`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import Rows, Writer
from dctv.patterns import pattern
from dctv.types.values import is_numeric
from dctv.writers.cells import plain

_NEEDS_QUOTES = pattern(r'[",\r\n]')


def write(rows: Rows, out: BinaryIO) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows."""
    columns = rows.schema.columns
    makers = [(plain(c.type), is_numeric(c.type)) for c in columns]
    out.write((",".join(_field(c.head) for c in columns) + "\n").encode())
    count = 0
    for chunk in rows.chunks():
        texts = [
            ["" if v is None else make(v) if number else _field(make(v)) for v in values]
            for (make, number), values in zip(makers, chunk, strict=True)
        ]
        lines = [",".join(row) for row in zip(*texts, strict=True)]
        lines.append("")
        out.write("\n".join(lines).encode("utf-8", "backslashreplace"))
        count += len(lines) - 1
    return count


def _field(text: str) -> str:
    if text and not _NEEDS_QUOTES.search(text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


CSV = Writer("csv", "comma-separated values", (".csv",), write, between=b"\n")
