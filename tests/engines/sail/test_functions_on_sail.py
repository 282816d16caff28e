"""Each vetted function gives on Sail what DuckDB gives, for values at the edges of their types."""

from __future__ import annotations

import pyarrow as pa
import pytest

from dctv.engines.duckdb import DuckDB
from dctv.engines.spark.connection import Connection
from dctv.engines.sql.vetted.functions import NEAR
from tests.engines.edges import computed, differences
from tests.engines.function_samples import AGGREGATE_SAMPLES, LIST_SAMPLES, SCALAR_SAMPLES, WINDOW_SAMPLES
from tests.engines.query_samples import aggregating
from tests.engines.sail.compared import differing, on_sail

ROW_BY_ROW = {
    **SCALAR_SAMPLES,
    **{f"{name} over a window": made for name, made in WINDOW_SAMPLES.items()},
    **LIST_SAMPLES,
}


@pytest.mark.parametrize("name", sorted(ROW_BY_ROW))
def test_functions_of_rows(name: str, spark: Connection, engine: DuckDB, table: pa.Table) -> None:
    if name in ("lower", "upper"):
        # Others stop the query: see `test_known_differences`.
        table = table.filter(pa.array([(text or "").isascii() for text in table["s"].to_pylist()]))
    for sample in ROW_BY_ROW[name]:
        assert differing(spark, engine, sample, table, near=name.split(maxsplit=1)[0] in NEAR) == [], sample


@pytest.mark.parametrize("name", sorted(AGGREGATE_SAMPLES))
def test_aggregates(name: str, spark: Connection, engine: DuckDB, table: pa.Table) -> None:
    for sample in AGGREGATE_SAMPLES[name]:
        for query in aggregating(sample):
            expected, found = computed(engine, query, table), on_sail(spark, query, table)
            assert differences(*(sorted(one, key=repr) for one in (expected, found)), near=name in NEAR) == [], sample
