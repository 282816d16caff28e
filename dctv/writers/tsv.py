r"""Write a result as tab-separated values: a backslash escapes tabs, newlines and itself, NULL is `\N`."""

from __future__ import annotations

from typing import BinaryIO

from dctv.contracts.writer import ResultRows, Writer
from dctv.writers.delimited import write_delimited


def write(rows: ResultRows, out: BinaryIO) -> int:
    """Write the heads (units in brackets, as on the terminal) and the rows."""
    return write_delimited(rows, out, r"\N", quotes=False)


TSV = Writer(
    "tsv", r"tab-separated values; `\t`, `\n` and `\\` are escapes, `\N` is NULL", (".tsv",), write, between=b"\n"
)
