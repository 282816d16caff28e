"""Find the arrows that lead to a row of a track, and those that leave it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from dctv.timeline.timeline import Timeline
from dctv.web.host import Host
from dctv.web.origins import Key, Provider, RowPlace, places_of, provider_of
from dctv.web.result_cache import TimedQuery, all_rows
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import dotted

MOST_ARROWS = 100
_KINDS = {"slices": "slice", "async_slices": "async", "instants": "instant"}
"""The names of providers' kinds of rows in arrows."""
_End = tuple[str | None, int | None]
"""The kind and number of the row at an end."""


def flows(
    host: Host, shown: ShownTrack, provider: Provider | None, keys: Sequence[Key]
) -> dict[str, list[dict[str, Any]]]:
    """Return the other ends of arrows that lead `in` to a row, and of those that lead `out`.

    An end has its track and row, which are None if it is at none, its name, and its time.
    """
    if provider is None or provider.name not in _KINDS or len(keys) != 1:
        return {"in": [], "out": []}
    own = (_KINDS[provider.name], int(keys[0][1]))
    arrows = _arrows(host, shown.timeline, provider.mount)
    found = {"in": _touching(arrows, "to", own), "out": _touching(arrows, "from", own)}
    others = {"in": "from", "out": "to"}
    ends = {_end(arrow, others[way]) for way, some in found.items() for arrow in some}
    places = _places(host, shown.timeline, provider.mount, ends)
    return {way: [_end_of(shown.name, arrow, others[way], places) for arrow in some] for way, some in found.items()}


def _arrows(host: Host, timeline: Timeline, mount: str) -> Any:
    """Return all arrows of a trace, as a pyarrow Table."""
    return all_rows(
        host, timeline, TimedQuery(f"SELECT *, from_ts AS _ts FROM {dotted(mount, 'flows')} ORDER BY from_ts", 0)
    )


def _touching(arrows: Any, end: str, own: tuple[str, int]) -> list[dict[str, Any]]:
    """Return the first arrows with a given row at one end."""
    import pyarrow.compute as pc

    kind, number = own
    found = pc.and_(pc.equal(arrows.column(f"{end}_kind"), kind), pc.equal(arrows.column(f"{end}_id"), number))
    return list(arrows.filter(found).slice(0, MOST_ARROWS).to_pylist())


def _end(arrow: Mapping[str, Any], end: str) -> _End:
    return arrow[f"{end}_kind"], arrow[f"{end}_id"]


def _places(host: Host, timeline: Timeline, mount: str, ends: Iterable[_End]) -> Mapping[_End, RowPlace]:
    """Return the positions of arrow ends; of several rows that look the same, the first."""
    found: dict[_End, RowPlace] = {}
    for name, kind in _KINDS.items():
        provider = provider_of(mount, f"{mount}.timeline.{name}")
        ids = [number for own, number in ends if own == kind and number is not None]
        if provider is not None and ids:
            there = places_of(host, provider, timeline, ids)
            found |= {(kind, number): places[0] for number, places in there.items() if places}
    return found


def _end_of(timeline: str, arrow: Mapping[str, Any], end: str, places: Mapping[_End, RowPlace]) -> dict[str, Any]:
    place = places.get(_end(arrow, end))
    return {
        "track": None if place is None else f"{timeline}:{place.track}",
        "row": None if place is None else place.row,
        "name": arrow[f"{end}_name"],
        "from": str(arrow[f"{end}_ts"]),
    }
