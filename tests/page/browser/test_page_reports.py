"""Reports on the page, flame graphs of selections, and the tables that can be queried."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import FilePayload, Page, expect

from tests.page.browser.conftest import Open
from tests.page.served import CHROME, DATA, FTRACE, PERF, served
from tests.page.view import REFUSED, View, cells_of, until

REPORT = """\
-- Who ran for longest
SELECT comm, SUM(_duration) AS total FROM t.scheduler.timeslices_p_cpu GROUP BY comm ORDER BY total DESC LIMIT 3;
-- Long runs
SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu WHERE _duration > 5ms;
ASSERT (SELECT COUNT(*) FROM t.scheduler.timeslices_p_cpu) > 0, 'something ran';
ASSERT (SELECT MAX(_duration) FROM t.scheduler.timeslices_p_cpu) < 1us, 'nothing ran for long';
SELECT nope FROM t.slices;
"""


def test_a_report_is_a_page(open_page: Callable[..., Page], tmp_path: Path) -> None:
    with served(tmp_path, f"t={FTRACE}") as server:
        server.wait()
        view = View(open_page(expected=REFUSED), server)
        view.open()
        with view.page.expect_file_chooser() as chooser:
            view.page.get_by_role("button", name="Open…").click()
        chooser.value.set_files(FilePayload(name="weekly.sql", mimeType="text/plain", buffer=REPORT.encode()))
        report = view.panel("Report")
        expect(report.get_by_role("status").first).to_contain_text(
            "weekly.sql 1 of 2 assertions passed, 1 error, 2 results"
        )
        statements = report.get_by_role("listitem")
        expect(statements.filter(has_text="something ran")).to_contain_text("passed")
        expect(statements.filter(has_text="nothing ran for long").first).to_contain_text("failed")
        expect(statements.last.get_by_role("alert")).to_contain_text("unknown column `nope`")
        assert len(cells_of(view.grid("Who ran for longest"))) == 3
        pinned = view.page.get_by_role("list", name="Pinned tracks")
        expect(pinned).to_contain_text("Long runs")
        made = [track["id"] for track in server.tracks() if track["id"].startswith("+")]
        report.get_by_role("button", name="Run again").click()
        until(
            lambda: made and not {track["id"] for track in server.tracks()} & set(made),
            "a report that runs again leaves its old tracks",
        )
        expect(pinned).to_contain_text("Long runs")
        view.page.close()


def test_a_flame_graph_has_all_samples_and_is_read_by_keys(view_of: Open) -> None:
    view = view_of(PERF)
    view.timeline.focus()
    view.press("Shift+G")
    panel = view.panel("Flame graph")
    samples = sum(track["rows"] for track in view.server.tracks() if track["name"] == "Samples")
    expect(panel).to_contain_text(f"{samples:,} samples in all")
    graph = panel.get_by_role("application", name="Flame graph")
    graph.focus()
    view.press("ArrowDown", "Enter", "ArrowDown", "Enter")
    crumbs = panel.get_by_role("navigation", name="Zoomed into").get_by_role("button")
    expect(crumbs).to_have_count(3)
    view.press("Escape")
    expect(crumbs).to_have_count(1)
    panel.get_by_role("button", name="Functions").click()
    functions = view.grid("Functions")
    expect(functions).to_contain_text("self %")
    shares = [float(text) for text in functions.locator("[data-cell$=':2']").all_inner_texts()]
    assert shares == sorted(shares, reverse=True)
    assert shares[0] > 0


def test_a_flame_graph_has_samples_of_one_event(view_of: Open) -> None:
    view = view_of(DATA / "stdlib" / "two_events.perf.txt")
    view.timeline.focus()
    view.press("Shift+G")
    panel = view.panel("Flame graph")
    expect(panel).to_contain_text("3 samples in all")
    panel.get_by_label("Event").select_option("instructions:u (2)")
    expect(panel).to_contain_text("2 samples in all")


def test_areas_of_traces_that_were_moved(open_page: Callable[..., Page], tmp_path: Path) -> None:
    with served(tmp_path, f"a={CHROME}", f"b={CHROME}") as server:
        server.wait()
        times = server.get("api/session").json()
        half = (int(times["end"]) - int(times["begin"])) // 2
        view = View(open_page(size={"width": 1280, "height": 1600}), server)
        view.open(f"#area=0~{half}&offsets=b:{half}")
        kinds = view.panel("Selection").get_by_role("tab")
        expect(kinds).to_have_text(["a: Slices by name 2"])
        view.page.goto(f"{server.address}#area=0~{half}")
        expect(kinds).to_have_text(["a: Slices by name 2", "b: Slices by name 2"])
        kinds.last.click()
        expect(view.grid("b: Slices by name")).to_be_visible()
        view.page.close()


def test_tables_are_found_and_asked(view_of: Open) -> None:
    view = view_of(FTRACE)
    view.page.get_by_role("tab", name="SQL", exact=True).click()
    view.page.get_by_label("Filter tables").fill("timeslices_p_cpu")
    tables = view.grid("Tables")
    tables.get_by_text("t.scheduler.timeslices_p_cpu", exact=True).click()
    expect(view.grid("Columns of t.scheduler.timeslices_p_cpu")).to_contain_text("_duration")
    view.page.get_by_role("button", name="Query", exact=True).click()
    expect(view.editor).to_have_text("SELECT SPAN * FROM t.scheduler.timeslices_p_cpu")
    expect(view.grid(re.compile("^Result of"))).to_be_visible()
    expect(view.panel("SQL")).to_contain_text("674 rows")
