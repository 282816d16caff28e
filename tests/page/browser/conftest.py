"""Pages of a real browser, one for each worker; a test fails if its page complains."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, sync_playwright

from tests.page.chromium import FLAGS, chromium
from tests.page.served import PATIENCE, Served, served
from tests.page.view import View, complaints_of

SIZE: ViewportSize = {"width": 1280, "height": 720}
Open = Callable[..., View]


# While it is open its event loop runs, which tests of other modules must not find.
@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=chromium(), args=FLAGS)
        yield launched
        launched.close()


@pytest.fixture
def serve(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Served]]:
    """Start servers of a test's own."""
    with ExitStack() as stack:

        def start(*words: str, ends: bool = True) -> Served:
            server = stack.enter_context(served(tmp_path_factory.mktemp("own"), *words, ends=ends))
            server.wait()
            return server

        yield start


@pytest.fixture
def open_page(browser: Browser, serve: Callable[..., Served]) -> Iterator[Callable[..., Page]]:
    """Make pages of their own contexts, closed before servers stop; what they complain of fails the test."""
    del serve  # it is only here so that servers end after pages
    pages: list[tuple[Page, list[str]]] = []

    def make(*, expected: str | None = None, size: ViewportSize = SIZE, **options: Any) -> Page:
        context = browser.new_context(viewport=size, locale="en-US", **options)
        context.set_default_timeout(PATIENCE * 1000 / 2)
        page = context.new_page()
        pages.append((page, complaints_of(page, expected)))
        return page

    yield make
    for page, _ in pages:
        page.context.close()
    assert [complaint for _, complaints in pages for complaint in complaints] == []


@pytest.fixture
def view_of_own(open_page: Callable[..., Page], serve: Callable[..., Served]) -> Open:
    """Open the page of a trace, of a server that the test may change."""

    def of(trace: Path, *, ends: bool = True, **options: Any) -> View:
        view = View(open_page(**options), serve(f"t={trace}", ends=ends))
        view.open()
        return view

    return of


@pytest.fixture
def view_of(open_page: Callable[..., Page], server_of: Callable[[Path], Served]) -> Open:
    """Open the page of a trace."""

    def of(trace: Path, fragment: str = "", **options: Any) -> View:
        server = server_of(trace)
        view = View(open_page(**options), server)
        view.open(fragment)
        return view

    return of
