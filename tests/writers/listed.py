"""A result made of lists, as small as a test needs it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from dctv.types.schema import ColumnType, Kind, Schema

if TYPE_CHECKING:
    import pyarrow as pa


class Listed:
    def __init__(self, columns: dict[str, str], *chunks: list[list[object]], schema: Schema | None = None) -> None:
        self.schema = schema or Schema(Kind.REGULAR, tuple(ColumnType(n, t) for n, t in columns.items()))
        self._chunks = chunks

    def chunks(self) -> Iterator[list[list[object]]]:
        yield from self._chunks

    def reader(self) -> pa.RecordBatchReader:
        import pyarrow as pa

        batches = [pa.record_batch(chunk, names=list(self.schema.names)) for chunk in self._chunks]
        fields = [
            field.with_metadata({"unit": column.unit.symbols[0][0]}) if column.unit.symbols else field
            for field, column in zip(batches[0].schema, self.schema.columns, strict=True)
        ]
        schema = pa.schema(fields)
        return pa.RecordBatchReader.from_batches(schema, [batch.cast(schema) for batch in batches])
