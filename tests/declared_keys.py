"""Columns that the standard library declares to tell the rows of a view apart: joins by them may be dropped."""

from __future__ import annotations

from collections.abc import Iterator

from dctv.catalog.stdlib import modules
from dctv.session import Session


def duplicates(session: Session) -> Iterator[str]:
    """Yield the keys of views of the mount `t` that several rows have."""
    for module in modules():
        if module.key:
            view, keys = ".".join(("t", *module.parts)), ", ".join(module.key)
            rows = session.sql(f"SELECT {keys}, COUNT(*) AS n FROM {view} GROUP BY {keys} HAVING n > 1").fetchall()
            yield from (f"{view}: {row}" for row in rows)
