"""Ask dctv what one of Perfetto's cases asks, over the trace of the case."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from dctv.session import Session
from tests.collection.perfetto_diff.cases import MACROS, Entry

KEPT = 4
"""Sessions that stay open for the next case with the same trace."""


@lru_cache(maxsize=KEPT)
def _session(content: bytes, path: Path) -> tuple[Session, int]:
    """Return a session with the trace mounted as `t`, and when it starts; nothing is mounted if the trace is empty."""
    session, start = Session(index=False, threads=1), 0
    if content.strip():
        session.mount(str(path), "t")
        start_rows = session.sql("SELECT value FROM t.properties WHERE key = 'start_ns'").fetchall()
        start = int(start_rows[0][0]) if start_rows else 0
    return session, start


def spelled_out(query: str, start: int) -> list[str]:
    """Return the statements of a query with its macros replaced, `start` being the time of the first event in ns."""
    macros = MACROS | {"T0": str(start)}
    while (known := re.sub(r"\{(\w+)\}", lambda m: macros.get(m[1], m[0]), query)) != query:
        query = known
    return [part for part in query.split(";;") if part.strip()]


def asked(entry: Entry, path: Path) -> list[tuple[object, ...]]:
    """Return the rows of our query over the trace of a case.

    Raises:
        DctvError: the trace cannot be mounted, or the query is wrong.
    """
    content = path.read_bytes()
    keeps = "CREATE" not in entry.query.upper()
    session, start = _session(content, path) if keeps else _session.__wrapped__(content, path)
    *before, last = spelled_out(entry.query, start)
    for statement in before:
        session.sql(statement)
    rows = session.sql(last).fetchall()
    if not keeps:
        session.close()
    return rows
