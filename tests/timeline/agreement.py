"""What must hold of the timeline of any trace."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from dctv.session import Session


def faults(session: Session, name: str) -> Iterator[str]:
    """Say where the timeline of a mounted trace has more or fewer rows than its views, at any distance."""
    timeline = session.timeline(name)
    rows: Counter[str] = Counter()
    for track in timeline.tracks:
        rows[track.source] += track.rows
    for source in sorted(set(rows) - {""}):
        counted = session.sql(f"SELECT COUNT(*) AS n FROM {source}").fetchall()[0][0]
        if rows[source] != counted:
            yield f"{source} has {counted} rows, its tracks have {rows[source]}"
    ids = [track.id for track in timeline.tracks]
    length = timeline.end - timeline.begin + 1
    for step in (1, max(length // 2000, 1), length):
        cells = timeline.cells(ids, timeline.begin, timeline.end + 1, step)
        found: Counter[int] = Counter()
        for track, count in zip(cells["track"].to_pylist(), cells["count"].to_pylist(), strict=True):
            found[track] += count
        yield from (
            f"{timeline.path(track.id)}: cells of {step} ns have {found[track.id]} of {track.rows} rows"
            for track in timeline.tracks
            if found[track.id] != track.rows
        )
