"""Write a result as one line for each value, for rows that are wider than the terminal."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ValueChunks, Writer
from dctv.visible import visible
from dctv.writers.cells import NULL, shown, width


def write(rows: ValueChunks, out: BinaryIO) -> int:
    """Print `name = value` lines, and an empty line between rows."""
    columns = rows.schema.columns
    makers = [shown(c.type) for c in columns]
    heads = [visible(c.head) for c in columns]
    wide = max(map(width, heads))
    starts = [f"{' ' * (wide - width(head))}{head} = " for head in heads]
    count = 0
    for chunk in rows.chunks():
        texts = [
            [NULL if v is None else visible(make(v)) for v in values]
            for make, values in zip(makers, chunk, strict=True)
        ]
        for row in zip(*texts, strict=True):
            lines = [start + text for start, text in zip(starts, row, strict=True)]
            between = "\n" if count else ""
            out.write(f"{between}{chr(10).join(lines)}\n".encode("utf-8", "backslashreplace"))
            count += 1
    return count


LINE = Writer("line", "a line for each value", (), write, between=b"\n")
