"""Turns a result into a table with lines around its cells."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import Chunks, Writer
from dctv.writers.aligned import Fit, Frame, write_aligned

_FRAME = Frame(
    "│ ", " │ ", " │", (("┌─", "─", "─┬─", "─┐"), ("├─", "─", "─┼─", "─┤"), ("└─", "─", "─┴─", "─┘"))
)  # fmt: skip


def write(rows: Chunks, out: BinaryIO, fit: Fit | None = None) -> int:
    """Print heads and rows in boxes."""
    return write_aligned(rows, out, _FRAME, fit)


BOX = Writer("box", "a table with lines around its cells", (), write, between=b"\n")
