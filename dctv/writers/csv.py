"""Write a result as CSV (RFC 4180, with bare newlines): NULL is an empty field, the empty string is `""`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.patterns import pattern
from dctv.writers.delimited import write_delimited

_NEEDS_QUOTES = pattern(r'[",\r\n]')


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows."""
    return write_delimited(rows, out, ",", "", _field)


def _field(text: str) -> str:
    if text and not _NEEDS_QUOTES.search(text):
        return text
    quoted = text.replace('"', '""')
    return f'"{quoted}"'


CSV = Writer("csv", "comma-separated values", (".csv",), write, between=b"\n")
