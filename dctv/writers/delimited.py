"""Write a result as a line for each row, with a character between its cells."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows
from dctv.writers.cells import plain_text, shortest


def write_delimited(rows: ResultRows, out: BinaryIO, null: str, *, quotes: bool) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows.

    With `quotes`, commas separate cells, some of which have quotes; otherwise tabs do, and texts have backslashes.
    """
    from dctv import _kernels  # compiled; only wanted when a query runs

    columns = rows.schema.columns
    out.write(_kernels.delimited_lines([[c.head] for c in columns], null, quotes, plain_text))
    count = 0
    for chunk in rows.chunks():
        cells = [shortest(c.type, values) for c, values in zip(columns, chunk, strict=True)]
        out.write(_kernels.delimited_lines(cells, null, quotes, plain_text))
        count += len(cells[0])
    return count
