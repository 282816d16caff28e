"""Write a result as one JSON object: columns with types and units, then the rows as arrays.

NaN and the infinities are the strings `NaN`, `Infinity` and `-Infinity`; bytes are base64; integers are exact.
"""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.types.values import dialect_type
from dctv.writers.cells import json_cell, json_text, shortest


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the object, each row on a line of its own."""
    from dctv import _kernels  # compiled; only wanted when a query runs

    columns = rows.schema.columns
    described = [{"name": c.name, "type": dialect_type(c.type), "unit": str(c.unit) or None} for c in columns]
    out.write(f'{{"columns":{json_text(described)},"rows":['.encode())
    count = 0
    for chunk in rows.chunks():
        cells = [shortest(c.type, values) for c, values in zip(columns, chunk, strict=True)]
        text = _kernels.json_lines(cells, [""] * len(cells), (",\n[", "]"), json_cell)
        out.write(text if count else text[1:])
        count += len(cells[0])
    out.write(b"\n]}\n" if count else b"]}\n")
    return count


JSON = Writer("json", "one JSON object per result", (".json",), write)
