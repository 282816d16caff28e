"""Convert integers of 128 bits in a result, which arrive as texts, to Python's integers or Arrow's decimals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.errors import EngineError
from dctv.signatures.carried import WIDE
from dctv.types.schema import Schema

if TYPE_CHECKING:
    import pyarrow as pa

_DIGITS = 38
"""The digits of the widest decimals of Arrow's usual type."""


def wide_columns(schema: Schema) -> list[int]:
    """Return the indices of the columns with integers of 128 bits."""
    return [index for index, column in enumerate(schema.columns) if column.type in WIDE]


def as_integers(chunks: Iterator[list[list[object]]], schema: Schema) -> Iterator[list[list[object]]]:
    """Yield chunks of columns with integers where they have texts of them."""
    wide = wide_columns(schema)
    if not wide:
        return chunks
    return (_integers(chunk, wide) for chunk in chunks)


def _integers(chunk: list[list[object]], wide: list[int]) -> list[list[object]]:
    for index in wide:
        chunk[index] = [int(value) if isinstance(value, str) else None for value in chunk[index]]
    return chunk


def with_decimals(came: pa.Schema, schema: Schema) -> pa.Schema:
    """Return the Arrow schema of the result of `as_decimals`."""
    import pyarrow as pa

    for index in wide_columns(schema):
        came = came.set(index, came.field(index).with_type(pa.decimal128(_DIGITS, 0)))
    return came


def as_decimals(batch: pa.RecordBatch, whole: pa.Schema, schema: Schema) -> pa.RecordBatch:
    """Return a batch with decimals of 38 digits where it has texts of integers of 128 bits.

    Raises:
        EngineError: one of them has more digits.
    """
    wide = wide_columns(schema)
    if not wide:
        return batch
    import pyarrow as pa
    import pyarrow.compute as pc  # takes longer to load than a short query

    columns = batch.columns
    for index in wide:
        # Arrow's own cast wraps integers of 39 digits above 2^127 instead of refusing them.
        digits = pc.max(pc.utf8_length(pc.utf8_ltrim(columns[index], "-"))).as_py() or 0
        if digits > _DIGITS:
            name = schema.columns[index].name
            raise EngineError(
                f"the column `{name}` has an integer of more than {_DIGITS} digits, which Arrow cannot hold",
                hint="cast it: x::STRING or x::FLOAT64",
            )
        columns[index] = columns[index].cast(pa.decimal128(_DIGITS, 0))
    return pa.RecordBatch.from_arrays(columns, schema=whole)
