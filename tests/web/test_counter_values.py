"""The value that a counter has at a time."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.session import Session
from dctv.web.details import details, place_at
from dctv.web.shown_track import ShownTrack
from tests.bounds import bounded
from tests.timeline.rows import Row, timeline
from tests.timeline.test_timeline import some_rows
from tests.web.tracks import DATA, places, session_with, shown


@bounded(160)
@given(some_rows(), st.integers(-30, 100))
def test_it_is_the_last_that_has_begun(rows: list[Row], time: int) -> None:
    with session_with(timeline(rows, end=50)) as (_, tracks):
        for one in tracks:
            if one.track.kind.value == "counter":
                every = places([one])
                begun = [place.begin for place in every if place.begin <= time]
                assert place_at(one, time).begin == max(begun, default=min(place.begin for place in every))


def test_values_match_the_view() -> None:
    with Session(index=False) as session:
        session.mount(DATA / "perfetto/linux_sys_deflate.pftrace", "t")
        counters = [one for one in shown(session.timeline("t"), "t") if one.track.kind.value == "counter"]
        for one in counters:
            before: float | None = None
            for row in range(one.track.rows):
                found = details(session, one, row)
                [value] = [column["value"] for column in found["columns"] if column["name"] == "value"]
                change = None if before is None else value - before
                assert found["value"] == {"value": value, "change": change, "unit": one.track.unit}
                assert place_at(one, int(found["from"]) + int(found["duration"]) - 1).row == row
                before = value
    assert len(counters) > 2


@pytest.mark.parametrize("value", [None, math.nan, math.inf])
def test_a_value_that_is_no_number_has_no_change(value: float | None) -> None:
    kind, path = "counter", ("memory",)
    rows = [Row(time, 10, path, kind, None, value=one, unit="B") for time, one in ((0, 5.0), (10, value), (20, 7.0))]
    with session_with(timeline(rows)) as (session, [one]):
        of_select = ShownTrack("g", one.timeline, one.number, "SELECT 0ns AS _ts")
        values = [details(session, of_select, row)["value"] for row in range(3)]
    assert values[1:] == [{"value": given, "change": None, "unit": "B"} for given in (None, 7.0)]


def test_other_tracks_have_no_values() -> None:
    with session_with(timeline([Row(0, 10)])) as (session, [one]):
        of_select = ShownTrack("g", one.timeline, one.number, "SELECT 0ns AS _ts")
        assert details(session, of_select, 0)["value"] is None
        with pytest.raises(UsageError, match="expected a counter, found the slices `g:0`"):
            place_at(one, 5)
