"""Queries of the plan -> DuckDB's SQL."""

from __future__ import annotations

from functools import lru_cache

from dctv.engines.sql import trees
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Select
from dctv.record import replace


def write(query: Query) -> str:
    """Write a query; its steps are remembered, since many queries read the same views."""
    if isinstance(query, Select | Compound) and query.steps:
        steps = tuple(replace(step, query=trees.WrittenQuery(_step(step.query))) for step in query.steps)
        query = replace(query, steps=steps)
    return trees.query(query).sql(dialect="duckdb", copy=False)


@lru_cache(maxsize=1000)
def _step(query: Query) -> str:
    return write(query)
