"""Search in names and by conditions, against brute force."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import DctvError, UsageError
from dctv.web import search as searching
from dctv.web.search import Search, search
from dctv.web.shown_track import ShownTrack
from tests.bounds import bounded
from tests.timeline.rows import Row, timeline
from tests.timeline.test_timeline import some_rows
from tests.web.tracks import places, session_with

TEXTS = st.sampled_from(["x", "Y", "re:^[xz]$", "re:.", "re:y|z", "nothing", ""])
CONDITIONS = st.sampled_from(["name = 'x'", "_duration > 5ns AND lane = 0", "name != 'y' -- or not", "track = 1"])
DIRECTIONS = st.sampled_from([None, "next", "previous"])


def _fits(text: str, name: str | None) -> bool:
    known = {"x": "x", "Y": "y", "re:^[xz]$": "xz", "re:.": "xyz", "re:y|z": "yz"}
    return name is not None and name in known.get(text, "")


def _holds(where: str, row: Any) -> bool:
    holds: dict[str, bool] = {
        "name = 'x'": row.name == "x",
        "_duration > 5ns AND lane = 0": row.duration > 5 and row.lane.number == 0,
        "name != 'y' -- or not": row.name is not None and row.name != "y",
        "track = 1": row.track == 1,
    }
    return holds[where]


def _expected(tracks: list[ShownTrack], order: Search) -> dict[str, Any]:
    """Return what a search is to find."""
    order_of = {one.number: place for place, one in enumerate(tracks)}
    rows = [
        one
        for one in places(tracks)
        if (_fits(order.text, one.name) if order.text is not None else _holds(order.where or "", one))
    ]
    rows.sort(key=lambda one: (one.begin, order_of[one.track], one.row))
    match order.direction, order.start:
        case "previous", start:
            rows = [one for one in reversed(rows) if start is None or one.begin < start]
        case "next", int(start):
            rows = [one for one in rows if one.begin > start]
        case _, int(start):
            rows = [one for one in rows if one.begin >= start]
    matches = [
        {
            "track": f"g:{one.track}",
            "row": one.row,
            "lane": one.lane.number,
            "name": one.name,
            "from": str(one.begin),
            "duration": str(one.duration),
        }
        for one in rows[: order.limit]
    ]
    return {"matches": matches, "more": len(rows) > order.limit}


@bounded(400)
@given(some_rows(), TEXTS, st.none() | st.integers(-25, 95), st.integers(1, 6), DIRECTIONS)
def test_names_are_found_in_order_of_time(
    rows: list[Row], text: str, start: int | None, limit: int, direction: str | None
) -> None:
    order = Search(text=text, start=start, limit=limit, direction=direction)
    with pytest.MonkeyPatch.context() as patch, session_with(timeline(rows, end=50)) as (session, tracks):
        # So that there are many stretches and blocks.
        patch.setattr(searching, "_AT_FIRST", 2)
        patch.setattr(searching, "_BLOCK", 2)
        assert search(session, tracks, order) == _expected(tracks, order)


@bounded(100)
@given(some_rows(), CONDITIONS, st.none() | st.integers(-25, 95), st.integers(1, 6), DIRECTIONS)
def test_rows_are_found_by_a_condition(
    rows: list[Row], where: str, start: int | None, limit: int, direction: str | None
) -> None:
    order = Search(where=where, start=start, limit=limit, direction=direction)
    with session_with(timeline(rows, end=50)) as (session, tracks):
        assert search(session, tracks, order) == _expected(tracks, order)


def _error(order: Search) -> DctvError:
    with session_with(timeline([Row(1, 2)])) as (session, tracks), pytest.raises(DctvError) as raised:
        search(session, tracks, order)
    return raised.value


def test_a_wrong_condition_is_reported_with_its_place() -> None:
    error = _error(Search(where="name = 'x' AND nmae = 'y'"))
    assert error.message == "unknown column `nmae`"
    assert error.place is not None
    assert error.place.text == "nmae"
    error = _error(Search(where="name = ("))
    assert error.place is not None
    assert error.place.source.text == "name = ("


def test_a_condition_cannot_be_ended_by_a_parenthesis() -> None:
    error = _error(Search(where="lane = 0) OR (lane = 1"))
    assert error.message.startswith("found `)`")
    assert error.place is not None
    assert (error.place.start, error.place.source.text) == (8, "lane = 0) OR (lane = 1")


def test_of_rows_that_begin_together_those_of_the_first_tracks_are_found() -> None:
    rows = [Row(5, 2, (name,), name="x") for name in ("a", "b", "c")]
    with session_with(timeline(rows)) as (session, tracks):
        for named in (Search(text="x", limit=2), Search(where="name = 'x'", limit=2)):
            found = search(session, tracks[::-1], named)
            assert [match["track"] for match in found["matches"]] == ["g:0", "g:1"]
            assert found["more"]


@pytest.mark.parametrize(
    ("order", "message"),
    [
        (Search(text="re:(x"), "`(x` is not a valid regular expression: missing ): (x"),
        (Search(text="x", limit=0), "expected a limit from 1 to 10,000, found 0"),
        (Search(text="x", direction="up"), "expected the direction `next` or `previous`, found `up`"),
        (Search(), "a search has either a text or a condition"),
        (Search(text="x", where="lane = 0"), "a search has either a text or a condition"),
    ],
)
def test_invalid_searches_are_refused(order: Search, message: str) -> None:
    error = _error(order)
    assert isinstance(error, UsageError)
    assert error.message == message


def test_a_regular_expression_that_could_take_for_ever_does_not() -> None:
    rows = [Row(1, 2, name="a" * 5000)]
    with session_with(timeline(rows)) as (session, tracks):
        assert search(session, tracks, Search(text="re:(a*)*b"))["matches"] == []
