"""Convert results of queries to JSON."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Any

from dctv.record import record
from dctv.run.result import Result
from dctv.types.schema import ColumnType
from dctv.types.values import dialect_type
from dctv.writers.cells import json_values

_EXACT = 2**53


@record
class Answer:
    """The first rows of a query."""

    columns: Sequence[ColumnType]
    rows: list[list[Any]]
    """Values in the form of JSON."""
    complete: bool

    def table(self) -> dict[str, Any]:
        """Return columns and rows in the form that the page expects."""
        return {"columns": described(self.columns), "rows": self.rows, "complete": self.complete}


def first_rows(result: Result, limit: int) -> Answer:
    """Return the first rows of a result, and close it."""
    columns = result.schema.columns
    rows: list[list[Any]] = []
    for chunk in result.chunks():
        rows += _rows(columns, [list(islice(given, limit + 1)) for given in chunk])
        if len(rows) > limit:
            return Answer(columns, rows[:limit], complete=False)
    return Answer(columns, rows, complete=True)


def as_json(columns: Sequence[ColumnType], table: Any) -> list[list[Any]]:
    """Return the rows of a pyarrow Table, with values in the form of JSON."""
    return _rows(columns, [given.to_pylist() for given in table.columns])


def _rows(columns: Sequence[ColumnType], given: Sequence[list[object]]) -> list[list[Any]]:
    values = [json_values(column.type, one) for column, one in zip(columns, given, strict=True)]
    return [[exact(value) for value in row] for row in zip(*values, strict=True)]


def described(columns: Sequence[ColumnType]) -> list[dict[str, str | None]]:
    """Return columns as JSON."""
    return [{"name": c.name, "type": dialect_type(c.type), "unit": str(c.unit) or None} for c in columns]


def exact(value: object) -> object:
    """Return an integer that a JavaScript number cannot represent as its digits, and any other value unchanged."""
    return str(value) if isinstance(value, int) and abs(value) > _EXACT else value
