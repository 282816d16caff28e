"""Intervals on the way out of DuckDB.

DuckDB counts the hours and smaller parts of an interval in microseconds, Arrow in nanoseconds. What is longer than
Arrow can hold (292 years of hours) would wrap around silently, so queries check the intervals that they return.
"""

from __future__ import annotations

from typing import Any

import duckdb

_MOST = (2**63 - 1) // 1000
"""Microseconds that Arrow can hold."""

TOO_LONG = "an interval has too many hours: at most 292 years of them fit into a result"
_NESTED = frozenset(("list", "array", "map", "struct", "tuple", "union"))


def _has_interval(kind: Any) -> bool:
    """Return whether a type of DuckDB's is an interval or contains one."""
    return kind.id == "interval" or any(_has_interval(inner) for _, inner in _children(kind))


def _children(kind: Any) -> list[tuple[str, Any]]:
    """Return the types within a nested one, with their names."""
    # The state of an aggregate says that it is a struct, but its members cannot be taken.
    if kind.id not in _NESTED or str(kind) == "AGGREGATE_STATE":
        return []
    # An array has its length beside the type of its elements.
    return [(name, inner) for name, inner in kind.children if not isinstance(inner, int)]


def checked(relation: duckdb.DuckDBPyRelation) -> duckdb.DuckDBPyRelation:
    """Let a query fail where an interval does not fit into Arrow's."""
    found = [(name, kind) for name, kind in zip(relation.columns, relation.types, strict=True) if _has_interval(kind)]
    if not found:
        return relation
    columns = ((_quoted(name), kind) for name, kind in found)
    replaced = (
        f"CASE WHEN {_too_long(name, kind)} THEN error('{TOO_LONG}') ELSE {name} END AS {name}"
        for name, kind in columns
    )
    return relation.project(f"* REPLACE ({', '.join(replaced)})")


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def _literal(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _too_long(value: str, kind: Any, depth: int = 0) -> str:
    """Return the condition that a value holds an interval that is too long."""
    if kind.id == "interval":
        parts = f"datepart('hour', {value}) * 3600000000 + datepart('minute', {value}) * 60000000"
        return f"{parts} + datepart('microsecond', {value}) NOT BETWEEN -{_MOST} AND {_MOST}"
    members = [
        (name, str(index) if kind.id == "tuple" else _literal(name), inner)
        for index, (name, inner) in enumerate(_children(kind), start=1)
        if _has_interval(inner)
    ]
    if kind.id in ("list", "array"):
        return _any_too_long(value, members[0][2], depth)
    if kind.id == "map":
        return " OR ".join(_any_too_long(f"map_{name}s({value})", inner, depth) for name, _, inner in members)
    take = "union_extract" if kind.id == "union" else "struct_extract"
    taken = ((f"{take}({value}, {key})", inner) for _, key, inner in members)
    return " OR ".join(f"({_too_long(member, inner, depth)})" for member, inner in taken)


def _any_too_long(values: str, kind: Any, depth: int) -> str:
    element = f"e{depth}"
    return f"len(list_filter({values}, lambda {element}: {_too_long(element, kind, depth + 1)})) > 0"
