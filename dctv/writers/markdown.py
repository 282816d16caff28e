"""Write a result as a Markdown table."""

from __future__ import annotations

from collections.abc import Callable
from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.patterns import pattern
from dctv.types.values import is_numeric
from dctv.visible import visible
from dctv.writers.cells import NULL, shown

_ACTIVE = pattern(r"[\\|<`*\[\]~]|&(?=[#\w])|(?<![^\W_])_|_(?![^\W_])")


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the table; numbers are aligned to the right."""
    columns = rows.schema.columns
    makers = [shown(c.type) if is_numeric(c.type) else _escaped(shown(c.type)) for c in columns]
    rules = ["---:" if is_numeric(c.type) else ":---" for c in columns]
    out.write((_line([_cell(c.head) for c in columns]) + _line(rules)).encode("utf-8", "backslashreplace"))
    count = 0
    for chunk in rows.chunks():
        texts = [[NULL if v is None else make(v) for v in values] for make, values in zip(makers, chunk, strict=True)]
        lines = [_line(row) for row in zip(*texts, strict=True)]
        out.write("".join(lines).encode("utf-8", "backslashreplace"))
        count += len(lines)
    return count


def _line(cells: tuple[str, ...] | list[str]) -> str:
    return "| " + " | ".join(cells) + " |\n"


def _escaped(make: Callable[[object], str]) -> Callable[[object], str]:
    return lambda value: _cell(make(value))


def _cell(text: str) -> str:
    return _ACTIVE.sub(r"\\\g<0>", visible(text))


MARKDOWN = Writer("markdown", "a Markdown table", (".md",), write, between=b"\n")
