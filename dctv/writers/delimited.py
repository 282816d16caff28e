"""Write a result as a line for each row, with a character between its cells."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from dctv.contracts.writer import ResultRows
from dctv.types.values import is_numeric
from dctv.writers.cells import plain


def write_delimited(rows: ResultRows, out: BinaryIO, separator: str, null: str, escaped: Callable[[str], str]) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows; numbers need not be escaped."""
    columns = rows.schema.columns
    makers = [(plain(c.type), is_numeric(c.type)) for c in columns]
    out.write((separator.join(escaped(c.head) for c in columns) + "\n").encode())
    count = 0
    for chunk in rows.chunks():
        texts = [
            [null if v is None else make(v) if number else escaped(make(v)) for v in values]
            for (make, number), values in zip(makers, chunk, strict=True)
        ]
        lines = [separator.join(row) for row in zip(*texts, strict=True)]
        lines.append("")
        out.write("\n".join(lines).encode("utf-8", "backslashreplace"))
        count += len(lines) - 1
    return count
