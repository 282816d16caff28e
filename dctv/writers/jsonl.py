"""Write a result as JSON lines: one object per row, keyed by column name; values as in `json`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.writers.cells import json_text, json_values


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write one line per row; of columns that share a name, later ones are numbered (`x`, `x_2`)."""
    columns = rows.schema.columns
    keys = distinct([c.name for c in columns])
    count = 0
    for chunk in rows.chunks():
        values = [json_values(c.type, v) for c, v in zip(columns, chunk, strict=True)]
        lines = [json_text(dict(zip(keys, row, strict=True))) + "\n" for row in zip(*values, strict=True)]
        out.write("".join(lines).encode("utf-8", "backslashreplace"))
        count += len(lines)
    return count


def distinct(names: list[str]) -> list[str]:
    """Number the repetitions of a name, so that an object can hold all columns."""
    taken = set(names)
    seen: set[str] = set()
    result = []
    for name in names:
        key, number = name, 1
        while key in seen or (number > 1 and key in taken):
            number += 1
            key = f"{name}_{number}"
        seen.add(key)
        result.append(key)
    return result


JSONL = Writer("jsonl", "one JSON object per row", (".jsonl", ".ndjson"), write)
