"""Write a result as JSON lines: one object per row, keyed by column name; values as in `json`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.writers.cells import json_cell, json_text, shortest


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write one line per row; of columns that share a name, later ones are numbered (`x`, `x_2`)."""
    from dctv import _kernels  # compiled; only wanted when a query runs

    columns = rows.schema.columns
    keys = [f"{json_text(name)}:" for name in distinct([c.name for c in columns])]
    count = 0
    for chunk in rows.chunks():
        cells = [shortest(c.type, values) for c, values in zip(columns, chunk, strict=True)]
        out.write(_kernels.json_lines(cells, keys, ("{", "}\n"), json_cell))
        count += len(cells[0])
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
