"""Write a result as a table with lines around its cells."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ValueChunks, Writer
from dctv.writers.aligned import Fit, TableBorders, write_aligned

_FRAME = TableBorders(
    "│ ", " │ ", " │", (("┌─", "─", "─┬─", "─┐"), ("├─", "─", "─┼─", "─┤"), ("└─", "─", "─┴─", "─┘"))
)  # fmt: skip


def write(rows: ValueChunks, out: BinaryIO, fit: Fit | None = None) -> int:
    """Print heads and rows in boxes."""
    return write_aligned(rows, out, _FRAME, fit)


BOX = Writer("box", "a table with lines around its cells", (), write, between=b"\n")
