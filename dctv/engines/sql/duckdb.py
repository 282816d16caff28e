"""Queries of the plan -> DuckDB's SQL."""

from __future__ import annotations

from dctv.engines.sql import trees
from dctv.plan.expressions import Expression
from dctv.plan.node import Query


def write(node: Query) -> str:
    """Write a query."""
    return trees.query(node).sql(dialect="duckdb", copy=False)


def write_expression(node: Expression) -> str:
    """Write an expression."""
    return trees.expression(node).sql(dialect="duckdb", copy=False)
