"""The page as a person uses it: by what it says, by mouse and by keys."""

from __future__ import annotations

import io
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import unquote

from PIL import Image
from playwright.sync_api import ConsoleMessage, FloatRect, Locator, Page, expect

from tests.page.served import PATIENCE, Served

expect.set_options(timeout=PATIENCE * 1000 / 2)
REFUSED = "the server responded with a status of 400"
"""What a browser says on its own of a query with an error."""
LANE = 18
"""Pixels of a lane of slices, as the page draws it at first."""


def complaints_of(page: Page, expected: str | None = None) -> list[str]:
    """Return a list that collects all errors of a page, except expected ones."""
    found: list[str] = []

    def note(text: str) -> None:
        if expected is None or not re.search(expected, text):
            found.append(text)

    def console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            note(f"{message.type}: {message.text}")

    page.on("console", console)
    page.on("pageerror", lambda error: note(str(error)))
    return found


def until(holds: Callable[[], Any], what: str) -> Any:
    """Wait for something that is true in the end; return it."""
    end = time.monotonic() + PATIENCE / 2
    while not (found := holds()):
        assert time.monotonic() < end, what
        time.sleep(0.05)
    return found


@dataclass(frozen=True)
class View:
    """A page that shows what a server serves."""

    page: Page
    server: Served

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"{self.server.address}{fragment}")
        expect(self.tracks.get_by_role("treeitem").first).to_be_visible()
        until(lambda: "t" in self.told, "the address does not tell the view")

    @property
    def tracks(self) -> Locator:
        return self.page.get_by_role("tree", name="Tracks")

    @property
    def timeline(self) -> Locator:
        return self.page.get_by_role("application", name=re.compile("^Timeline"))

    @property
    def search(self) -> Locator:
        return self.page.get_by_role("textbox", name="Search slices")

    @property
    def editor(self) -> Locator:
        return self.page.get_by_role("textbox", name="SQL")

    def panel(self, name: str) -> Locator:
        return self.page.get_by_role("tabpanel", name=name)

    @property
    def told(self) -> dict[str, str]:
        """Return the view that the address describes."""
        parts = str(self.page.evaluate("location.hash")).removeprefix("#").split("&")
        return {key: unquote(value) for key, _, value in (part.partition("=") for part in parts)}

    @property
    def shown(self) -> tuple[int, int]:
        """Return the range of time on the screen, since the session's start, from the address."""
        begin, end = self.told["t"].split("~")
        return int(begin), int(end)

    def moved(self, move: Callable[[], object]) -> tuple[int, int]:
        """Do what moves the view; return the range it comes to rest at."""
        before = self.told["t"]
        move()
        until(lambda: self.told["t"] != before, "the view does not move")
        return self.rested()

    def rested(self) -> tuple[int, int]:
        """Return the range of time once it changes no more; the address follows a quarter of a second later."""
        before, since = self.shown, time.monotonic()
        while time.monotonic() - since < 0.4:
            time.sleep(0.04)
            if self.shown != before:
                before, since = self.shown, time.monotonic()
        return before

    def press(self, *keys: str) -> None:
        for key in keys:
            self.page.keyboard.press(key)

    def hold(self, key: str, seconds: float = 0.2) -> None:
        self.page.keyboard.down(key)
        time.sleep(seconds)
        self.page.keyboard.up(key)

    def zoom(self, share: float, clicks: int) -> None:
        """Turn the wheel with Ctrl held at a place of the timeline's width; less than 0 zooms out."""
        box = box_of(self.timeline)
        self.page.mouse.move(box["x"] + box["width"] * share, box["y"] + box["height"] / 2)
        self.page.keyboard.down("Control")
        for _ in range(abs(clicks)):
            self.page.mouse.wheel(0, -100 if clicks > 0 else 100)
        self.page.keyboard.up("Control")

    def drag(self, start: tuple[float, float], stop: tuple[float, float], key: str | None = None) -> None:
        """Drag from one place of the page to another."""
        if key:
            self.page.keyboard.down(key)
        self.page.mouse.move(*start)
        self.page.mouse.down()
        self.page.mouse.move((start[0] + stop[0]) / 2, (start[1] + stop[1]) / 2)
        self.page.mouse.move(*stop)
        self.page.mouse.up()
        if key:
            self.page.keyboard.up(key)

    def x_of(self, moment: float) -> float:
        """Return where a time is on the screen."""
        box, (begin, end) = box_of(self.timeline), self.shown
        return box["x"] + (moment - begin) / (end - begin) * box["width"]

    def row(self, track: str) -> FloatRect:
        """Return where the row of a track stands."""
        return box_of(self.page.locator(f'[id="track-{track}"]'))

    def find(self, text: str) -> tuple[str, int]:
        """Search a text and go to the first match; return its track and row."""
        self.search.fill(text)
        self.search.press("Enter")
        until(lambda: "slice" in self.told, f"nothing is found of `{text}`")
        expect(self.panel("Details")).to_contain_text("lasts")
        self.rested()
        track, _, row = self.told["slice"].rpartition("/")
        return track, int(row)

    def colours(self, area: FloatRect) -> int:
        """Count the colours of a part of the page."""
        with Image.open(io.BytesIO(self.page.screenshot(clip=area))) as image:
            return len(image.convert("RGB").getcolors(1 << 24) or [])

    def run(self, sql: str) -> None:
        """Write a query and run it."""
        if not self.editor.is_visible():
            self.page.get_by_role("tab", name="SQL", exact=True).click()
        # What replaces coloured text as a whole may take over its colour as an inline style, which the page forbids.
        self.editor.press("Control+a")
        self.editor.press("Delete")
        self.editor.fill(sql)
        self.editor.press("Control+Enter")

    def grid(self, name: str | re.Pattern[str]) -> Locator:
        return self.page.get_by_role("grid", name=name)


def box_of(locator: Locator) -> FloatRect:
    found = locator.bounding_box()
    assert found is not None, "it is not on the page"
    return found


def cells_of(grid: Locator) -> list[dict[str, str]]:
    """Return the rows of a table that are in sight, with units behind numbers; not the line of sums."""
    heads = [
        re.fullmatch(r"(\S+)(?: \[(.*)\])?\W*", head.strip())
        for head in grid.get_by_role("columnheader").all_inner_texts()
    ]
    names = [(head[1], f" {head[2]}" if head[2] else "") for head in heads if head is not None]
    assert len(names) == len(heads)
    texts = grid.locator("[data-cell]").all_inner_texts()
    rows = [texts[at : at + len(names)] for at in range(0, len(texts), len(names) or 1)]
    return [{name: text + unit for (name, unit), text in zip(names, row, strict=False)} for row in rows if any(row)]
