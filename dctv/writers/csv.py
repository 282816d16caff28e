"""Write a result as CSV (RFC 4180, with bare newlines): NULL is an empty field, the empty string is `""`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.writers.delimited import write_delimited


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows."""
    return write_delimited(rows, out, "", quotes=True)


CSV = Writer("csv", "comma-separated values", (".csv",), write, between=b"\n")
