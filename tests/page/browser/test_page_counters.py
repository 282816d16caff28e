"""A click on a counter selects the value that it has there."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

from playwright.sync_api import FloatRect, Locator, expect

from tests.page.browser.conftest import Open
from tests.page.view import View, box_of, until

STEP = 1_000
"""ns that a value lasts."""
VALUES = [(number * 7 % 100 + 1) * 1024 for number in range(900)]
LAST = 1_000_000_000
"""When the last value begins, which is why the others are seen as one."""
BYTES = "SELECT SPAN value IN B AS value FROM t.counters WHERE name = 'memory'"


def _trace(folder: Path, values: Sequence[int]) -> Path:
    path = folder / "counter.json"
    events = [(number * STEP, value) for number, value in enumerate(values)] + [(LAST, 4096)]
    made = [{"ph": "C", "pid": 1, "name": "memory", "ts": at / 1000, "args": {"value": value}} for at, value in events]
    slices = [{"ph": "X", "pid": 1, "tid": 1, "name": "end", "ts": LAST / 1000 + 50, "dur": 50}]
    path.write_text(json.dumps([*made, *slices]), encoding="utf-8")
    return path


def _fields(details: Locator, section: str) -> dict[str, str]:
    rows = details.get_by_role("region", name=section).get_by_role("row").all_inner_texts()
    return dict(row.split("\t") for row in rows)


def _click(view: View, moment: int) -> None:
    track = next(track for track in view.server.tracks() if track["id"].startswith("+"))
    row, box = view.row(track["id"]), box_of(view.timeline)
    drawn = FloatRect(x=box["x"], y=row["y"], width=box["width"] - 1, height=row["height"] - 2)
    until(lambda: view.colours(drawn) > 3, "nothing is drawn on it")
    view.page.mouse.click(view.x_of(moment), row["y"] + row["height"] / 2)
    until(lambda: "slice" in view.told, "the click selects nothing")


def _left(view: View, before: str) -> None:
    """Wait until the address has another value: an earlier key would move from the previous one."""
    until(lambda: view.told["slice"] != before, "the address keeps the value before")


def _shown(folder: Path, view_of_own: Open, begin: int, end: int) -> View:
    """Open a page with a counter of bytes at the top."""
    view = view_of_own(_trace(folder, VALUES))
    made = view.server.post("api/tracks", {"sql": BYTES, "value": "value", "title": "memory"})
    assert made.status == 200, made.message
    view.page.goto("about:blank")
    view.open(f"#t={begin}~{end}")
    return view


def test_a_click_selects_the_value_that_holds(tmp_path: Path, view_of_own: Open) -> None:
    view = _shown(tmp_path, view_of_own, 400_000, 420_000)
    details = view.panel("Details")
    _click(view, 410_500)
    expect(details.get_by_role("heading", level=2)).to_have_text("71 KiB")
    fields = _fields(details, "Columns")
    assert VALUES[410] == 71 * 1024
    assert {name: fields[name] for name in ("value", "change", "begins at", "ends at", "lasts")} == {
        "value": "71 KiB",
        "change": "+7 KiB",
        "begins at": "410 µs",
        "ends at": "411 µs",
        "lasts": "1 µs",
    }
    expect(details.get_by_role("region", name="As it is drawn")).to_be_hidden()
    for key, value in ((".", 411), (".", 412), (",", 411), (",", 410), (",", 409)):
        before = view.told["slice"]
        view.press(key)
        expect(details.get_by_role("heading", level=2)).to_have_text(f"{VALUES[value] // 1024} KiB")
        _left(view, before)
    view.page.reload()
    expect(details.get_by_role("heading", level=2)).to_have_text(f"{VALUES[409] // 1024} KiB")


def test_aggregates_of_drawn_values_are_shown(tmp_path: Path, view_of_own: Open) -> None:
    view = _shown(tmp_path, view_of_own, -LAST // 10, LAST)
    details = view.panel("Details")
    _click(view, 200_000)
    seen = _fields(details, "As it is drawn")
    assert (seen["min"], seen["max"], seen["from"]) == ("1 KiB", "100 KiB", "0 ns")
    assert re.fullmatch(r"\d\d(\.\d+)? KiB", seen["mean"])
    row = int(view.told["slice"].rpartition("/")[2])
    expect(details.get_by_role("heading", level=2)).to_have_text(f"{VALUES[row] // 1024} KiB")
    view.press("f")
    until(lambda: view.shown[1] - view.shown[0] < 10 * STEP, "the value is not brought to the whole screen")
    begin, end = view.rested()
    assert begin < row * STEP < (row + 1) * STEP < end
    view.press("Escape")
    until(lambda: "slice" not in view.told, "the value stays selected")
