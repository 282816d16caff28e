"""Texts of queries over the trace `t`, and their rows."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dctv.session import Session


def select(columns: Iterable[str], source: str, rest: str = "") -> str:
    """Return a SELECT; `rest` stands behind what follows FROM."""
    return " ".join(("SELECT", ", ".join(columns), "FROM", source, rest)).rstrip()


def rows(session: Session, sql: str) -> list[tuple[Any, ...]]:
    """Return the rows of a query that has few."""
    found: list[tuple[Any, ...]] = []
    for columns in session.sql(sql).chunks():
        found += zip(*columns, strict=True)
    return found


def count(session: Session, source: str) -> int:
    """Return how many rows a table has, or what else can follow FROM."""
    return int(rows(session, select(["COUNT(*) AS n"], source))[0][0])
