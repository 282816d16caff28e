"""Draw questions over all tables and views of a trace, and ask them without an index, with one, and of a fleet."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from hypothesis import strategies as st

from dctv.index.request import IndexRequest
from dctv.session import Session
from tests.session.pruned_shapes import COMPARED, Table, conditions, quoted, table_of

ONE = [
    "SELECT {all} FROM {t} WHERE {w}",
    "SELECT COUNT(*) AS n FROM {t} WHERE {w}",
    'SELECT COUNT(*) AS n, COUNT("{c}") AS m, COUNT(DISTINCT "{c}") AS d, MIN("{c}"), MAX("{c}") FROM {t} WHERE {w}',
    'SELECT "{c}", COUNT(*) AS n FROM {t} WHERE {w} GROUP BY "{c}"',
    'SELECT "{c}", COUNT(*) AS n FROM {t} GROUP BY "{c}" HAVING COUNT(*) > 1 AND {h}',
    'SELECT DISTINCT "{c}" FROM {t} WHERE {w}',
    "SELECT {all} FROM {t} WHERE {w} ORDER BY {all} LIMIT 5 OFFSET 2",
    "SELECT COUNT(*) AS n FROM (SELECT {all} FROM {t} LIMIT 9) AS x",
    'SELECT COUNT(*) AS n FROM {t} AS x WHERE EXISTS (SELECT 1 FROM {t} AS y WHERE y."{c}" = x."{c}" AND {y})',
    'SELECT "{c}", row_number() OVER (PARTITION BY "{c}" ORDER BY {all}) AS n FROM {t} WHERE {w}',
    'SELECT "{c}", lag("{c}") OVER (ORDER BY {all}) AS before FROM {t} WHERE {w}',
    "SELECT {all} FROM {t} WHERE {w} UNION ALL SELECT {all} FROM {t} WHERE {u}",
    "SELECT {all} FROM {t} WHERE {w} EXCEPT SELECT {all} FROM {t} WHERE {u}",
    "WITH q AS (SELECT {all} FROM {t} WHERE {w}) SELECT COUNT(*) AS n FROM q WHERE {u}",
]
"""Questions about one table."""
TWO = [
    'SELECT COUNT(*) AS n FROM {t} WHERE "{c}" IN (SELECT "{c}" FROM {s} WHERE {v})',
    'SELECT COUNT(*) AS n FROM {t} WHERE "{c}" NOT IN (SELECT "{c}" FROM {s} WHERE {v} AND "{c}" IS NOT NULL)',
    'SELECT x."{c}", COUNT(*) AS n FROM {t} AS x JOIN {s} AS y ON x."{c}" = y."{c}" WHERE {x} GROUP BY x."{c}"',
    'SELECT COUNT(*) AS n, COUNT(y."{c}") AS m FROM {t} AS x LEFT JOIN {s} AS y ON x."{c}" = y."{c}" AND {y}',
    'SELECT "{c}", COUNT(*) AS n FROM (SELECT "{c}" FROM {t} UNION ALL SELECT "{c}" FROM {s}) AS x GROUP BY ALL',
]
"""Questions about two tables with a column of one name, type and unit."""


@dataclass(slots=True)
class Ways:
    """Sessions that know one trace as `t`, in different ways; in a fleet it is the only trace."""

    sessions: dict[str, Session]
    names: list[str]
    _tables: dict[str, Table | None] = field(default_factory=dict)

    def table(self, name: str) -> Table | None:
        """Look at a table when it is first asked; return None if it has no rows."""
        if name not in self._tables:
            self._tables[name] = table_of(self.sessions["whole"], name, "")
        return self._tables[name]

    def from_place(self, place: int) -> Iterator[Table]:
        """Yield the tables that have rows, from a place in the list on."""
        yield from filter(None, map(self.table, [*self.names[place:], *self.names[:place]]))

    def check(self, sql: str) -> None:
        """Ask all sessions one question; rows may come in any order."""
        found = {how: sorted(map(repr, session.sql(sql).fetchall())) for how, session in self.sessions.items()}
        for how, rows in found.items():
            assert rows == found["whole"], (how, sql)


@contextmanager
def ways(trace: Path, folder: Path) -> Iterator[Ways]:
    """Index a trace, and mount it in each way."""
    with ExitStack() as stack:
        settings = {
            "whole": Session(index=False, warn=False, threads=1),
            "indexed": Session(index_dir=folder, warn=False),
        }
        made = {how: stack.enter_context(session) for how, session in settings.items()}
        made["indexed"].index(trace, IndexRequest())
        made["fleet"] = stack.enter_context(Session(index=False, warn=False))
        for how, session in made.items():
            if how == "fleet":
                session.mount_traces(trace, "t")
            else:
                session.mount(trace, "t")
        made["whole"].sql("SET rewrite = 'off'")
        yield Ways(made, [one.name for one in made["whole"].tables("t") if one.kind != "function"])


@st.composite
def questions(draw: st.DrawFn, found: Ways) -> str:
    """Draw a question over one table that has rows, or over two."""
    first = next(found.from_place(draw(st.integers(0, len(found.names) - 1))))
    second = next(found.from_place(draw(st.integers(0, len(found.names) - 1))))
    names = [(one.name, one.type, one.unit) for one in first.columns if one.type in COMPARED]
    shared = [name for name in names if name in {(one.name, one.type, one.unit) for one in second.columns}]
    two = bool(shared) and draw(st.booleans())
    key, *_ = draw(st.sampled_from(shared if two else names))
    named = [one for one in first.columns if one.name == key]
    parts = {
        "t": quoted(first.name),
        "s": quoted(second.name),
        "c": key,
        "all": ", ".join(f'"{one.name}"' for one in first.columns),
        "w": draw(conditions(first.columns)),
        "u": draw(conditions(first.columns)),
        "h": draw(conditions(named)),
        "x": draw(conditions(first.columns, "x.")),
        "y": draw(conditions((second if two else first).columns, "y.")),
        "v": draw(conditions(second.columns)),
    }
    return draw(st.sampled_from(TWO if two else ONE)).format(**parts)
