"""Rows that are appended to a timeline: the same as if all had been there from the start."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dctv.errors import UsageError
from dctv.session import Session
from dctv.timeline.space import Space
from dctv.timeline.stored import read, write
from dctv.timeline.timeline import Timeline
from tests.bounds import bounded
from tests.timeline.rows import Row, indexed
from tests.timeline.test_kept_timelines import look
from tests.timeline.test_timeline import some_rows

DATA = Path(__file__).parents[1] / "data"


@bounded(60)
@given(some_rows(), st.lists(st.integers(0, 25), max_size=4), st.sampled_from([0, 1 << 30]))
def test_appending_in_parts_equals_appending_at_once(
    tmp_path_factory: pytest.TempPathFactory, rows: list[Row], cuts: list[int], most: int
) -> None:
    folder = tmp_path_factory.mktemp("timeline")
    space = Space(folder / "space", most)
    ordered = sorted(rows, key=lambda row: row.ts)
    bounds = [0, *sorted(min(cut, len(rows)) for cut in cuts), len(rows)]
    whole = indexed(ordered, end=50)
    grown = indexed([], end=50)
    for number, (first, stop) in enumerate(pairwise(bounds)):
        before = look(Timeline([grown]))
        # What follows is appended to rows in a mapped file.
        write(folder / str(number), b"me", [grown])
        (kept,) = read(folder / str(number), b"me")
        grown = indexed(ordered[first:stop], end=50, space=space, before=kept.rows)
        assert look(Timeline([kept])) == before
    assert look(Timeline([grown])) == look(Timeline([whole]))
    write(folder / "grown", b"me", [grown])
    write(folder / "whole", b"me", [whole])
    assert (folder / "grown").read_bytes() == (folder / "whole").read_bytes()


def test_lanes_without_rows_stay() -> None:
    rows = [Row(0, 5, depth=3), Row(1, 2, depth=1), Row(2, 9, depth=0), Row(6, 1, depth=3)]
    for cut in range(5):
        before = indexed(rows[:cut])
        grown = Timeline([indexed(rows[cut:], before=before.rows)])
        assert look(grown) == look(Timeline([indexed(rows)]))
        assert [len(lane) for lane in grown.lanes(0)] == [1, 1, 0, 2]


def test_rows_in_the_wrong_order() -> None:
    with pytest.raises(UsageError, match="begins at 4 ns, before the last row of the timeline, at 5 ns"):
        indexed([Row(4)], before=indexed([Row(5), Row(2, 90)]).rows)


def test_results_follow_each_other() -> None:
    with Session() as session:
        session.mount(DATA / "perfetto" / "linux_sys_deflate.pftrace", "t")
        running = "SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu"
        query = running + " WHERE _ts {} (SELECT AVG(_ts) FROM t.scheduler.timeslices_p_cpu)"
        whole = session.sql(running).timeline()
        first = session.sql(query.format("<")).timeline()
        both = session.sql(query.format(">=")).append_to(first)
        assert 0 < first.tracks[0].rows < whole.tracks[0].rows
        assert look(both) == look(whole)
        with pytest.raises(UsageError, match="before the last row of the timeline"):
            session.sql(query.format("<")).append_to(both)
        with pytest.raises(UsageError, match="cannot append rows to the timeline of a trace") as caught:
            session.sql(query.format("<")).append_to(session.timeline("t"))
        assert caught.value.hint == "append to a timeline that `Result.timeline` has returned"
