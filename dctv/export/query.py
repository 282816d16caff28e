"""Texts of queries over the trace `t`, and how many rows they have."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.session import Session


def select(columns: Iterable[str], source: str, rest: str = "") -> str:
    """Return a SELECT; `rest` stands behind what follows FROM."""
    return " ".join(("SELECT", ", ".join(columns), "FROM", source, rest)).rstrip()


def count(session: Session, source: str) -> int:
    """Return how many rows a table has, or what else can follow FROM."""
    return int(session.sql(select(["COUNT(*) AS n"], source)).fetchall()[0][0])
