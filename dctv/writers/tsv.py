r"""Turns a result into tab-separated values: a backslash escapes tabs, newlines and itself, NULL is `\N`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import Rows, Writer
from dctv.types.values import is_numeric
from dctv.writers.cells import plain

_ESCAPES = str.maketrans({"\\": r"\\", "\t": r"\t", "\n": r"\n", "\r": r"\r"})
_NULL = r"\N"


def write(rows: Rows, out: BinaryIO) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows."""
    columns = rows.schema.columns
    makers = [(plain(c.type), is_numeric(c.type)) for c in columns]
    out.write(("\t".join(c.head.translate(_ESCAPES) for c in columns) + "\n").encode())
    count = 0
    for chunk in rows.chunks():
        texts = [
            [_NULL if v is None else make(v) if number else make(v).translate(_ESCAPES) for v in values]
            for (make, number), values in zip(makers, chunk, strict=True)
        ]
        lines = ["\t".join(row) for row in zip(*texts, strict=True)]
        lines.append("")
        out.write("\n".join(lines).encode("utf-8", "backslashreplace"))
        count += len(lines) - 1
    return count


TSV = Writer(
    "tsv", r"tab-separated values; `\t`, `\n` and `\\` are escapes, `\N` is NULL", (".tsv",), write, between=b"\n"
)
