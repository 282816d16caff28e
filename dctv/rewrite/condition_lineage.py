"""Translate a condition in a query to the columns of the leaf that it is about."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from dctv.plan.build import STAR
from dctv.plan.expressions import Column, Expression, Window
from dctv.plan.node import Query
from dctv.plan.queries import Derived, FromItem, Join, Select, TableName
from dctv.plan.walk import columns_in, own, replaced, walk
from dctv.record import record
from dctv.rewrite.select_lists import has_effect
from dctv.rewrite.select_shapes import group_keys


@record
class PathDown:
    """The leaf of a condition, and the condition over its columns."""

    leaf: str
    test: Expression
    """The condition over the leaf's columns, unqualified."""


def path_from_clause(select: Select, test: Expression, *, grouped: bool) -> PathDown | None:
    """Return the path down of a condition in a select, `grouped` if it is applied to groups.

    There is one only if the whole query reads the leaf once.
    """
    columns = columns_in(test)
    if not columns or any(isinstance(node, Query) for node in walk(test)):
        return None
    if grouped and not (group_keys(select) or set()).issuperset(columns):
        return None
    return _path_from_source(_owner(select, columns), test)


def path_from_join(select: Select, join: Join, test: Expression) -> PathDown | None:
    """Return the path down of a condition of ON that rows of one source must satisfy to be joined, likewise.

    A row without a partner is dropped if it is on the right side of a join that is not RIGHT or FULL, or on either side
    of an inner join.
    """
    columns = columns_in(test)
    if not columns or any(isinstance(node, Query) for node in walk(test)) or join.asof:
        return None
    if {column.table for column in columns} == {join.source.called}:
        return _path_from_source(join.source if join.kind in ("INNER", "LEFT", "SEMI", "ANTI") else None, test)
    return _path_from_source(_owner(select, columns) if join.kind == "INNER" else None, test)


def _path_from_source(source: FromItem | None, test: Expression) -> PathDown | None:
    if source is None or source.columns:
        return None
    inner = replaced(test, lambda node: Column(node.name) if isinstance(node, Column) else None)
    if isinstance(source, TableName):
        return PathDown(source.name, inner)
    return path_from_result(source.query, inner) if isinstance(source, Derived) else None


def path_from_result(query: Query, test: Expression) -> PathDown | None:
    """Return the path down of a condition over the result columns of a query, likewise."""
    if not isinstance(query, Select) or not _is_plain(query):
        return None
    values = {item.output: item.value for item in query.items}
    found: dict[str, Column] = {}
    for column in columns_in(test):
        value = Column(column.name) if query.items == (STAR,) else values.get(column.name)
        if not isinstance(value, Column):
            return None
        found[column.name] = value
    inner = replaced(test, lambda node: found[node.name] if isinstance(node, Column) else None)
    return path_from_clause(query, inner, grouped=query.group is not None)


def _is_plain(select: Select) -> bool:
    """Whether each row (or group) of a select is made of its own rows, without further operations."""
    clauses = (select.limit, select.offset, select.qualify)
    if select.distinct or select.steps or any(one is not None for one in clauses):
        return False
    return not has_effect(select) and not any(isinstance(node, Window) for node in own(select))


def _owner(select: Select, columns: Sequence[Column]) -> FromItem | None:
    """Return the only named source, if conditions on it may be applied before joins."""
    owners = {column.table for column in columns}
    kinds = {"ASOF" if join.asof else join.kind for join in select.joins}
    if len(owners) != 1 or not kinds <= {"INNER", "CROSS", "LEFT"}:
        return None
    (owner,) = owners
    if owner is None:
        return None if select.joins else select.source
    sources: Mapping[str, FromItem] = {one.called: one for one in select.sources[: 1 if "LEFT" in kinds else None]}
    return sources.get(owner)
