"""Write a result as lines with aligned columns, cut to the width of the terminal if that is wanted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import BinaryIO

from dctv.contracts.writer import ValueChunks
from dctv.record import field, record
from dctv.types.schema import ColumnType
from dctv.types.values import is_numeric
from dctv.visible import visible
from dctv.writers.cells import NULL, shown, width

SAMPLE = 10_000
"""Rows that are read before the first is printed; they decide how wide the columns are."""
_LEAST = 8
"""Texts are cut to so many cells at least; columns that have no room even so are left out."""
_CUT = "…"


@record
class TableBorders:
    """The text around and between cells."""

    left: str
    gap: str
    right: str
    rules: Sequence[tuple[str, str, str, str]]
    """Left end, line, crossing and right end of the lines above the heads, below them, and below the rows."""

    def line(self, cells: Sequence[str]) -> str:
        """Return a line of cells that are as wide as their columns."""
        return f"{self.left}{self.gap.join(cells)}{self.right}".rstrip(" ")

    def rule(self, number: int, widths: Sequence[int]) -> list[str]:
        """Return one of the lines, if there is one."""
        left, line, crossing, right = self.rules[number]
        return [f"{left}{crossing.join(line * w for w in widths)}{right}"] if line else []

    def around(self, columns: int) -> int:
        """Return how many cells of a line are no column's."""
        return len(self.left) + len(self.right) + len(self.gap) * (columns - 1)


@record(frozen=False)
class Fit:
    """The maximum width of lines; after fitting, also what was omitted."""

    room: int
    left_out: list[str] = field(default_factory=list)
    """Heads of columns that are not there."""

    def widths(self, natural: list[int], rigid: Sequence[bool], frame: TableBorders) -> list[int]:
        """Return the widths of the first columns, as many as have room; numbers and a lone column are never cut."""
        if len(natural) == 1:
            return [min(natural[0], max(1, self.room - frame.around(1)))]
        least = [w if fixed else min(w, _LEAST) for w, fixed in zip(natural, rigid, strict=True)]
        fitting = len(natural)
        while fitting > 1 and sum(least[:fitting]) + frame.around(fitting) > self.room:
            fitting -= 1
        free = self.room - frame.around(fitting)
        cap = min(max(natural), self.room)
        while cap > _LEAST and sum(_capped(natural[:fitting], rigid, cap)) > free:
            cap -= 1
        return _capped(natural[:fitting], rigid, cap)


def _capped(natural: Sequence[int], rigid: Sequence[bool], cap: int) -> list[int]:
    return [w if fixed else min(w, cap) for w, fixed in zip(natural, rigid, strict=False)]


def write_aligned(rows: ValueChunks, out: BinaryIO, frame: TableBorders, fit: Fit | None = None) -> int:
    """Print heads and rows; a lone column stands at the left edge, among several numbers stand at the right."""
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
    numeric = [is_numeric(c.type) for c in columns]
    if fit is not None:
        widths = fit.widths(widths, numeric, frame)
        fit.left_out = heads[len(widths) :]
    cut = [fit is not None and len(columns) > 1 and not number for number in numeric]
    styles = [(w, len(columns) > 1 and number, c) for w, number, c in zip(widths, numeric, cut, strict=False)]
    lines = [*frame.rule(0, widths), frame.line(_cells(heads, styles)), *frame.rule(1, widths)]
    count = 0
    for chunk in chain(sample, chunks):
        lines.extend(frame.line(_cells(row, styles)) for row in zip(*chunk[: len(widths)], strict=True))
        count += len(chunk[0])
        _flush(lines, out)
    lines.extend(frame.rule(2, widths))
    _flush(lines, out)
    return count


def _texts(rows: ValueChunks, columns: tuple[ColumnType, ...]) -> Iterator[list[list[str]]]:
    makers = [shown(c.type) for c in columns]
    for chunk in rows.chunks():
        yield [
            [NULL if v is None else visible(make(v)) for v in values]
            for make, values in zip(makers, chunk, strict=True)
        ]


def _cells(row: Sequence[str], styles: Sequence[tuple[int, bool, bool]]) -> list[str]:
    parts = []
    for cell, (wide, right, cut) in zip(row, styles, strict=False):
        text = cell
        if cut and width(cell) > wide:
            text = _shortened(cell, wide)
        if text.isascii():
            parts.append(text.rjust(wide) if right else text.ljust(wide))
        else:
            blanks = " " * (wide - width(text))
            parts.append(blanks + text if right else text + blanks)
    return parts


def _shortened(text: str, wide: int) -> str:
    """Return the beginning of a text that, with the sign that there is more, has the width."""
    end = min(len(text), wide - 1)
    while width(text[:end]) > wide - 1:
        end -= 1
    return text[:end] + _CUT


def _flush(lines: list[str], out: BinaryIO) -> None:
    if lines:
        lines.append("")
        out.write("\n".join(lines).encode("utf-8", "backslashreplace"))
        lines.clear()
