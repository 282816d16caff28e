"""Write queries over the trace `t`, and count their rows."""

from __future__ import annotations

from collections.abc import Iterable

from dctv.session import Session


def select(columns: Iterable[str], source: str, rest: str = "") -> str:
    """Return a SELECT; `rest` follows the FROM clause."""
    return " ".join(("SELECT", ", ".join(columns), "FROM", source, rest)).rstrip()


def count(session: Session, source: str) -> int:
    """Return the number of rows of a FROM clause."""
    return int(session.sql(select(["COUNT(*) AS n"], source)).fetchall()[0][0])
