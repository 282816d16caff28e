"""Queries of the plan -> DuckDB's SQL."""

from __future__ import annotations

from functools import lru_cache

from dctv.engines.sql import trees
from dctv.plan.node import Query
from dctv.plan.queries import Compound, Select
from dctv.record import replace


def write(query: Query) -> str:
    """Write a query; parts are cached, since many queries read the same views, and all traces of a fleet do."""
    if isinstance(query, Select | Compound) and query.steps:
        steps = tuple(replace(step, query=trees.WrittenQuery(_text(step.query))) for step in query.steps)
        before = trees.steps(steps, recursive=query.recursive).sql(dialect="duckdb", copy=False)
        return f"{before} {_text(replace(query, steps=(), recursive=False))}"
    return _text(query)


@lru_cache(maxsize=1000)
def _text(query: Query) -> str:
    if isinstance(query, Select | Compound) and query.steps:
        return write(query)
    return trees.query(query).sql(dialect="duckdb", copy=False)
