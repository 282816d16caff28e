"""Lets regions of plans run on Sail instead of DuckDB; what kernels and sources give is handed over as tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import pyarrow as pa
import pyarrow.dataset as ds

from dctv.engines.duckdb import DuckDB
from dctv.engines.sql.spark import write
from dctv.engines.sql.vetted.refusal import refused
from dctv.errors import NotOnThisEngine
from dctv.plan.node import Query
from tests.engines.sail.served import Sail

_TYPES = {
    pa.bool_(): "BOOLEAN",
    pa.int8(): "TINYINT",
    pa.int16(): "SMALLINT",
    pa.int32(): "INTEGER",
    pa.int64(): "BIGINT",
    pa.uint8(): "UTINYINT",
    pa.uint16(): "USMALLINT",
    pa.uint32(): "UINTEGER",
    pa.uint64(): "UBIGINT",
    pa.float32(): "FLOAT",
    pa.float64(): "DOUBLE",
    pa.string(): "VARCHAR",
    pa.large_string(): "VARCHAR",
    pa.string_view(): "VARCHAR",
    pa.binary(): "BLOB",
    pa.date32(): "DATE",
    pa.timestamp("us"): "TIMESTAMP",
    pa.decimal128(38, 0): "DECIMAL(38,0)",
}


class Regions:
    """What became of the regions of a plan."""

    def __init__(self, sail: Sail) -> None:
        self.sail = sail
        self.texts: list[str] = []
        self.refusals: list[NotOnThisEngine] = []


class _Stream:
    """A region that runs on Sail when it is opened; the engine's `Query`."""

    def __init__(self, regions: Regions, query: Query, sources: Mapping[str, Any], like: Callable[[Any], Any]) -> None:
        self._regions = regions
        self._query = query
        self._sources = sources
        self._like = like

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        tables = {name: _table(source) for name, source in self._sources.items()}
        try:
            text = write(self._query, {name: _columns(table) for name, table in tables.items()})
        except NotOnThisEngine as error:
            # Who reads this may be a kernel, which hands on no more than the error's text.
            self._regions.refusals.append(error)
            raise
        self._regions.texts.append(text)
        found = self._regions.sail.run(text, tables)
        like = pa.RecordBatchReader.from_stream(self._like(tables)).schema
        return found.rename_columns(like.names).cast(like).__arrow_c_stream__(requested_schema)

    def interrupt(self) -> None: ...

    def close(self) -> None:
        self._sources = {}

    def profiles(self) -> list[Any]:
        return []


@contextmanager
def on_sail(sail: Sail) -> Iterator[Regions]:
    """Run regions on Sail."""
    regions = Regions(sail)
    original = DuckDB.stream

    def stream(engine: DuckDB, query: Query, sources: Mapping[str, Any], *, serial: bool, **_: bool) -> _Stream:
        return _Stream(regions, query, sources, lambda tables: original(engine, query, tables, serial=serial))

    with patch.object(DuckDB, "stream", stream):
        yield regions


def _table(source: Any) -> pa.Table:
    opened = source() if callable(source) else source
    if isinstance(opened, ds.Dataset):
        table = opened.to_table()
    else:
        table = opened if isinstance(opened, pa.Table) else pa.RecordBatchReader.from_stream(opened).read_all()
    plain = [one.with_type(one.type.value_type) if pa.types.is_dictionary(one.type) else one for one in table.schema]
    return table.cast(pa.schema(plain))


def _columns(table: pa.Table) -> list[tuple[str, str]]:
    return [(field.name, _type(field)) for field in table.schema]


def _type(field: pa.Field) -> str:
    if field.type not in _TYPES:
        raise refused(f"a column of `{field.type}`", "nobody hands it over")
    return _TYPES[field.type]
