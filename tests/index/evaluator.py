"""Evaluate a predicate for a row, slowly and plainly."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, isnan
from operator import eq, ge, gt, le, lt, ne
from typing import Any

from dctv.plan import predicate as p

Row = Mapping[str, Any]
"""Values by column, and under `luck` what a condition is of which nothing is known."""


def truth(predicate: p.Predicate, row: Row) -> bool | None:
    """Return what a predicate is for an event, in three-valued logic, one case after the other."""
    found: bool | None
    match predicate:
        case p.Not(part):
            inner = truth(part, row)
            found = None if inner is None else not inner
        case p.And(parts):
            found = _all([truth(part, row) for part in parts])
        case p.Or(parts):
            of_opposites = _all([truth(p.Not(part), row) for part in parts])
            found = None if of_opposites is None else not of_opposites
        case p.IsNull(column):
            found = row[column] is None
        case p.Undecidable():
            found = row["luck"]
        case p.Compare(columns, operator, literal):
            values = [row[c] for c in columns]
            found = None if None in values else _holds(sum(values) if len(values) > 1 else values[0], operator, literal)
        case p.Prefix(column, text):
            found = None if row[column] is None else _text(row[column]).startswith(text)
        case p.In(column, literals, has_null):
            is_one = any(_holds(row[column], "=", literal) for literal in literals if row[column] is not None)
            found = is_one or (None if has_null or row[column] is None else False)
    return found


def _all(truths: Sequence[bool | None]) -> bool | None:
    return False if False in truths else None if None in truths else True


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


_RELATIONS: Mapping[str, Callable[[Any, Any], bool]] = {"=": eq, "!=": ne, "<": lt, "<=": le, ">": gt, ">=": ge}


def _holds(value: Any, operator: str, literal: Any) -> bool:
    if isinstance(literal, str):
        value = _text(value)
    elif isinstance(value, float) and isnan(value):
        # The engine takes what is no number for greater than all numbers.
        value = inf
    return _RELATIONS[operator](value, literal)
