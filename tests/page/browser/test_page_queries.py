"""SQL on the page: an error is mended by completion, spans become a track."""

from __future__ import annotations

import csv
import re

from playwright.sync_api import FloatRect, expect

from tests.command_line import run
from tests.page.browser.conftest import Open
from tests.page.served import FTRACE
from tests.page.view import REFUSED, box_of, cells_of, until

SPANS = "SELECT SPAN * FROM t.scheduler.timeslices_p_cpu WHERE _duration > 5ms"

TIMES = """\
SELECT CAST(text AS TIMESTAMP) AS us, CAST(text AS TIMESTAMP_NS) AS ns, CAST(text AS TIMESTAMP_MS) AS ms,
  CAST(text AS TIMESTAMPTZ) AS zoned, CAST(text AS TIME) AS time, CAST(text AS DATE) AS date,
  CAST(text AS TIMESTAMP) - CAST('2024-01-01' AS TIMESTAMP) AS since, list_value(CAST(text AS TIMESTAMP_NS)) AS nested
FROM (VALUES ('2024-03-04 05:06:07.123456789'), ('2024-03-04 05:06:07.2'), ('1969-12-31 23:59:59.999999'))
  AS given(text)"""


def test_times_have_the_digits_that_dctv_query_prints(view_of: Open) -> None:
    view = view_of(FTRACE, size={"width": 2560, "height": 1080})  # only columns in sight are on the page
    view.run(TIMES)
    grid = view.grid(re.compile("^Result of"))
    printed = list(csv.DictReader(run("query", TIMES, "--format", "csv").out.splitlines()))
    assert [row["ns"][20:] for row in printed] == ["123456789", "2", "999999"]
    until(lambda: cells_of(grid) == printed, "the times are not those that are printed")
    grid.get_by_role("columnheader", name="us").click()
    dates = [row["date"] for row in printed]
    until(lambda: [row["date"] for row in cells_of(grid)] == [dates[2], *dates[:2]], "times are not sorted")


def test_a_query_with_an_error_is_mended_by_completion(view_of: Open) -> None:
    view = view_of(FTRACE, expected=REFUSED)
    view.run("SELECT COUNT(*) AS n FROM t.scheduler.timeslices_p_cp")
    error = view.page.get_by_role("alert").filter(has_text="error:")
    expect(error).to_contain_text("timeslices_p_cp")
    expect(error).to_contain_text("line 1, column 27")
    view.editor.press("End")
    view.editor.press("Control+Space")
    option = view.page.get_by_role("option", name=re.compile("timeslices_p_cpu"))
    expect(option).to_be_visible()
    expect(option).to_have_attribute("aria-selected", "true")
    view.page.wait_for_timeout(150)  # an option that has just come is not taken by a key that was meant for the line
    view.editor.press("Enter")
    expect(view.editor).to_have_text("SELECT COUNT(*) AS n FROM t.scheduler.timeslices_p_cpu")
    view.editor.press("Control+Enter")
    grid = view.grid(re.compile("^Result of"))
    until(lambda: [cells["n"] for cells in cells_of(grid)] == ["674"], "the result is not that of dctv query")
    expect(error).to_be_hidden()


def test_spans_become_a_track_that_can_be_removed(view_of: Open) -> None:
    view = view_of(FTRACE)
    view.run(SPANS)
    view.page.get_by_role("button", name="Add as track").click()
    form = view.page.get_by_role("form", name="Add as track")
    form.get_by_label("Title").fill("Long runs")
    form.get_by_role("button", name="Add", exact=True).click()
    pinned = view.page.get_by_role("list", name="Pinned tracks").get_by_role("listitem").first
    expect(pinned).to_contain_text("Long runs")
    made = [track for track in view.server.tracks() if track["id"].startswith("+")]
    found = view.server.post("api/query", {"sql": f"SELECT COUNT(*) AS n FROM ({SPANS.replace('SPAN *', '*')})"})
    assert sum(track["rows"] for track in made).to_bytes(8, "little") in found.body
    view.press("Escape")
    row, box = box_of(pinned), box_of(view.timeline)
    place = FloatRect(x=box["x"], y=row["y"], width=box["width"] - 1, height=row["height"] - 2)
    until(lambda: view.colours(place) > 3, "nothing is drawn on it")
    pinned.hover()
    view.page.get_by_role("button", name="Remove cpu 0").click()
    expect(pinned).to_be_hidden()
    assert [track for track in view.server.tracks() if track["id"].startswith("+")] == []
