"""Take the pictures of `tutorial/see-a-trace.md`: follow it in a Chromium, step by step.

`python docs/picture_page.py` takes them anew; look at them before they are committed.
"""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from playwright.sync_api import Page, ViewportSize, sync_playwright

from dctv import Session

ROOT = Path(__file__).resolve().parents[1]
PICTURES = ROOT / "docs" / "tutorial" / "pictures"
TRACE = ROOT / "tests" / "data" / "perfetto" / "linux_sys_deflate.pftrace"
FLAGS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-sync")
SIZE: ViewportSize = {"width": 1280, "height": 720}
PAUSE = 700
"""Milliseconds until what was asked for is drawn."""


def main() -> None:
    """Take all pictures."""
    chromium = os.environ.get("DCTV_CHROMIUM") or shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        sys.exit("found no Chromium: set DCTV_CHROMIUM to one")
    PICTURES.mkdir(exist_ok=True)
    with Session() as session, sync_playwright() as playwright:
        session.mount(TRACE, "t")
        session.timeline("t")
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        with session.serve() as serving:
            take(browser.new_page(viewport=SIZE), serving.address, (see, details, area, flame, mistake))
            take(browser.new_page(viewport=SIZE, color_scheme="dark"), serving.address, (track,))
        browser.close()


def take(page: Page, address: str, steps: Sequence[Callable[[Page], None]]) -> None:
    """Do some steps, and take a picture after each, called after it."""
    page.goto(address)
    page.get_by_role("treeitem", name="State").first.wait_for()
    for step in steps:
        step(page)
        page.wait_for_timeout(PAUSE)
        page.screenshot(path=PICTURES / f"page-{step.__name__}.png")


def see(page: Page) -> None:
    """See the whole trace."""
    page.mouse.move(700, 300)


def details(page: Page) -> None:
    """Click a slice."""
    page.mouse.click(900, 652)
    page.get_by_role("heading", name="Children").wait_for()


def area(page: Page) -> None:
    """Select an area."""
    page.keyboard.press("Escape")
    page.keyboard.down("Shift")
    page.mouse.move(520, 160)
    page.mouse.down()
    page.mouse.move(1080, 380, steps=8)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_timeout(3 * PAUSE)


def flame(page: Page) -> None:
    """See the selected area as a flame graph."""
    page.get_by_role("button", name="Flame graph of this").click()
    page.wait_for_timeout(2 * PAUSE)


def write(page: Page, sql: str) -> None:
    """Write and run a query."""
    page.get_by_role("tab", name="SQL").click()
    editor = page.locator(".cm-content")
    editor.click()
    page.keyboard.press("Control+a")
    page.keyboard.type(sql)
    page.keyboard.press("Escape")
    page.keyboard.press("Control+Enter")
    page.wait_for_timeout(2 * PAUSE)


def mistake(page: Page) -> None:
    """Run a query with a mistake."""
    write(page, "SELECT SPAN com FROM t.scheduler.timeslices_p_cpu")


def track(page: Page) -> None:
    """Make a track of a query."""
    write(page, "SELECT SPAN comm FROM t.scheduler.timeslices_p_cpu WHERE _duration > 1ms")
    page.get_by_role("button", name="Add as track").click()
    page.get_by_role("button", name="Add", exact=True).click()
    page.wait_for_timeout(2 * PAUSE)


if __name__ == "__main__":
    main()
