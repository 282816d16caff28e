"""Map columns of a plan to the types in which Spark stores their values, and back to those that DuckDB returns."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from dctv.contracts.remote import Typed
from dctv.engines.sql.vetted.types import named, spark_name

if TYPE_CHECKING:
    import pyarrow as pa


def quoted(name: str) -> str:
    """Write a name."""
    return "`" + name.replace("`", "``") + "`"


def ddl(columns: Sequence[Typed]) -> str:
    """Write the schema of a Spark table.

    Raises:
        NotOnThisEngine: Spark has no type for the values of a column.
    """
    return ", ".join(f"{quoted(name)} {spark_name(named(kind))}" for name, kind in columns)


def brought(columns: Sequence[tuple[str, Typed]]) -> list[str]:
    """Write columns of a file, under their names there, in the types that Spark stores them as."""
    return [f"CAST({quoted(own)} AS {spark_name(named(kind))}) AS {quoted(name)}" for own, (name, kind) in columns]


def spark_schema(schema: pa.Schema) -> pa.Schema:
    """Map column types to those that Spark has: it has no unsigned integers, and no dictionaries."""
    import pyarrow as pa

    wider = {pa.uint8(): pa.int16(), pa.uint16(): pa.int32(), pa.uint32(): pa.int64(), pa.uint64(): pa.decimal128(20)}
    texts = {pa.string_view(): pa.string(), pa.large_string(): pa.string(), pa.binary_view(): pa.binary()}

    def type_of(kind: pa.DataType) -> pa.DataType:
        if pa.types.is_dictionary(kind):
            kind = kind.value_type
        if pa.types.is_list(kind) or pa.types.is_large_list(kind):
            return pa.list_(type_of(kind.value_type))
        if pa.types.is_timestamp(kind):
            return pa.timestamp("us", kind.tz)
        return wider.get(kind, texts.get(kind, kind))

    return pa.schema([pa.field(one.name, type_of(one.type)) for one in schema])
