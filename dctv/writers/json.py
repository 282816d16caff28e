"""Write a result as one JSON object: columns with types and units, then the rows as arrays.

NaN and the infinities are the strings `NaN`, `Infinity` and `-Infinity`; bytes are base64; integers are exact.
"""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.types.values import dialect_type
from dctv.writers.cells import json_text, json_values


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the object, each row on a line of its own."""
    columns = rows.schema.columns
    described = [{"name": c.name, "type": dialect_type(c.type), "unit": str(c.unit) or None} for c in columns]
    out.write(f'{{"columns":{json_text(described)},"rows":['.encode())
    count = 0
    for chunk in rows.chunks():
        values = [json_values(c.type, v) for c, v in zip(columns, chunk, strict=True)]
        lines = [json_text(row) for row in zip(*values, strict=True)]
        if not lines:
            continue
        out.write(((",\n" if count else "\n") + ",\n".join(lines)).encode("utf-8", "backslashreplace"))
        count += len(lines)
    out.write(b"\n]}\n" if count else b"]}\n")
    return count


JSON = Writer("json", "one JSON object per result", (".json",), write)
