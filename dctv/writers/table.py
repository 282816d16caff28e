"""Turns a result into the table that the terminal shows."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import chain
from typing import BinaryIO

from dctv.contracts.writer import Chunks, Writer
from dctv.types.schema import ColumnType
from dctv.types.values import is_numeric
from dctv.visible import visible
from dctv.writers.cells import NULL, plain, width

SAMPLE = 10_000
"""Rows that are read before the first is printed; they decide how wide the columns are."""
GAP = "  "


def write(rows: Chunks, out: BinaryIO) -> int:
    """Print head, dashes and rows; a lone column stands at the left edge, among several numbers stand at the right."""
    columns = rows.schema.columns
    heads = [visible(c.head) for c in columns]
    chunks = _texts(rows, columns)
    sample: list[list[list[str]]] = []
    while sum(len(c[0]) for c in sample) < SAMPLE and (chunk := next(chunks, None)) is not None:
        sample.append(chunk)
    widths = [
        max(chain([width(title)], (width(cell) for chunk in sample for cell in chunk[i])))
        for i, title in enumerate(heads)
    ]
    right = [len(columns) > 1 and is_numeric(c.type) for c in columns]
    lines = [_line(heads, widths, right), GAP.join("-" * w for w in widths)]
    count = 0
    for chunk in chain(sample, chunks):
        lines.extend(_line(row, widths, right) for row in zip(*chunk, strict=True))
        count += len(chunk[0])
        _flush(lines, out)
    _flush(lines, out)
    return count


def _texts(rows: Chunks, columns: tuple[ColumnType, ...]) -> Iterator[list[list[str]]]:
    makers = [plain(c.type) for c in columns]
    for chunk in rows.chunks():
        yield [
            [NULL if v is None else visible(make(v)) for v in values]
            for make, values in zip(makers, chunk, strict=True)
        ]


def _line(cells: tuple[str, ...] | list[str], widths: list[int], right: list[bool]) -> str:
    parts = []
    for cell, wide, is_right in zip(cells, widths, right, strict=True):
        blanks = " " * (wide - width(cell))
        parts.append(blanks + cell if is_right else cell + blanks)
    return GAP.join(parts).rstrip(" ")


def _flush(lines: list[str], out: BinaryIO) -> None:
    lines.append("")
    out.write("\n".join(lines).encode("utf-8", "backslashreplace"))
    lines.clear()


TABLE = Writer("table", "a table to read on the terminal", (".txt",), write, between=b"\n")
