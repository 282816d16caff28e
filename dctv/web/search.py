"""Search rows by name or condition, in order of time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from heapq import nlargest, nsmallest
from typing import Any

from dctv.errors import DctvError, Place, SourceText, UsageError
from dctv.record import record
from dctv.syntax.parse import parse_expression
from dctv.timeline.gathering import GatheredRows
from dctv.timeline.lanes import Lane
from dctv.web.host import Host
from dctv.web.shown_track import ShownTrack
from dctv.web.track_queries import by_timeline, in_tracks, rows_of, run_query

MOST = 10_000
"""The maximum number of matches per request."""
_REGULAR = "re:"
_SHOWN = 200
"""The maximum number of characters of a wrong pattern in its error."""
_AT_FIRST = 1 << 21
"""The number of rows in the first stretch; it doubles while there are too few matches."""
_BLOCK = 1 << 20
"""The number of rows of a lane that are compared at once."""


@record
class Search:
    """A search: conditions and start."""

    text: str | None = None
    """A part of a name, ignoring case; after `re:`, a regular expression."""
    where: str | None = None
    """A condition on `name`, `_ts`, `_duration`, `lane` and `track`, in SQL."""
    start: int | None = None
    """In ns; by default the beginning, or the end if backwards."""
    limit: int = 100
    direction: str | None = None
    """`next` finds rows that begin after `start`, `previous` earlier ones in reverse; else rows from then on."""


@record
class _Match:
    """A matching row."""

    begin: int
    place: int
    """The index of its track among those searched."""
    row: int
    lane: int
    duration: int
    name: str | None

    def order(self) -> tuple[int, int, int]:
        """Return the sort key of matches."""
        return self.begin, self.place, self.row

    def to_json(self, track: str) -> dict[str, Any]:
        """Return it in the form that the page expects."""
        times = {"from": str(self.begin), "duration": str(self.duration)}
        return {"track": track, "row": self.row, "lane": self.lane, "name": self.name, **times}


def search(host: Host, tracks: Sequence[ShownTrack], order: Search) -> dict[str, Any]:
    """Find the first matching rows; of those that begin at the same time, those of the first tracks.

    Raises:
        UsageError: there is no condition, or the regular expression is invalid.
        QueryError: the condition is wrong; the error's position is in `order.where`.
    """
    if order.direction not in (None, "next", "previous"):
        raise UsageError(f"expected the direction `next` or `previous`, found `{order.direction}`")
    if not 0 < order.limit <= MOST:
        raise UsageError(f"expected a limit from 1 to {MOST:,}, found {order.limit}")
    if (order.text is None) == (order.where is None):
        raise UsageError("a search has either a text or a condition")
    # Rows that begin at the same time are in order of their tracks' numbers, as those of a condition come.
    tracks = [one for own in by_timeline(tracks) for one in own]
    found = _called(tracks, order) if order.where is None else _fitting(host, tracks, order.where, order)
    matches = [match.to_json(tracks[match.place].id) for match in found[: order.limit]]
    return {"matches": matches, "more": len(found) > order.limit}


def _called(tracks: Sequence[ShownTrack], order: Search) -> list[_Match]:
    """Return the rows with matching names, at most one more than the limit."""
    if not order.text:
        return []
    lanes = list(_lanes(tracks, order.text))
    found: list[_Match] = []
    for start, stop in _stretches([lane for _, lane, _ in lanes], order):
        for place, lane, fits in lanes:
            found += _on_lane(place, lane, fits, (start, stop), order)
        if len(found) > order.limit:
            break
    return _first(found, order)


def _first(found: list[_Match], order: Search) -> list[_Match]:
    pick = nlargest if order.direction == "previous" else nsmallest
    return pick(order.limit + 1, found, key=_Match.order)


def _lanes(tracks: Sequence[ShownTrack], text: str) -> Iterator[tuple[int, Lane, Any]]:
    """Yield the lanes where a name may match: the track's index, the lane, and for each name whether it matches."""
    fits_of: dict[int, Any] = {}
    for place, one in enumerate(tracks):
        for lane in one.timeline.lanes(one.number):
            fits = fits_of.get(id(lane.rows))
            if fits is None:
                fits = fits_of[id(lane.rows)] = _fits(lane.rows, text)
            if len(lane) and fits.any():
                yield place, lane, fits


def _fits(rows: GatheredRows, text: str) -> Any:
    """Return whether each name matches, followed by False for rows without a name."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    try:
        if text.startswith(_REGULAR):
            found = pc.match_substring_regex(rows.names, text.removeprefix(_REGULAR))
        else:
            found = pc.match_substring(rows.names, text, ignore_case=True)
    except pa.ArrowInvalid as error:
        what = str(error).removeprefix("Invalid regular expression: ").splitlines()[0]
        pattern = text.removeprefix(_REGULAR)[:_SHOWN]
        raise UsageError(f"`{pattern}` is not a valid regular expression: {what[:_SHOWN]}") from None
    return np.append(found.to_numpy(zero_copy_only=False), [False])


def _stretches(lanes: Sequence[Lane], order: Search) -> Iterator[tuple[int, int]]:
    """Yield stretches of time from the start of the search, each with about twice as many rows as the previous one."""
    first = min((int(lane.begin[0]) for lane in lanes), default=0)
    behind = max((int(lane.begin[-1]) + 1 for lane in lanes), default=0)
    if order.start is not None:
        if order.direction == "previous":
            behind = min(behind, order.start)
        else:
            first = max(first, order.start + (order.direction == "next"))
    rows = sum(len(lane) for lane in lanes)
    width = max((behind - first) * _AT_FIRST // max(rows, 1), 1)
    while first < behind:
        if order.direction == "previous":
            yield max(behind - width, first), behind
            behind -= width
        else:
            yield first, min(first + width, behind)
            first += width
        width *= 2


def _on_lane(place: int, lane: Lane, fits: Any, between: tuple[int, int], order: Search) -> Iterator[_Match]:
    """Yield the first matching rows of a lane that begin in a stretch."""
    import numpy as np

    first, stop = np.searchsorted(lane.begin, between, "left").tolist()
    back = order.direction == "previous"
    left = order.limit + 1
    while first < stop and left:
        low, high = (max(stop - _BLOCK, first), stop) if back else (first, min(first + _BLOCK, stop))
        rows = low + np.flatnonzero(fits[lane.codes[low:high]])
        rows = rows[-left:] if back else rows[:left]
        for row in rows.tolist():
            begin, duration = int(lane.begin[row]), int(lane.duration[row])
            yield _Match(begin, place, lane.first + row, lane.number, duration, lane.name(row))
        left -= len(rows)
        first, stop = (first, low) if back else (high, stop)


def _fitting(host: Host, tracks: Sequence[ShownTrack], where: str, order: Search) -> list[_Match]:
    """Return the rows that meet a condition, at most one more than the limit."""
    # A text with closing parentheses could end the condition, and all that is written before it.
    parse_expression(SourceText("condition", where))
    places = {(one.name, one.number): place for place, one in enumerate(tracks)}
    found: list[_Match] = []
    for own in by_timeline(tracks):
        before, after = _query(own, order)
        try:
            answer = run_query(host, f"{before}{where}{after}", order.limit + 1)
        except DctvError as error:
            raise _moved(error, len(before), where) from None
        for track, row, lane, name, begin, duration in answer.rows:
            place = places[own[0].name, int(track)]
            found.append(_Match(int(begin), place, int(row), int(lane), int(duration), name))
    return _first(found, order)


def _query(tracks: Sequence[ShownTrack], order: Search) -> tuple[str, str]:
    """Write a query; return the parts before and after the condition."""
    back = order.direction == "previous"
    operator = "<" if back else ">" if order.direction == "next" else ">="
    since = "" if order.start is None else f"_ts {operator} {order.start}ns AND "
    columns = "track, row, lane, name, _ts, _duration"
    before = f"SELECT {columns} FROM {rows_of(tracks)}\nWHERE {in_tracks(tracks)} AND {since}(\n"
    down = " DESC" if back else ""
    return before, f"\n)\nORDER BY _ts{down}, track{down}, row{down} LIMIT {order.limit + 1}"


def _moved(error: DctvError, before: int, where: str) -> DctvError:
    """Move the position of an error from the query to the condition."""
    if error.place is not None:
        start = min(max(error.place.start - before, 0), len(where))
        stop = min(max(error.place.stop - before, start), len(where))
        error.place = Place(SourceText("condition", where), start, stop)
    return error
