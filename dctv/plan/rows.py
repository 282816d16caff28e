"""Plans of rows that are known already: properties, diagnostics, answers of DESCRIBE."""

from __future__ import annotations

from collections.abc import Sequence

from sqlglot import exp

from dctv.plan.nodes import Relation, physical_names
from dctv.plan.sql import type_named
from dctv.types.schema import Schema

Value = str | int | float | bool | None


def of_rows(schema: Schema, rows: Sequence[Sequence[Value]]) -> Relation:
    """Return a plan of given rows, in their order."""
    names = [exp.to_identifier(n, quoted=True) for n in physical_names(schema)]
    nothing: list[Sequence[Value]] = [[None] * len(names)]
    tuples = [exp.Tuple(expressions=[_literal(v) for v in row]) for row in rows or nothing]
    alias = exp.TableAlias(this=exp.to_identifier("known", quoted=True), columns=names)
    columns = [
        exp.Alias(this=exp.Cast(this=exp.column(n.name, "known", quoted=True), to=type_named(c.type)), alias=n.copy())
        for n, c in zip(names, schema.columns, strict=True)
    ]
    tree = exp.Select(expressions=columns)
    tree.set("from_", exp.From(this=exp.Values(expressions=tuples, alias=alias)))
    if not rows:
        tree = tree.where(exp.Boolean(this=False), copy=False)
    return Relation(schema, ordered=bool(schema.kind.time_columns), query=tree, keeps_order=True)


def _literal(value: Value) -> exp.Expr:
    match value:
        case None:
            return exp.Null()
        case bool():
            return exp.Boolean(this=value)
        case int():
            kind = "BIGINT" if -(2**63) <= value < 2**63 else "HUGEINT"
            return exp.Cast(this=exp.Literal.string(str(value)), to=type_named(kind))
        case float():
            return exp.Cast(this=exp.Literal.string(repr(value)), to=type_named("DOUBLE"))
        case str():
            return exp.Literal.string(value)
