"""Write a result as the table that the terminal shows."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ValueChunks, Writer
from dctv.writers.aligned import Fit, TableBorders, write_aligned

_NO_RULE = ("", "", "", "")
_FRAME = TableBorders("", "  ", "", (_NO_RULE, ("", "-", "  ", ""), _NO_RULE))


def write(rows: ValueChunks, out: BinaryIO, fit: Fit | None = None) -> int:
    """Print heads, dashes and rows."""
    return write_aligned(rows, out, _FRAME, fit)


TABLE = Writer("table", "a table to read on the terminal", (".txt",), write, between=b"\n")
