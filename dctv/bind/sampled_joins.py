"""Bind USING SAMPLE after joins: compute the joined rows first, then take some of them."""

from __future__ import annotations

from dctv.bind.context import Leaves
from dctv.bind.samples import numbered_columns, sampled_rows
from dctv.bind.scope import Scope, ScopeColumn
from dctv.bind.tables import FromClause
from dctv.plan import build as w
from dctv.plan.expressions import Column, Expression
from dctv.plan.node import Node
from dctv.plan.queries import Derived, Select
from dctv.plan.walk import replaced
from dctv.record import replace
from dctv.syntax import ast


def sampled_join(source: FromClause, sample: ast.Sample, leaves: Leaves) -> FromClause:
    """Return FROM with a sample of its rows; tables and columns keep their names."""
    whole = dict.fromkeys(column.value for column in source.scope.columns())
    names = {value: f"c{number}" for number, value in enumerate(whole, start=1)}
    items = w.named(names, names.values())
    listed = list(names.values())
    if sample.share and sample.size == 100:
        return source
    rows = numbered_columns(Select(tuple(items), source.first, tuple(source.joins)), listed)
    inner = leaves.alias("sample")

    def moved(value: Node) -> Column | None:
        return Column(names[value], inner) if isinstance(value, Expression) and value in names else None

    def column(one: ScopeColumn) -> ScopeColumn:
        return replace(one, value=replaced(one.value, moved))

    tables = [
        replace(one, columns=tuple(map(column, one.columns)), shared=tuple(map(column, one.shared)))
        for one in source.scope.tables
    ]
    merged = {name: column(one) for name, one in source.scope.merged.items()}
    scope = Scope(tables, source.scope.parent, merged)
    away: set[Expression] = {replaced(value, moved) for value in source.merged_away}
    taken_rows = sampled_rows(rows, listed, sample)
    return FromClause(scope, Derived(taken_rows, inner), [], away, stable=True, parts=source.parts, sure=source.sure)
