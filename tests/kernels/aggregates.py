"""Aggregates over pieces in plain Python, as the kernels compute them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from tests.kernels.tables import Table

Piece = tuple[int, int, Any]
"""Time, duration and value."""


def numbers(table: Table, kind: pa.DataType) -> Table:
    """Give rows numbers for their texts."""
    values = [None if row[-1] is None else 10 * row[0] - 7 * row[1] for row in table.rows]
    fields = (*table.fields[:-1], ("value", kind))
    return Table(fields, tuple((*row[:-1], v) for row, v in zip(table.rows, values, strict=True)), table.cuts)


def aggregate(function: str, pieces: Sequence[Piece]) -> Any:
    """Aggregate the values of pieces that are in order of time."""
    known = [(duration, value) for _ts, duration, value in pieces if value is not None]
    values = [value for _duration, value in known]
    if function in ("count", "first", "last"):
        return len(values) if function == "count" else _picked(pieces, 0 if function == "first" else -1)
    if not values:
        return None
    computed: dict[str, Callable[[], Any]] = {
        "avg": lambda: sum(values) / len(values),
        "time_sum": lambda: sum(duration * value for duration, value in known),
        "time_known": lambda: sum(duration for duration, _value in known),
        "min": lambda: min(values),
        "max": lambda: max(values),
    }
    return computed.get(function, lambda: sum(values))()


def _picked(pieces: Sequence[Piece], at: int) -> Any:
    return pieces[at][2] if pieces else None
