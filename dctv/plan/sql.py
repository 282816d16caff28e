"""Small pieces of the engine's SQL: quoted names, tables, columns, literals, queries without rows."""

from __future__ import annotations

from sqlglot import exp

from dctv.plan.nodes import physical_names
from dctv.types.schema import Schema


def identifier(name: str) -> exp.Identifier:
    """Quote a name for the engine."""
    return exp.to_identifier(name, quoted=True)


def table(name: str, alias: str | None = None) -> exp.Table:
    """Name a table of the engine's query."""
    return exp.Table(this=identifier(name), alias=None if alias is None else exp.TableAlias(this=identifier(alias)))


def column(name: str, owner: str | None = None) -> exp.Column:
    """Name a column, maybe with its table."""
    return exp.column(name, owner, quoted=True)


def aliased(sql: exp.Expr, name: str) -> exp.Alias:
    """Name a result column."""
    return exp.Alias(this=sql, alias=identifier(name))


def subquery(query: exp.Query, alias: str) -> exp.Subquery:
    """Let a query stand in FROM."""
    return exp.Subquery(this=query, alias=exp.TableAlias(this=identifier(alias)))


def typed_nothing(schema: Schema) -> exp.Select:
    """Return a query without rows that has the columns of a schema."""
    columns = [
        aliased(exp.Cast(this=exp.Null(), to=exp.Var(this=one.type)), name)
        for one, name in zip(schema.columns, physical_names(schema), strict=True)
    ]
    return exp.Select(expressions=columns or [exp.Literal.number("1")]).where(exp.Boolean(this=False))
