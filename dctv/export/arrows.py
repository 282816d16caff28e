"""Write arrows between slices as formats represent them: by numbers at the slices, or as points in time.

A point belongs to the slice that is open at its time, which is ambiguous if several begin then, or if one has no
duration. The end of an arrow belongs to the next slice that begins, unless it says that it belongs to the open one; one
that leads to no slice says so, too. A number at a slice is not ambiguous, but the arrow then has no name and no time of
its own.
"""

from __future__ import annotations

from typing import Literal

from dctv.export.query import count, select
from dctv.session import Session

Form = Literal["perfetto", "chrome-json"]

_ENDS = """
CREATE OR REPLACE VIEW dctv_export_ends AS
SELECT track, id, _ts, _ts + _duration AS end_ts, lane, name, category, TRUE AS is_thread FROM t.slices
UNION ALL
SELECT track, id, _ts, _ts + _duration, lane, name, category, FALSE FROM t.async_slices
"""
_ARROWS = """
CREATE OR REPLACE VIEW dctv_export_arrows AS
WITH met AS (
  SELECT track, id, COUNT(*) AS arrows FROM (
    SELECT from_track AS track, from_id AS id FROM t.flows UNION ALL SELECT to_track, to_id FROM t.flows
  ) GROUP BY track, id
)
SELECT ROW_NUMBER() OVER (
    ORDER BY f.from_ts, f.to_ts, f.flow, f.from_track, f.to_track, f.from_id, f.to_id) AS arrow,
  f.name, f.category, f.from_ts, f.from_track, f.from_id, f.to_ts, f.to_track, f.to_id,
  COALESCE(a.lane, 0) AS from_lane, COALESCE(b.lane, 0) AS to_lane,
  CAST(f.from_ts >= a._ts AS INT64) AS from_inside, CAST(COALESCE(f.to_ts > b._ts, TRUE) AS INT64) AS to_inside,
  a.id IS NOT NULL AND b.id IS NOT NULL AS is_shown,
  COALESCE(a.is_thread AND b.is_thread, FALSE) AS is_of_threads,
  COALESCE(f.from_ts = a._ts AND f.to_ts = b._ts AND (a.end_ts = a._ts OR b.end_ts = b._ts
    OR f.name <=> b.name AND f.category <=> b.category), FALSE) AS is_at_begins,
  COALESCE(m.arrows = 1 AND n.arrows = 1, FALSE) AS is_single
FROM t.flows AS f
LEFT JOIN dctv_export_ends AS a ON a.track = f.from_track AND a.id = f.from_id
LEFT JOIN dctv_export_ends AS b ON b.track = f.to_track AND b.id = f.to_id
LEFT JOIN met AS m ON m.track = f.from_track AND m.id = f.from_id
LEFT JOIN met AS n ON n.track = f.to_track AND n.id = f.to_id
"""
_AT_SLICES: dict[Form, str] = {
    "perfetto": "is_at_begins",
    # An event of this format holds only one.
    "chrome-json": "(is_at_begins AND is_single AND is_of_threads)",
}
_WRITTEN: dict[Form, str] = {
    "perfetto": "from_track IS NOT NULL AND to_track IS NOT NULL",
    # Points are on threads.
    "chrome-json": "from_track IS NOT NULL AND to_track IS NOT NULL AND (is_of_threads OR NOT is_shown)",
}


def prepare(session: Session) -> bool:
    """Create the views of the arrows of the trace `t`; return whether it has any."""
    if not session.sql(select(["from_ts"], "t.flows", "LIMIT 1")).fetchall():
        return False
    session.sql(_ENDS)
    session.sql(_ARROWS)
    return True


def with_arrows(kind: str, form: Form) -> str:
    """Return the slices of a kind with the numbers of their outgoing and incoming arrows, separated by commas."""
    columns = ["s.*", "COALESCE(l.arrows, '') AS leaving", "COALESCE(r.arrows, '') AS arriving"]
    joins = [
        f"LEFT JOIN ({_numbers(end, form)}) AS {name} ON {name}.track = s.track AND {name}.id = s.id"
        for end, name in (("from", "l"), ("to", "r"))
    ]
    return f"({select(columns, f't.{kind} AS s', ' '.join(joins))})"


def _numbers(end: str, form: Form) -> str:
    numbers = "STRING_AGG(CAST(arrow AS STRING), ',' ORDER BY arrow) AS arrows"
    columns = [f"{end}_track AS track", f"{end}_id AS id", numbers]
    return select(columns, "dctv_export_arrows", f"WHERE {_AT_SLICES[form]} GROUP BY {end}_track, {end}_id")


def loose(form: Form) -> str:
    """Return the query over the arrows that are written as points."""
    return select(["*"], "dctv_export_arrows", f"WHERE NOT {_AT_SLICES[form]} AND {_WRITTEN[form]} ORDER BY arrow")


def losses(session: Session, form: Form) -> list[str]:
    """Describe arrows that are not written, or not shown by viewers."""
    lost = count(session, f"dctv_export_arrows WHERE NOT ({_WRITTEN[form]})")
    hidden = count(session, f"dctv_export_arrows WHERE NOT is_shown AND {_WRITTEN[form]}")
    found = []
    if lost:
        places = "threads" if form == "chrome-json" else "tracks"
        found.append(f"{lost} flows were left out: not both of their ends are on {places}")
    if hidden:
        found.append(f"{hidden} flows are written but not shown by viewers: not both of their ends are slices")
    return found
