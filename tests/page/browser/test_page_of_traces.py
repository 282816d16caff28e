"""On real traces of six formats: see all, zoom and pan, find a slice, read of it, and add up a part."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
from playwright.sync_api import expect

from dctv.session import Session
from tests.page.browser.conftest import Open
from tests.page.served import CHROME, DFTRACER, FTRACE, PERFETTO, TRACE_DAT, UFTRACE
from tests.page.view import LANE, View, box_of, cells_of, until

TRACES = {
    "perfetto": PERFETTO,
    "ftrace": FTRACE,
    "chrome": CHROME,
    "dftracer": DFTRACER,
    "uftrace": UFTRACE,
    "trace_dat": TRACE_DAT,
}


@dataclass(frozen=True)
class Slice:
    path: tuple[str, ...]
    name: str
    begin: int
    duration: int


def slices_of(session: Session) -> list[Slice]:
    """Return all slices in order of time, as the standard library has them, without a timeline."""
    timeline = session.timeline("t")  # only its end and what it is made of
    sources = {track.source for track in timeline.tracks if track.kind.value == "slices"}
    found = []
    for source in sorted(sources):
        rows = session.sql(f"SELECT path, kind, name, _ts, _duration FROM {source}").arrow().to_pylist()
        found += [
            Slice(tuple(row["path"]), row["name"], row["_ts"], lasting(row["_ts"], row["_duration"], timeline.end))
            for row in rows
            if row["kind"] == "slices"
        ]
    return sorted(found, key=lambda one: one.begin)


def lasting(begin: int, duration: int | None, end: int) -> int:
    """Return how long a slice lasts; one that nothing ends lasts until the end."""
    return end - begin if duration is None else duration


@pytest.mark.parametrize("trace", TRACES.values(), ids=TRACES)
def test_a_trace_is_read_by_mouse_and_keys(view_of: Open, trace: Path) -> None:
    view = view_of(trace)
    with Session() as session:
        session.mount(str(trace), "t")
        slices = slices_of(session)
        paths = {f"t:{one.id}": session.timeline("t").path(one.id) for one in session.timeline("t").tracks}
    begin = int(view.server.get("api/session").json()["begin"])
    look_around(view)
    name = Counter(one.name for one in slices).most_common(1)[0][0]
    first = next(one for one in slices if name.lower() in one.name.lower())
    track = read_the_first(view, first, begin)
    assert paths[track] == first.path
    own = [one for one in slices if one.path == paths[track]]
    add_up_a_part(view, track, own, begin)


def look_around(view: View) -> None:
    """Zoom and pan by mouse and keys: the point under the pointer stays there, and dragged content follows it."""
    whole = view.rested()
    near = view.moved(lambda: view.zoom(0.25, 8))
    assert near[1] - near[0] < (whole[1] - whole[0]) / 3
    place = [begin + 0.25 * (end - begin) for begin, end in (whole, near)]
    assert place[0] == pytest.approx(place[1], abs=(whole[1] - whole[0]) * 0.002)
    box = box_of(view.timeline)
    middle = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    gone = view.moved(lambda: view.drag(middle, (middle[0] - 200, middle[1])))
    assert gone[0] - near[0] == pytest.approx(200 / box["width"] * (near[1] - near[0]), rel=0.05)
    view.timeline.focus()
    later, earlier, nearer, farther = (view.moved(partial(view.hold, key)) for key in "daws")
    assert gone[0] < later[0] > earlier[0]
    assert length(earlier) == pytest.approx(length(later), abs=2)
    assert length(earlier) > length(nearer) < length(farther)
    assert view.moved(lambda: view.press("f")) == whole


def length(shown: tuple[int, int]) -> int:
    return shown[1] - shown[0]


def read_the_first(view: View, first: Slice, begin: int) -> str:
    """Find a slice by its name, and read the same of it as the table says; return its track."""
    track, _ = view.find(first.name)
    expect(view.page.get_by_text(re.compile(rf"^{re.escape(first.name)} on "))).to_be_attached()
    details = view.panel("Details")
    expect(details).to_be_visible()
    expect(details).to_contain_text(first.name)
    text = view.page.locator("#chosen").inner_text()
    assert nanoseconds(text.rpartition(", ")[2]) == first.duration
    view.timeline.focus()
    view.press("f")
    view.rested()
    left, right = view.x_of(first.begin - begin), view.x_of(first.begin - begin + first.duration)
    box = box_of(view.timeline)
    assert box["x"] <= left <= right <= box["x"] + box["width"] + 1
    return track


UNITS = {"ns": 1, "us": 1_000, "µs": 1_000, "μs": 1_000, "ms": 1_000_000, "s": 1_000_000_000}


def nanoseconds(text: str) -> int:
    """Read a time that is written with all its digits."""
    found = re.fullmatch(r"([\d.,\s]+?)\s*([µμa-z]+)", text.strip())
    assert found, text
    return round(float(re.sub(r"[,\s]", "", found[1])) * UNITS[found[2]])


def add_up_a_part(view: View, track: str, slices: list[Slice], begin: int) -> None:
    """Select most of the visible part of a track by mouse: its table matches sums by Python over the rows."""
    row, box = view.row(track), box_of(view.timeline)
    y = row["y"] + LANE / 2 + 3
    view.drag((box["x"] + box["width"] * 0.2, y), (box["x"] + box["width"] * 0.8, y + 1), "Shift")
    until(lambda: "area" in view.told, "nothing is selected")
    view.rested()
    area, _, tracks = view.told["area"].partition(",")
    assert tracks == track
    expected = sums(slices, *(int(part) + begin for part in area.split("~")))
    assert expected
    grid = view.grid("Slices by name")
    expect(grid).to_have_attribute("aria-rowcount", str(len(expected) + 1))
    view.panel("Selection").get_by_role("button", name="Exact").click()
    seen: dict[str, tuple[int, int]] = {}

    def same() -> bool:
        seen.clear()
        seen.update({cells["name"]: read(cells) for cells in cells_of(grid)})
        return bool(seen) and seen.items() <= expected.items()

    until(same, f"the page has {seen}, and it is {expected}")


def sums(slices: list[Slice], start: int, stop: int) -> dict[str, tuple[int, int]]:
    """Return of each name how many there are, and for how long within some time."""
    found: dict[str, list[int]] = {}
    for one in slices:
        end = one.begin + one.duration
        if one.begin < stop and (end > start or one.begin == end == start):
            found.setdefault(one.name, []).append(min(end, stop) - max(one.begin, start))
    return {name: (len(times), sum(times)) for name, times in found.items()}


def read(cells: dict[str, str]) -> tuple[int, int]:
    return int(re.sub(r"\D", "", cells["count"])), nanoseconds(cells["total"])
