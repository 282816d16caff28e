"""The page as a person uses it: by what it says, by mouse and by keys."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from playwright.sync_api import ConsoleMessage, Locator, Page, expect

from tests.page.served import PATIENCE, Served

expect.set_options(timeout=PATIENCE * 1000 / 2)


def complaints_of(page: Page, expected: str | None = None) -> list[str]:
    """Return a list to which all that a page complains of is added, but for what is expected."""
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


@dataclass(frozen=True)
class View:
    """A page that shows what a server serves."""

    page: Page
    server: Served

    def open(self, fragment: str = "") -> None:
        self.page.goto(f"{self.server.address}{fragment}")
        expect(self.rows().first).to_be_visible()
        self.settled()

    def rows(self) -> Locator:
        """Return the rows of the tree of tracks."""
        return self.page.get_by_role("treeitem")

    def canvas(self) -> Locator:
        """Return where tracks are drawn."""
        return self.page.locator("canvas").last

    def settled(self) -> None:
        """Wait until nothing is asked for and nothing moves: two pictures are the same."""
        before = b""
        for _ in range(100):
            self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => setTimeout(done, 60)))")
            now = self.page.screenshot()
            if now == before:
                return
            before = now
        raise AssertionError("the page does not come to rest")

    def shown(self) -> tuple[int, int]:
        """Return the range of time that the address tells."""
        found = re.search(r"[#&]t=(-?\d+)~(-?\d+)", self.page.url)
        assert found, self.page.url
        return int(found[1]), int(found[2])

    def press(self, keys: str) -> None:
        self.page.keyboard.press(keys)

    def query(self, sql: str) -> Any:
        """Ask the server the same apart."""
        return self.server.post("api/query", {"sql": sql})
