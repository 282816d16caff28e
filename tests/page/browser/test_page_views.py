"""A view is what its address says, in any size, in light and dark, and as one file."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import FloatRect, Page, ViewportSize, expect

from tests.page.browser.conftest import Open
from tests.page.served import DFTRACER, FTRACE, PERFETTO, Served
from tests.page.view import View, box_of, complaints_of, until


def picture(view: View, area: FloatRect | None = None) -> bytes:
    """Return the drawing of the tracks or a part of them once it is stable, without pointer and focus."""
    view.page.mouse.move(5, 5)
    view.page.evaluate("document.activeElement.blur()")
    seen: list[bytes] = [b""]

    def same() -> bool:
        view.page.wait_for_timeout(120)
        seen.append(view.page.screenshot(clip=area or box_of(view.timeline)))
        return seen[-1] == seen[-2]

    until(same, "the page does not come to rest")
    return seen[-1]


def drawn_of(view: View, track: str) -> FloatRect:
    """Return where a track is drawn."""
    row, box = view.row(track), box_of(view.timeline)
    assert box["y"] <= row["y"] <= row["y"] + row["height"] <= box["y"] + box["height"]
    return FloatRect(x=box["x"], y=row["y"], width=box["width"], height=row["height"])


def test_an_address_is_a_view(view_of: Open) -> None:
    view = view_of(PERFETTO)
    track, _ = view.find("startup")
    view.search.fill("")  # what was searched for is marked, and no part of the address
    view.timeline.focus()
    view.moved(lambda: view.press("f"))
    view.press("m")
    until(lambda: "marks" in view.told, "there is no mark")
    address, drawn = view.told, picture(view, drawn_of(view, track))
    again = view_of(PERFETTO, "#" + view.page.evaluate("location.hash").removeprefix("#"))
    expect(again.panel("Details")).to_contain_text("lasts")
    again.rested()
    assert again.told == address
    assert picture(again, drawn_of(again, track)) == drawn
    view.page.reload()
    expect(view.tracks.get_by_role("treeitem").first).to_be_visible()
    view.rested()
    assert view.told == address


def test_an_address_holds_heights_and_order(view_of: Open) -> None:
    view = view_of(FTRACE)
    first, second = [track["id"] for track in view.server.tracks() if re.fullmatch(r"CPU [01]", track["name"])]
    high = view.row(first)["height"]
    assert view.row(first)["y"] < view.row(second)["y"]
    view.tracks.focus()
    view.press("Home", "ArrowRight", "+", "+", "Alt+ArrowDown")
    until(lambda: "moved" in view.told and "heights" in view.told, "the address does not tell what was changed")

    def is_changed(one: View) -> bool:
        upper, lower = one.row(second), one.row(first)
        return upper["y"] < lower["y"] and (upper["height"], lower["height"]) == (high, high + 24)

    assert is_changed(view)
    assert is_changed(view_of(FTRACE, "#" + view.page.evaluate("location.hash").removeprefix("#")))
    view.page.reload()
    until(lambda: is_changed(view), "the tracks are as they were")
    view.tracks.focus()
    view.press("Home", "ArrowRight", "ArrowLeft", "ArrowDown", "0", "Alt+ArrowUp")  # the left key folds a group
    until(lambda: "moved" not in view.told and "heights" not in view.told, "the address tells of what is as it was")
    assert view.row(first)["y"] < view.row(second)["y"]


def test_back_returns_to_where_it_was(view_of: Open) -> None:
    view = view_of(PERFETTO)
    whole = view.shown
    view.find("futex")
    view.timeline.focus()
    near = view.moved(lambda: view.press("f"))
    assert near != whole
    view.moved(view.page.go_back)
    assert view.shown == whole


def test_a_saved_view_opens_offline(view_of: Open, open_page: Callable[..., Page], tmp_path: Path) -> None:
    view = view_of(DFTRACER)
    view.moved(lambda: view.zoom(0.5, 4))
    drawn, view_address = picture(view), view.told
    names = view.tracks.get_by_role("treeitem").all_inner_texts()
    with view.page.expect_download() as download:
        view.page.get_by_role("button", name="Save").click()
    path = tmp_path / "saved.html"
    download.value.save_as(path)
    page = open_page(offline=True)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    saved = View(page, view.server)
    page.goto(path.as_uri())
    expect(saved.tracks.get_by_role("treeitem").first).to_be_visible()
    assert saved.tracks.get_by_role("treeitem").all_inner_texts() == names
    saved.rested()
    assert saved.told["t"] == view_address["t"]
    assert picture(saved) == drawn
    saved.timeline.focus()
    near = saved.moved(lambda: saved.zoom(0.5, 1))
    assert near[1] - near[0] < view.shown[1] - view.shown[0]
    assert saved.colours(box_of(saved.timeline)) > 10
    assert [address for address in asked if not address.startswith(("file:", "data:", "blob:"))] == []


def test_dark_is_kept_and_follows_the_system(view_of: Open) -> None:
    light = view_of(FTRACE)
    assert brightness(light) > 200
    light.page.get_by_role("button", name="Dark page").click()
    until(lambda: brightness(light) < 70, "the page is not dark")
    until(lambda: light.told.get("theme") == "dark", "the address does not tell that it is dark")
    light.page.reload()
    until(lambda: brightness(light) < 70, "the page is not dark any more")
    assert brightness(view_of(FTRACE, color_scheme="dark")) < 70


def brightness(view: View) -> float:
    """Return how bright the page is where it is empty, from 0 to 255."""
    colour = view.page.evaluate("getComputedStyle(document.body).backgroundColor")
    parts = [float(part) for part in colour.partition("(")[2].rstrip(")").split(",")[:3]]
    return sum(parts) / 3


@pytest.mark.parametrize("size", [(1280, 720), (3840, 2160)], ids=str)
def test_it_fills_any_screen(view_of: Open, size: tuple[int, int]) -> None:
    width, height = size
    view = view_of(PERFETTO, size=ViewportSize(width=width, height=height))
    view.press("q")
    whole = view.page.evaluate("[document.documentElement.scrollWidth, document.documentElement.scrollHeight]")
    assert whole == [width, height]
    box = box_of(view.timeline)
    assert box["x"] + box["width"] == pytest.approx(width, abs=2)
    assert box["width"] > 0.7 * width
    panel = box_of(view.panel("Details"))
    assert panel["y"] + panel["height"] <= height + 1
    assert box["height"] > 0.4 * height
    assert view.colours({"x": width - 60, "y": box["y"], "width": 50, "height": box["height"]}) > 3


def test_complaints_are_visible(open_page: Callable[..., Page], server_of: Callable[[Path], Served]) -> None:
    """The fixture that fails tests with errors on the console would notice."""
    page = open_page(expected="")
    found = complaints_of(page)
    page.goto(server_of(FTRACE).address)
    page.evaluate("() => { console.error('wrong'); setTimeout(() => { throw new Error('worse'); }); }")
    until(lambda: page.evaluate("1") and len(found) == 2, "complaints are not heard")
    assert found[0] == "error: wrong"
