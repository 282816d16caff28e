"""Compare the tables of a binary buffer with those of its text, row by row, on the columns that both have."""

from __future__ import annotations

from typing import Any

from dctv.contracts.reader import LoadedTrace

HEXADECIMAL = {"clone_flags"}
"""Columns that the kernel prints in hexadecimal without 0x: texts in ftrace's text, numbers in the binary."""
APART = {"_ts", "line"}
"""Times are rounded to microseconds in the text, and `line` counts lines there and events here."""
TEXT_ALONE = {"common_tgid", "text"}
"""The kernel knows the processes of threads when it prints, trace-cmd does not save them; `text` is what is left."""


def comparable(column: str, value: Any) -> Any:
    return int(value, 16) if isinstance(value, str) and column in HEXADECIMAL else value


def agree(binary: LoadedTrace, text: LoadedTrace) -> int:
    """Compare all tables; return how many values were equal."""
    starts = [int(trace.properties["start_ns"]) for trace in (binary, text)]
    tables = [{key for key in trace.tables if key.startswith("raw_events.")} for trace in (binary, text)]
    assert tables[0] == tables[1]
    compared = 0
    for key in sorted(tables[0]):
        mine, theirs = binary.tables[key].data, text.tables[key].data
        assert set(theirs.column_names) - set(mine.column_names) <= TEXT_ALONE, key
        micros = [(ts + starts[0] + 500) // 1000 for ts in mine["_ts"].to_pylist()]
        assert micros == [(ts + starts[1]) // 1000 for ts in theirs["_ts"].to_pylist()], key
        for column in sorted((set(mine.column_names) & set(theirs.column_names)) - APART):
            pairs = zip(mine[column].to_pylist(), theirs[column].to_pylist(), strict=True)
            differing = [(a, b) for a, b in pairs if comparable(column, a) != comparable(column, b)]
            assert not differing, (key, column, len(differing), differing[:3])
            compared += len(mine)
    return compared
